"""Describes every setting in one table: name, allowed values, effect, environment variables.

Error messages and docs/settings.md are made from this table. `parse.py` holds the defaults. Pulumi
can check settings too, but it requires every one declared without a default (ADR 7). No I/O.
"""

import re

from pic.settings import readers
from pic.settings.field import (
    Field,
    ForeignProtection,
    LogLevel,
    PathRouting,
    ResourceSchema,
    Scheme,
    TargetName,
    Tenants,
    Unpublish,
)
from pic.settings.target_fields import BOOLEAN as _BOOLEAN
from pic.settings.target_fields import TARGET_FIELDS

_WHOLE_NUMBER = f"a whole number from 0 to {readers.LARGEST}"
_DURATION = "a duration from 1s to 720h, such as 30s, 5m or 1h30m, or a number of seconds"
_PAUSE = f"0, or {_DURATION}"
_NAMESPACES = "namespace names, as a list or separated by commas"
# In pic:tunnelNamespaces, this stands for the namespace of the Ingress.
OWN_NAMESPACE = "."

# A pattern also has to match the classes of the legacy annotation, which need not be object names.
_CLASS = readers.matching(re.compile(r"[A-Za-z0-9*?._/-]*"))
_CLASS_SUFFIX = readers.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"))
_STACK = readers.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9._/-]*[A-Za-z0-9])?"))
_CLUSTER_ID = readers.matching(re.compile(r"[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?"), longest=64)
_DIGEST = readers.matching(re.compile(r"([0-9a-f]+(,[0-9a-f]+)*)?"), longest=4096)
_STACK_ID = readers.matching(re.compile(r"[0-9a-f]{8,32}"), longest=32)
_NAMESPACE_PATTERN = readers.matching(re.compile(r"[a-z0-9*?-]+"), longest=63)


def _scheme(value: object) -> str:
    return readers.one_of(Scheme)(value).value


def _unpublish(value: object) -> Unpublish:
    # YAML reads `off` as a boolean, which the Pulumi CLI hands on as text.
    is_false = value is False or value == "false"
    return Unpublish.OFF if is_false else readers.one_of(Unpublish)(value)


def _tunnel_namespace(value: object) -> str:
    text = readers.plain_text(value)
    return OWN_NAMESPACE if text == OWN_NAMESPACE else readers.namespace(text)


# Most environment variables are those of the Go controller and of the specification of the Pi-hole
# operator, so a deployment of either can keep them.
FIELDS = (
    Field(
        "ingressClasses",
        readers.list_of(_CLASS, at_least=1),
        "one or more class name patterns, where * and ? match, as a list or separated by commas",
        'The classes of the Ingresses that pic exposes. "" in the list adds Ingresses without a'
        " class, if the cluster's default class matches a pattern.",
    ),
    Field(
        "namespaces",
        readers.list_of(readers.namespace),
        _NAMESPACES,
        "The namespaces in which pic reads Ingresses and Services. Empty means all namespaces. "
        "Objects of other namespaces do not count in manifest files either.",
        ("PIC_WATCH_NAMESPACES", "WATCH_NAMESPACE"),
    ),
    Field(
        "defaultTunnel",
        readers.object_name,
        "the name of a PangolinTunnel, or the niceId of a site",
        "The tunnel for class pangolin, and for every class that does not start with pangolin-.",
        ("PIC_DEFAULT_TUNNEL_NAME",),
    ),
    Field(
        "tunnelClassMapping",
        readers.assignments_of(_CLASS_SUFFIX, readers.object_name),
        "a map from class suffix to tunnel name, or suffix=tunnel pairs, one per line or"
        " separated by commas",
        "The tunnel for class pangolin-<suffix>. Without an entry, pic takes the tunnel that is"
        " named like the suffix.",
        ("PIC_TUNNEL_CLASS_MAPPING",),
    ),
    Field(
        "tunnelNamespace",
        readers.unless_empty(readers.namespace, None),
        "a namespace name",
        "The namespace of the tunnels, in which only the platform team should create any. If it is"
        " not set, live hosts keep their tunnels, and a new host needs a tunnel in"
        " pic:tunnelNamespaces. pic init sets it.",
    ),
    Field(
        "tunnelNamespaces",
        readers.list_of(_tunnel_namespace),
        f'{_NAMESPACES}; "." is the namespace of the Ingress',
        "More namespaces of tunnels. pic looks for a name in pic:tunnelNamespace first, then in"
        ' these in their order, and last in the namespace of the Ingress if "." is among them. An'
        " annotation may select a tunnel in any of them as namespace/name.",
    ),
    Field(
        "backendScheme",
        _scheme,
        "http or https",
        "The protocol that Pangolin speaks to backends, unless an annotation or the Service"
        " says otherwise.",
        ("PIC_BACKEND_SCHEME",),
    ),
    Field(
        "clusterDomain",
        readers.domain,
        "a DNS name such as cluster.local",
        "The DNS domain of the cluster: Service addresses end with it.",
    ),
    Field(
        "domains",
        readers.list_of(readers.domain),
        "DNS names without wildcards (Unicode names as xn--…), as a list or separated by commas",
        "Base domains at which pic splits a host into subdomain and domain, when no verified"
        " domain of the organisation matches.",
    ),
    Field(
        "hostPolicy",
        readers.map_of(readers.namespace, readers.list_of(readers.host_pattern)),
        "a map from namespace to host patterns such as app.example.com or *.example.com",
        "The hosts that each namespace may use. Once it is set, a namespace that it does not"
        " list may use none.",
    ),
    Field(
        "allowExternalName",
        readers.boolean,
        _BOOLEAN,
        "Allow backends that are Services of type ExternalName.",
    ),
    Field(
        "resourceSchema",
        readers.one_of(ResourceSchema),
        "auto, targets or target",
        "The form of PangolinResource that pic writes. auto follows the installed CRD.",
    ),
    Field(
        "pathRouting",
        readers.one_of(PathRouting),
        "warn or trusted",
        "Set it to trusted if your operator can send the paths of one host to different"
        " backends. pic then stops warning about them.",
    ),
    Field(
        "foreignProtection",
        readers.one_of(ForeignProtection),
        "warn, hold or ignore",
        "What to do about a host that annotations of another controller would protect, but none of"
        " pic: warn, hold it back if it is new, or ignore it: see"
        " moving-from-another-controller.md.",
    ),
    Field(
        "operatorLimit",
        readers.whole_number,
        _WHOLE_NUMBER,
        "The number of PangolinResources beyond which pic warns that the Pangolin operator does not"
        " find all of them in Pangolin. 0 means that there is no limit.",
    ),
    Field(
        "tenants",
        readers.one_of(Tenants),
        "many or one",
        "many protects the hosts of each namespace from the people of the others. one is for a"
        " cluster with one team, such as a home lab: hosts move between namespaces freely.",
    ),
    Field(
        "registerNamespace",
        readers.unless_empty(readers.namespace, ""),
        "a namespace name",
        "The namespace of the register, in which pic remembers who has which host. Only the"
        " platform team may write there. Empty means pic:tunnelNamespace.",
    ),
    Field(
        "stackId",
        readers.unless_empty(_STACK_ID, ""),
        "8 to 32 hexadecimal digits, in quotes",
        "Tells this stack from others with the same name. pic init sets it.",
    ),
    Field(
        "maxRemovals",
        readers.whole_number,
        _WHOLE_NUMBER,
        "The number of hosts that pic may always remove within pic:removalWindow, in each"
        " namespace and in all. The larger of this and pic:maxRemovalRatio is the limit.",
    ),
    Field(
        "maxRemovalRatio",
        readers.ratio,
        "a number from 0 to 1",
        "The share of the hosts in the register that pic may remove within pic:removalWindow. The"
        " larger of this and pic:maxRemovals is the limit.",
    ),
    Field(
        "removalWindow",
        readers.duration,
        _DURATION,
        "The time over which pic counts the hosts that it removes.",
    ),
    Field(
        "ephemeral",
        readers.list_of(_NAMESPACE_PATTERN),
        "namespace name patterns, where * and ? match, as a list or separated by commas",
        "The namespaces of preview environments. No limit counts the hosts that pic removes there.",
    ),
    Field(
        "maxWeakened",
        readers.unless_empty(readers.whole_number, None),
        _WHOLE_NUMBER,
        "The number of hosts that may lose their login or their access block in one run. If it"
        " is not set: 0, or with pic:tenants one the limit of removals.",
    ),
    Field(
        "maxMoves",
        readers.unless_empty(readers.whole_number, None),
        _WHOLE_NUMBER,
        "The number of hosts that may move to another namespace in one run where pic:hostPolicy"
        " does not permit it. If it is not set: 0, or with pic:tenants one no limit.",
    ),
    Field(
        "moveAfter",
        readers.unless_empty(readers.pause, None),
        _PAUSE,
        "How long a host that is gone stays reserved for its namespace. If it is not set: 24h, or"
        " with pic:tenants one 0.",
    ),
    Field(
        "maxRetargeted",
        readers.whole_number,
        _WHOLE_NUMBER,
        "The number of hosts that one run may always lead to another tunnel, address or port. The"
        " larger of this and 30 percent of the hosts in the register is the limit.",
    ),
    Field(
        "acknowledge",
        _DIGEST,
        # In quotes, because YAML reads digests such as 123456789012 and 1234567890e1 as numbers.
        "a digest that an earlier run printed: hexadecimal, in quotes; several with commas",
        "Allows exactly the changes that an earlier run held or refused.",
        ("PIC_ACKNOWLEDGE",),
    ),
    Field(
        "clusterId",
        readers.unless_empty(_CLUSTER_ID, ""),
        "the uid of the namespace kube-system",
        "The only cluster that this stack may change. pic init sets it.",
    ),
    Field(
        "adopt",
        readers.boolean,
        _BOOLEAN,
        "Take over the objects of the earlier controller, which was written in Go: see"
        " adoption.md.",
    ),
    Field(
        "adoptFrom",
        readers.unless_empty(_STACK, ""),
        "a stack name",
        "An earlier stack of this project. pic takes over its objects: see moving-a-stack.md.",
    ),
    Field(
        "context",
        readers.single_line,
        "the name of a context in the kubeconfig",
        "The kubeconfig context to use. Empty means the current context.",
    ),
    Field(
        "kubeconfig",
        readers.single_line,
        "a path",
        "The path of the kubeconfig. Empty means the usual places, such as $KUBECONFIG and"
        " ~/.kube/config.",
    ),
    Field(
        "events",
        readers.boolean,
        _BOOLEAN,
        "Write Kubernetes Events on the Ingresses, so that their owners see the result.",
    ),
    Field(
        "targets",
        readers.list_of(readers.one_of(TargetName), at_least=1),
        "pangolin, pangolin-api and pihole, as a list or separated by commas; only one of the first"
        " two",
        "The systems in which pic declares hosts: pangolin declares objects for the operator of"
        " Pangolin, and pangolin-api changes Pangolin itself: see pangolin-api.md.",
    ),
    Field(
        "resyncPeriod",
        readers.duration,
        _DURATION,
        "How often pic watch checks everything again, even if nothing has changed.",
        ("PIC_RESYNC_PERIOD",),
    ),
    Field(
        "logLevel",
        readers.one_of(LogLevel),
        "debug, info, warn or error",
        "How much pic logs.",
        ("PIC_LOG_LEVEL", "LOG_LEVEL"),
    ),
    Field(
        "ownerReferences",
        readers.boolean,
        _BOOLEAN,
        "Let Kubernetes delete our objects together with their Ingress. With false, pic deletes"
        " them itself, and its removal limits apply.",
    ),
    Field(
        "unpublish",
        _unpublish,
        "off or block",
        "block sets blockAccess on an object before pic deletes it, and waits for the operator, so"
        " that a host which is no longer declared is not public. It needs pic:ownerReferences"
        " false. For operators that leave the route of a deleted object in Pangolin: see"
        " limits.md.",
    ),
    Field(
        "lockTimeout",
        readers.duration,
        _DURATION,
        # pic cannot see the processes of another machine. Only the age of a lock tells it anything.
        "The age at which pic treats a state lock as left behind whose run left no record here.",
    ),
    Field(
        "keepHistory",
        readers.whole_number,
        _WHOLE_NUMBER,
        "The number of entries that pic keeps in the stack's history.",
    ),
    *TARGET_FIELDS,
)
