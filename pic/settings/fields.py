"""Each setting: its name, what it may be, what it does, and what fills it. No I/O."""

import re
from dataclasses import dataclass
from enum import StrEnum

from pic.settings import readers as read


class ResourceSchema(StrEnum):
    """Which form of PangolinResource is written; AUTO asks the installed CRD."""

    AUTO = "auto"
    TARGETS = "targets"
    TARGET = "target"


class PathRouting(StrEnum):
    """Whether the operator in use is trusted to send the paths of a host to different backends."""

    WARN = "warn"
    TRUSTED = "trusted"


class TargetName(StrEnum):
    """The systems that a plan is declared in."""

    PANGOLIN = "pangolin"
    PIHOLE = "pihole"


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class PiholeApi(StrEnum):
    """Which interface of Pi-hole is spoken to."""

    V6 = "v6"
    DNS_LOCAL = "dns-local"


class Scheme(StrEnum):
    """How a backend is spoken to."""

    HTTP = "http"
    HTTPS = "https"


@dataclass(frozen=True, slots=True)
class Field:
    """One setting.

    Attributes:
        key: Its name in a stack file, without `pic:`.
        environment: The variables that fill it where the stack leaves it open, the first set wins.
    """

    key: str
    reader: read.Reader[object]
    allowed: str
    description: str
    environment: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """Its name in Settings."""
        return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", self.key)


_SWITCH = "true or false (also yes, no, on, off, 1, 0)"
_WHOLE = f"a whole number from 0 to {read.LARGEST}"
_DURATION = "a duration such as 30s, 5m or 1h30m, or seconds; from 1s to 720h"
_NAMESPACES = "names of namespaces: a list, or text with commas"

_CLASS = read.matching(re.compile(r"[A-Za-z0-9*?._/-]*"))
_CLASS_SUFFIX = read.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"))
_TOKEN = read.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?"))
_CLUSTER_ID = read.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"), longest=64)
_DIGEST = read.matching(re.compile(r"([0-9a-f]+(,[0-9a-f]+)*)?"), longest=128)


def _scheme(value: object) -> str:
    return read.choice(Scheme)(value).value


# Everything there is to know of each setting; messages and docs/settings.md are made of it.
FIELDS = (
    Field(
        "ingressClasses",
        read.items(_CLASS, at_least=1),
        "patterns of class names with * and ?, at least one: a list, or text with commas",
        'Which Ingress classes are exposed; "" in the list takes the cluster\'s default class.',
    ),
    Field(
        "namespaces",
        read.items(read.namespace),
        _NAMESPACES,
        "Where Ingresses are read; empty is everywhere.",
        ("PIC_WATCH_NAMESPACES", "WATCH_NAMESPACE"),
    ),
    Field(
        "defaultTunnel",
        read.object_name,
        "the name of a PangolinTunnel",
        "The tunnel of class pangolin and of classes of one's own.",
        ("PIC_DEFAULT_TUNNEL_NAME",),
    ),
    Field(
        "tunnelClassMapping",
        read.assignments(_CLASS_SUFFIX, read.object_name),
        "a map from class suffix to tunnel name, or suffix=tunnel, one a line or with commas",
        "The tunnel of class pangolin-<suffix>, where it is not called like the suffix.",
        ("PIC_TUNNEL_CLASS_MAPPING",),
    ),
    Field(
        "tunnelNamespace",
        read.unless_empty(read.namespace, None),
        "the name of a namespace",
        "The only place where tunnels are looked up.",
    ),
    Field(
        "tunnelNamespaces",
        read.items(read.namespace),
        _NAMESPACES,
        "Where an annotation may name a tunnel as namespace/name.",
    ),
    Field(
        "backendScheme",
        _scheme,
        "http or https",
        "How backends are spoken to, unless an annotation or the Service says otherwise.",
        ("PIC_BACKEND_SCHEME",),
    ),
    Field(
        "clusterDomain",
        read.domain,
        "a DNS name such as cluster.local",
        "What the addresses of Services end with.",
    ),
    Field(
        "domains",
        read.items(read.domain),
        "DNS names without wildcards (Unicode as xn--…): a list, or text with commas",
        "Base domains that split hosts where no organisation has a verified one.",
    ),
    Field(
        "hostPolicy",
        read.mapping(read.namespace, read.items(read.host_pattern)),
        "a map from namespace to host patterns such as app.example.com or *.example.com",
        "Which hosts a namespace may claim; where it is set, a namespace not in it claims none.",
    ),
    Field(
        "allowExternalName",
        read.switch,
        _SWITCH,
        "Services of type ExternalName may be exposed.",
    ),
    Field(
        "resourceSchema",
        read.choice(ResourceSchema),
        "auto, targets or target",
        "The form of PangolinResource that is written; auto reads it from the installed CRD.",
    ),
    Field(
        "pathRouting",
        read.choice(PathRouting),
        "warn or trusted",
        "trusted: the operator sends paths of one host to different backends, so do not warn.",
    ),
    Field(
        "maxRemovals",
        read.whole,
        _WHOLE,
        "How many hosts may go in one run, whatever the ratio.",
    ),
    Field(
        "maxRemovalRatio",
        read.ratio,
        "a number from 0 to 1",
        "Which part of the known hosts may go in one run.",
    ),
    Field(
        "maxWeakened",
        read.unless_empty(read.whole, None),
        _WHOLE,
        "How many hosts may lose their login or block in one run, whatever the ratio;"
        " left open, as pic:maxRemovals.",
    ),
    Field(
        "acknowledge",
        _DIGEST,
        "the digest that a refusal printed: hexadecimal, in quotes; several by commas",
        "Lets exactly the refused changes through.",
        ("PIC_ACKNOWLEDGE",),
    ),
    Field(
        "clusterId",
        read.unless_empty(_CLUSTER_ID, ""),
        "the uid of the namespace kube-system",
        "The only cluster this stack writes to.",
    ),
    Field(
        "adopt",
        read.switch,
        _SWITCH,
        "Objects of the predecessor in Go are taken over: adoption.md.",
    ),
    Field(
        "adoptFrom",
        read.unless_empty(_TOKEN, ""),
        "the name of a stack",
        "An earlier stack of this project, whose objects are taken over: moving-a-stack.md.",
    ),
    Field(
        "context",
        read.line,
        "the name of a context of the kubeconfig",
        "Which cluster; empty is the current context.",
    ),
    Field(
        "kubeconfig",
        read.line,
        "a path",
        "Where the kubeconfig is; empty looks in the usual places.",
    ),
    Field(
        "events",
        read.switch,
        _SWITCH,
        "Kubernetes Events tell the owners of an Ingress what became of it.",
    ),
    Field(
        "targets",
        read.items(read.choice(TargetName), at_least=1),
        "pangolin, pihole or both: a list, or text with commas",
        "The systems that hosts are declared in.",
    ),
    Field(
        "resyncPeriod",
        read.duration,
        _DURATION,
        "How often the resident watcher runs when nothing has changed.",
        ("PIC_RESYNC_PERIOD",),
    ),
    Field(
        "logLevel",
        read.choice(LogLevel),
        "debug, info, warn or error",
        "How much is logged.",
        ("PIC_LOG_LEVEL", "LOG_LEVEL"),
    ),
    Field(
        "ownerReferences",
        read.switch,
        _SWITCH,
        "Objects are collected with their Ingress; false sends such deletions through the guard.",
    ),
    Field(
        "lockTimeout",
        read.duration,
        _DURATION,
        "How old the lock of another host must be before it counts as left behind.",
    ),
    Field(
        "keepHistory",
        read.whole,
        _WHOLE,
        "How many entries of the stack's history are kept.",
    ),
    Field(
        "piholeUrl",
        read.unless_empty(read.web_address, ""),
        "an http or https URL without user, password and query",
        "Where Pi-hole answers.",
        ("PIHOLE_URL",),
    ),
    Field(
        "piholeTargetIp",
        read.unless_empty(read.ipv4, ""),
        "an IPv4 address",
        "The address of records whose Ingress names none.",
        ("DEFAULT_TARGET_IP",),
    ),
    Field(
        "piholeApi",
        read.choice(PiholeApi),
        "v6 or dns-local",
        "Which interface of Pi-hole is spoken to.",
    ),
    Field(
        "piholeTakeOver",
        read.switch,
        _SWITCH,
        "Records that others made for a host of ours are taken over.",
    ),
    Field(
        "piholeAnnotate",
        read.switch,
        _SWITCH,
        "Ingresses are annotated with the hosts that Pi-hole has.",
    ),
    Field(
        "piholeCa",
        read.line,
        "a path",
        "A file of certificates in PEM that the one of Pi-hole is checked with.",
    ),
    Field(
        "piholeServerName",
        read.unless_empty(read.domain, ""),
        "a DNS name such as pi.hole",
        "The name in the certificate of Pi-hole, where it is not the one in the URL.",
    ),
    Field(
        "piholeInsecure",
        read.switch,
        _SWITCH,
        "Any certificate of Pi-hole is accepted, so anybody in between can learn its password.",
    ),
)
