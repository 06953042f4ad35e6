"""What a person should know about an object: reasons, levels, and what becomes of it. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """The two types of a Kubernetes Event."""

    NORMAL = "Normal"
    WARNING = "Warning"


class Fate(StrEnum):
    """What becomes of a live object when this reason takes a host's last good path."""

    GOES = "goes"
    HELD = "held"
    NONE = "n/a"


class Reason(StrEnum):
    """Every reason a notice can have; the same text is the Event's reason."""

    ANNOTATION_CONFLICT = "AnnotationConflict"
    APEX_UNSUPPORTED = "ApexUnsupported"
    BACKEND_INVALID = "BackendInvalid"
    BACKEND_NOT_FOUND = "BackendNotFound"
    BLOCK_ACCESS = "BlockAccess"
    CANARY_IGNORED = "CanaryIgnored"
    DOMAIN_NOT_VERIFIED = "DomainNotVerified"
    DUPLICATE_PATH = "DuplicatePath"
    EMPTY_HOST = "EmptyHost"
    EXTERNAL_NAME_REFUSED = "ExternalNameRefused"
    HOST_CONFLICT = "HostConflict"
    HOST_NOT_ALLOWED = "HostNotAllowed"
    INVALID_ANNOTATION = "InvalidAnnotation"
    INVALID_HOST = "InvalidHost"
    INVALID_OBJECT = "InvalidObject"
    INVALID_PATH = "InvalidPath"
    INVALID_TARGET_IP = "InvalidTargetIP"
    IPV6_UNSUPPORTED = "IPv6Unsupported"
    LABELS_REPAIRED = "LabelsRepaired"
    LEFT_BEHIND = "LeftBehind"
    NO_HOSTS = "NoHosts"
    NO_PATHS = "NoPaths"
    NO_RULES = "NoRules"
    ORGANIZATION_NOT_FOUND = "OrganizationNotFound"
    PATHS_MAY_MIX = "PathsMayMix"
    PATH_KEY_COLLISION = "PathKeyCollision"
    PATH_TOO_LONG = "PathTooLong"
    PIHOLE_UNREADABLE = "PiholeUnreadable"
    PROTECTION_UNSUPPORTED = "ProtectionUnsupported"
    RECORD_CONFLICT = "RecordConflict"
    RECORD_EXISTS = "RecordExists"
    RECORD_TAKEN_OVER = "RecordTakenOver"
    RESOURCE_BACKEND = "ResourceBackend"
    SETTING_DIFFERS = "SettingDiffers"
    SINGLE_TARGET_ONLY = "SingleTargetOnly"
    SOLVER_IGNORED = "SolverIgnored"
    TUNNEL_NOT_FOUND = "TunnelNotFound"
    TUNNEL_NOT_READY = "TunnelNotReady"
    UNKNOWN_ANNOTATION = "UnknownAnnotation"
    UNSUPPORTED_PROTOCOL = "UnsupportedProtocol"
    UNTRACKED_ORPHAN = "UntrackedOrphan"


NORMAL = frozenset(
    {
        Reason.BLOCK_ACCESS,
        Reason.CANARY_IGNORED,
        Reason.LABELS_REPAIRED,
        Reason.RECORD_EXISTS,
        Reason.RECORD_TAKEN_OVER,
        Reason.SOLVER_IGNORED,
        Reason.TUNNEL_NOT_READY,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """Names an object of the cluster; `namespace` is empty for what has none."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know.

    Attributes:
        host: The host that it is about; None where it is about the whole object.
        annotation: The annotation that cannot be used, where one is to blame.
    """

    reason: Reason
    about: Ref
    message: str
    host: str | None = None
    annotation: str = field(default="", compare=False)

    @property
    def level(self) -> Level:
        """How loud it is, which the reason decides."""
        return Level.NORMAL if self.reason in NORMAL else Level.WARNING

    @property
    def order(self) -> tuple[Ref, str, str, str]:
        """Sorts by object, host, reason and text."""
        return self.about, self.host or "", self.reason, self.message


@dataclass(frozen=True, slots=True)
class Advice:
    """What documentation says of a reason."""

    cause: str
    way_out: str
    fate: Fate = Fate.NONE


# Filled for every reason; docs/notices.md is made of it.
ADVICE: Mapping[Reason, Advice] = {
    Reason.ANNOTATION_CONFLICT: Advice(
        "Ingresses that share a host ask for different things.",
        "Make their annotations agree. Until then the protecting value of sso and block-access "
        "wins; in all else the oldest Ingress decides.",
        Fate.NONE,
    ),
    Reason.APEX_UNSUPPORTED: Advice(
        "The host is its own base domain, and the installed CRD requires a subdomain.",
        "Upgrade the Pangolin operator, use a subdomain, or verify a shorter base domain in "
        "the organisation.",
        Fate.HELD,
    ),
    Reason.BACKEND_INVALID: Advice(
        "The Service has no such port, or its port leads nowhere that an address can name.",
        "Use a port that the Service has; a headless Service needs a numeric targetPort. In a "
        "plan from files, add the Service or use a numeric port.",
        Fate.HELD,
    ),
    Reason.BACKEND_NOT_FOUND: Advice(
        "The Service that a path names does not exist.",
        "Create the Service, or correct its name. The other paths of a new host are exposed "
        "without it.",
        Fate.HELD,
    ),
    Reason.BLOCK_ACCESS: Advice(
        "The annotation block-access asks Pangolin to block everybody, logged in or not.",
        "Nothing to do if that is meant. For a login use the annotation sso instead.",
        Fate.NONE,
    ),
    Reason.CANARY_IGNORED: Advice(
        "The Ingress is a canary of ingress-nginx. Pangolin cannot split traffic by weight.",
        "Nothing to do: the main Ingress of the host is exposed.",
        Fate.NONE,
    ),
    Reason.DOMAIN_NOT_VERIFIED: Advice(
        "The organisation of the tunnel has no verified domain that covers the host.",
        "Verify the domain in Pangolin, or move the host below one that is verified.",
        Fate.HELD,
    ),
    Reason.DUPLICATE_PATH: Advice(
        "The host has the same path and type more than once.",
        "Remove one of them. Until then the first rule of the oldest Ingress stands.",
        Fate.NONE,
    ),
    Reason.EMPTY_HOST: Advice(
        "A rule has no host, or a default backend stands alone, so there is no name to expose.",
        "Name the host in the rule. Other rules of the Ingress are exposed.",
        Fate.NONE,
    ),
    Reason.EXTERNAL_NAME_REFUSED: Advice(
        "The Service is of type ExternalName, which could expose any address that the tunnel "
        "reaches.",
        "Use a Service with a selector, or set pic:allowExternalName.",
        Fate.GOES,
    ),
    Reason.HOST_CONFLICT: Advice(
        "Another namespace has the host, or an object that is not of this stack does.",
        "Remove the host from one of the two; the message names the other. When the winner "
        "gives it up, the next one takes over.",
        Fate.HELD,
    ),
    Reason.HOST_NOT_ALLOWED: Advice(
        "The setting pic:hostPolicy does not let this namespace claim the host.",
        "Use a host that the policy allows, or ask the platform team to extend it.",
        Fate.GOES,
    ),
    Reason.INVALID_ANNOTATION: Advice(
        "The value of an annotation cannot be read.",
        "Correct the value; the message says what is accepted. Until then sso and block-access "
        "count as true.",
        Fate.HELD,
    ),
    Reason.INVALID_HOST: Advice(
        "The host is not a public host name, for example a wildcard, an address or a name with "
        "a port.",
        "Write a full host name. Other hosts of the Ingress are exposed.",
        Fate.GOES,
    ),
    Reason.INVALID_OBJECT: Advice(
        "The object does not have the shape that its kind has.",
        "Correct the field that the message names. Nothing else is affected.",
        Fate.HELD,
    ),
    Reason.INVALID_PATH: Advice(
        "The path cannot be expressed in the proxy: it holds a character that is not safe, or "
        "is no regular expression.",
        "Correct the path. Other paths of the host are exposed.",
        Fate.HELD,
    ),
    Reason.INVALID_TARGET_IP: Advice(
        "The address for the DNS record is missing or is no IP address.",
        "Correct the annotation pihole.io/target-ip, or set pic:piholeTargetIp.",
        Fate.HELD,
    ),
    Reason.IPV6_UNSUPPORTED: Advice(
        "The interface of pic:piholeApi dns-local has no records for IPv6 addresses.",
        "Nothing to do if IPv4 is enough: that record is declared. Else use pic:piholeApi v6.",
        Fate.NONE,
    ),
    Reason.LABELS_REPAIRED: Advice(
        "An object that pic made had lost its labels.",
        "Nothing to do: they are set again. If it repeats, find out what removes them.",
        Fate.NONE,
    ),
    Reason.LEFT_BEHIND: Advice(
        "An object of the stack in pic:adoptFrom that no Ingress of this stack asks for.",
        "If the earlier stack still runs, nothing. Else it exposes its host until somebody deletes "
        "it: kubectl delete.",
        Fate.NONE,
    ),
    Reason.NO_HOSTS: Advice(
        "The Ingress asks for DNS records and has no usable host.",
        "Give a rule a host, or name hosts in the annotation pihole.io/hosts.",
        Fate.NONE,
    ),
    Reason.NO_PATHS: Advice(
        "A rule has no paths and the Ingress has no default backend, so the host leads nowhere.",
        "Give the rule a path, or the Ingress a default backend.",
        Fate.HELD,
    ),
    Reason.NO_RULES: Advice(
        "The Ingress has no rules, so there is nothing to expose.",
        "Add a rule with a host, or take the Ingress out of the class.",
        Fate.NONE,
    ),
    Reason.ORGANIZATION_NOT_FOUND: Advice(
        "The tunnel names an organisation that does not exist.",
        "Create the PangolinOrganization, or correct organizationRef in the tunnel.",
        Fate.HELD,
    ),
    Reason.PATHS_MAY_MIX: Advice(
        "The host has paths with different backends. Some operators send every path to every "
        "backend.",
        "Check that your operator routes by path. Then set pic:pathRouting to trusted, or give "
        "each backend its own host.",
        Fate.NONE,
    ),
    Reason.PATH_KEY_COLLISION: Advice(
        "Two paths of the host begin with the same 50 characters. Older Pangolin releases "
        "confuse them.",
        "Upgrade Pangolin, or make the paths differ earlier.",
        Fate.NONE,
    ),
    Reason.PATH_TOO_LONG: Advice(
        "Paths are so long that their priorities are equal, so their order is not certain.",
        "Shorten the paths.",
        Fate.NONE,
    ),
    Reason.PIHOLE_UNREADABLE: Advice(
        "Pi-hole did not tell its records, so what would change there is not known.",
        "The message says what is in the way. Records are declared from the Ingresses all the "
        "same, and none is deleted before Pi-hole can be read.",
        Fate.NONE,
    ),
    Reason.PROTECTION_UNSUPPORTED: Advice(
        "A login or a block is asked for, and the installed CRD cannot express it.",
        "Upgrade the Pangolin operator, or remove the annotation. The host is not exposed "
        "without the protection.",
        Fate.HELD,
    ),
    Reason.RECORD_CONFLICT: Advice(
        "Pi-hole has a record for the host, with another address, that pic did not make.",
        "Remove that record in Pi-hole, or let pic have it with pic:piholeTakeOver. Until then it "
        "is not touched.",
        Fate.NONE,
    ),
    Reason.RECORD_EXISTS: Advice(
        "Pi-hole has the very record that is asked for, and pic did not make it.",
        "Nothing to do. It is not touched, and it does not go with the Ingress.",
        Fate.NONE,
    ),
    Reason.RECORD_TAKEN_OVER: Advice(
        "Somebody else's record has another address, and pic:piholeTakeOver lets pic replace it.",
        "Nothing to do if that is meant; else take the annotation pihole.io/register from the "
        "Ingress, or the setting back.",
        Fate.NONE,
    ),
    Reason.RESOURCE_BACKEND: Advice(
        "The backend of the path is not a Service.",
        "Use a Service as backend. Other paths of the host are exposed.",
        Fate.HELD,
    ),
    Reason.SETTING_DIFFERS: Advice(
        "An environment variable says otherwise than the stack. The stack's value is used.",
        "Remove the variable or the setting, or make them agree.",
        Fate.NONE,
    ),
    Reason.SINGLE_TARGET_ONLY: Advice(
        "The installed CRD holds one target for a host, so other paths are left out.",
        "Upgrade the Pangolin operator, or give each path its own host.",
        Fate.NONE,
    ),
    Reason.SOLVER_IGNORED: Advice(
        "The Ingress or path belongs to a certificate challenge of cert-manager.",
        "Nothing to do: it goes when the challenge is over.",
        Fate.NONE,
    ),
    Reason.TUNNEL_NOT_FOUND: Advice(
        "The tunnel does not exist, its name is not unique, or it may not be used from here.",
        "Create the PangolinTunnel, correct its name, or see pic:tunnelNamespace and "
        "pic:tunnelNamespaces.",
        Fate.HELD,
    ),
    Reason.TUNNEL_NOT_READY: Advice(
        "The tunnel exists and does not report that it is ready.",
        "Nothing to do if it is starting; else look at the tunnel's status. The host is declared.",
        Fate.NONE,
    ),
    Reason.UNKNOWN_ANNOTATION: Advice(
        "The annotation has our prefix and no meaning.",
        "Correct its name; the message has the nearest one.",
        Fate.NONE,
    ),
    Reason.UNSUPPORTED_PROTOCOL: Advice(
        "The Service speaks a protocol that Pangolin cannot forward, such as h2c.",
        "Offer HTTP or HTTPS on a port, or set the annotation backend-scheme.",
        Fate.HELD,
    ),
    Reason.UNTRACKED_ORPHAN: Advice(
        "A run was killed before it saved its state, and what it had made is no longer asked for. "
        "The engine does not know of it.",
        "Run pic up, which deletes it; pulumi up leaves it.",
        Fate.NONE,
    ),
}
