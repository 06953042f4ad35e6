"""Defines notices: what users should know about an object, with a reason and a level.

A notice never stops a run. It appears in the plan and in the log, and a warning also becomes an
Event of its Ingress (docs/notices.md).
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Level(StrEnum):
    """The two types of a Kubernetes Event."""

    NORMAL = "Normal"
    WARNING = "Warning"


class Reason(StrEnum):
    """Every reason that a notice can have; also the reason of its Event."""

    # Alerts and scripts use these names, so they never change. The form is that of Kubernetes.
    ACKNOWLEDGEMENT_UNUSED = "AcknowledgementUnused"
    ANNOTATION_CONFLICT = "AnnotationConflict"
    APEX_UNSUPPORTED = "ApexUnsupported"
    BACKEND_INVALID = "BackendInvalid"
    BACKEND_NOT_FOUND = "BackendNotFound"
    BEING_DELETED = "BeingDeleted"
    BLOCK_ACCESS = "BlockAccess"
    CANARY_IGNORED = "CanaryIgnored"
    DOMAIN_NOT_VERIFIED = "DomainNotVerified"
    DUPLICATE_PATH = "DuplicatePath"
    EDITED_BY_HAND = "EditedByHand"
    EMPTY_HOST = "EmptyHost"
    EXTERNAL_NAME_REFUSED = "ExternalNameRefused"
    HELD = "Held"
    HELD_BY_FINALIZER = "HeldByFinalizer"
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
    LEFT_OUTSIDE = "LeftOutside"
    NAMESPACE_NOT_FOUND = "NamespaceNotFound"
    NO_HOSTS = "NoHosts"
    NO_LONGER_OURS = "NoLongerOurs"
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
    RECORD_SHADOWED = "RecordShadowed"
    RECORD_TAKEN_OVER = "RecordTakenOver"
    RECORDS_LOST = "RecordsLost"
    REGISTER_BEGUN = "RegisterBegun"
    REGISTER_MISSING = "RegisterMissing"
    REGISTER_STALE = "RegisterStale"
    RESOURCE_BACKEND = "ResourceBackend"
    SETTING_DIFFERS = "SettingDiffers"
    SINGLE_TARGET_ONLY = "SingleTargetOnly"
    SOLVER_IGNORED = "SolverIgnored"
    STACK_ID_MISSING = "StackIdMissing"
    TOO_MANY_HOSTS = "TooManyHosts"
    TUNNEL_NOT_FOUND = "TunnelNotFound"
    TUNNEL_NOT_READY = "TunnelNotReady"
    UNKNOWN_ANNOTATION = "UnknownAnnotation"
    UNSUPPORTED_PROTOCOL = "UnsupportedProtocol"
    UNTRACKED_ORPHAN = "UntrackedOrphan"


# Notices for these reasons need no action, unless one is urgent. All others are warnings.
NORMAL = frozenset(
    {
        Reason.BEING_DELETED,
        Reason.BLOCK_ACCESS,
        Reason.CANARY_IGNORED,
        Reason.HELD_BY_FINALIZER,
        Reason.LABELS_REPAIRED,
        Reason.RECORD_EXISTS,
        Reason.RECORD_TAKEN_OVER,
        Reason.REGISTER_BEGUN,
        Reason.SOLVER_IGNORED,
        Reason.TUNNEL_NOT_READY,
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """The name of an object; `namespace` is empty for an object that has none."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that users should know about an object.

    Attributes:
        about: The object.
        host: The host that it is about; None where it is about the whole object.
        annotation: The annotation that cannot be used; empty where none is to blame.
        urgent: Whether it is a warning although its reason usually needs no action.
    """

    reason: Reason
    about: Ref
    message: str
    host: str | None = None
    # Only the log shows it, so two notices that differ in nothing else are equal.
    annotation: str = field(default="", compare=False)
    urgent: bool = False

    @property
    def level(self) -> Level:
        """Normal or Warning, which the reason decides unless the notice is urgent."""
        return Level.WARNING if self.urgent or self.reason not in NORMAL else Level.NORMAL

    @property
    def order(self) -> tuple[Ref, str, str, str]:
        """The sort key: object, host, reason and text."""
        return self.about, self.host or "", self.reason, self.message
