"""What a person should know about an object: reasons, levels, and what becomes of it. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    LABELS_REPAIRED = "LabelsRepaired"
    NO_HOSTS = "NoHosts"
    NO_PATHS = "NoPaths"
    NO_RULES = "NoRules"
    ORGANIZATION_NOT_FOUND = "OrganizationNotFound"
    PATHS_MAY_MIX = "PathsMayMix"
    PATH_KEY_COLLISION = "PathKeyCollision"
    PATH_TOO_LONG = "PathTooLong"
    PROTECTION_UNSUPPORTED = "ProtectionUnsupported"
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
    """Something a person should know; `host` is None where it is about the whole object."""

    reason: Reason
    about: Ref
    message: str
    host: str | None = None

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
ADVICE: Mapping[Reason, Advice] = {}
