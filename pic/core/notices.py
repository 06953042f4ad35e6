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
    ANNOTATION_NOT_TEXT = "AnnotationNotText"
    APEX_UNSUPPORTED = "ApexUnsupported"
    APP_PROTOCOL_IGNORED = "AppProtocolIgnored"
    BACKEND_INVALID = "BackendInvalid"
    BACKEND_NOT_FOUND = "BackendNotFound"
    BEING_DELETED = "BeingDeleted"
    BLOCK_ACCESS = "BlockAccess"
    CANARY_IGNORED = "CanaryIgnored"
    DOMAIN_NOT_VERIFIED = "DomainNotVerified"
    DUPLICATE_KEY = "DuplicateKey"
    DUPLICATE_PATH = "DuplicatePath"
    EDITED_BY_HAND = "EditedByHand"
    EMPTY_HOST = "EmptyHost"
    EXTERNAL_NAME_REFUSED = "ExternalNameRefused"
    FILES_EXCLUDED = "FilesExcluded"
    FILE_SKIPPED = "FileSkipped"
    FOREIGN_ANNOTATION = "ForeignAnnotation"
    FOREIGN_PROTECTION = "ForeignProtection"
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
    NAMESPACE_ASSUMED = "NamespaceAssumed"
    NAMESPACE_NOT_FOUND = "NamespaceNotFound"
    NOT_IN_FILES = "NotInFiles"
    NOT_RENDERED = "NotRendered"
    NO_HOSTS = "NoHosts"
    NO_LONGER_OURS = "NoLongerOurs"
    NO_PATHS = "NoPaths"
    NO_RULES = "NoRules"
    ORGANIZATION_NOT_FOUND = "OrganizationNotFound"
    PATHS_MAY_MIX = "PathsMayMix"
    PATH_KEY_COLLISION = "PathKeyCollision"
    PATH_PATTERN = "PathPattern"
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
    SCHEME_GUESS = "SchemeGuess"
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
        Reason.APP_PROTOCOL_IGNORED,
        Reason.BEING_DELETED,
        Reason.BLOCK_ACCESS,
        Reason.CANARY_IGNORED,
        Reason.FILES_EXCLUDED,
        Reason.FOREIGN_ANNOTATION,
        Reason.HELD_BY_FINALIZER,
        Reason.LABELS_REPAIRED,
        Reason.NAMESPACE_ASSUMED,
        Reason.NOT_IN_FILES,
        Reason.PATH_PATTERN,
        Reason.RECORD_EXISTS,
        Reason.RECORD_TAKEN_OVER,
        Reason.REGISTER_BEGUN,
        Reason.SCHEME_GUESS,
        Reason.SOLVER_IGNORED,
        Reason.TUNNEL_NOT_READY,
    }
)


# How many hosts of an Ingress a line of text names. JSON names all of them.
MOST_HOSTS = 5


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
        hosts: For a notice about a whole Ingress: the hosts of its rules, as written.
    """

    reason: Reason
    about: Ref
    message: str
    host: str | None = None
    # Only the log shows it, so two notices that differ in nothing else are equal.
    annotation: str = field(default="", compare=False)
    urgent: bool = False
    hosts: tuple[str, ...] = field(default=(), compare=False)

    @property
    def text(self) -> str:
        """The message with the host or the hosts that it is about, unless it names them already."""
        if self.host:
            known = self.host in self.message or self.host in self.about.name
            return self.message if known else f"{self.host}: {self.message}"
        missing = [host for host in self.hosts if host not in self.message]
        if not missing:
            return self.message
        shown = ", ".join(missing[:MOST_HOSTS])
        rest = f" and {len(missing) - MOST_HOSTS} more" if len(missing) > MOST_HOSTS else ""
        return f"{self.message} (its hosts: {shown}{rest})"

    @property
    def level(self) -> Level:
        """Normal or Warning, which the reason decides unless the notice is urgent."""
        return Level.WARNING if self.urgent or self.reason not in NORMAL else Level.NORMAL

    @property
    def order(self) -> tuple[Ref, str, str, str]:
        """The sort key: object, host, reason and text."""
        return self.about, self.host or "", self.reason, self.message
