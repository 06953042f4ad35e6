"""Defines the register: what pic remembers of each host and DNS record that it exposes. No I/O.

A live object can be deleted and written by the people of its namespace. The register is in a
namespace where only the platform team may write, so it also says who had a host that is gone
(docs/promises.md).

Times are text in RFC 3339 and UTC, as the API server writes them, so they sort and compare as text.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum

BUCKETS = "0123456789abcdef"
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


class GoneBy(StrEnum):
    """Why a host is gone. The guard counts only what pic removed without being told.

    PIC: No Ingress asked for it any more.
    KUBERNETES: Kubernetes deleted its object, together with its Ingress.
    OWNER: Its Ingress is disabled, or its namespace is a preview environment.
    ACKNOWLEDGED: A user acknowledged its removal.
    """

    PIC = "pic"
    KUBERNETES = "kubernetes"
    OWNER = "owner"
    ACKNOWLEDGED = "acknowledged"


@dataclass(frozen=True, slots=True)
class HostEntry:
    """What pic remembers of a public host.

    Attributes:
        name: The name of its PangolinResource.
        source: The kind and the name of what asks for it, such as `Ingress/web`.
        tunnel: The namespace and the name of its tunnel, such as `pangolin/default`.
        since: When this entry began.
        serial: Rises whenever this entry changes.
        gone: When pic noticed that the host is gone; empty while it is exposed.
        gone_by: Who removed it; None while it is exposed.
        form: Names its targets, where the list of Pangolin does not show all of them; else empty.
    """

    host: str
    namespace: str
    name: str
    source: str = ""
    tunnel: str = ""
    sso: bool = False
    block_access: bool = False
    since: str = ""
    serial: int = 0
    gone: str = ""
    gone_by: GoneBy | None = None
    form: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name of its PangolinResource."""
        return self.namespace, self.name


@dataclass(frozen=True, slots=True)
class RecordEntry:
    """What pic remembers of a DNS record.

    Attributes:
        record: The id of the record, such as `app.example.com/A`.
        namespace: The namespace of the Ingress that asks for it.
        source: As in `HostEntry`, like `since`, `serial`, `gone` and `gone_by`.
    """

    record: str
    ip: str
    namespace: str
    source: str = ""
    since: str = ""
    serial: int = 0
    gone: str = ""
    gone_by: GoneBy | None = None

    @property
    def host(self) -> str:
        """The host of the record."""
        return self.record.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Bucket:
    """A sixteenth of the register, which is one ConfigMap.

    Attributes:
        stack_id: `pic:stackId` of the stack that wrote it; empty if that stack had none.
        serial: Rises with each write.
    """

    stack_id: str = ""
    cluster_id: str = ""
    serial: int = 0


class RegisterStatus(StrEnum):
    """What a run knows of the register.

    UNSET: No setting names its namespace, or the run plans from files alone.
    FORBIDDEN: pic may not read it.
    ABSENT: It does not exist.
    READ: It was read.
    """

    UNSET = "unset"
    FORBIDDEN = "forbidden"
    ABSENT = "absent"
    READ = "read"


@dataclass(frozen=True, slots=True)
class Register:
    """The register of a stack.

    Attributes:
        hosts: The entries by host.
        records: The entries by record, such as `app.example.com/A`.
        buckets: The buckets that exist, by their hexadecimal digit.
        unreadable: The digits of the buckets whose ConfigMap has another shape.
    """

    status: RegisterStatus = RegisterStatus.UNSET
    hosts: Mapping[str, HostEntry] = field(default_factory=dict)
    records: Mapping[str, RecordEntry] = field(default_factory=dict)
    buckets: Mapping[str, Bucket] = field(default_factory=dict)
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateMemory:
    """What the engine's state knows of the last deployment.

    Attributes:
        serials: The serial of each bucket that the last deployment wrote, by its digit.
    """

    hosts: tuple[HostEntry, ...] = ()
    records: tuple[RecordEntry, ...] = ()
    serials: Mapping[str, int] = field(default_factory=dict)


def bucket_of(host: str) -> str:
    """Return the hexadecimal digit of the bucket that remembers a host and its records."""
    return hashlib.sha256(host.encode()).hexdigest()[0]


def expired(gone: str, now: str, age: timedelta) -> bool:
    """Say whether something has been gone for at least that long.

    Args:
        gone: When it went; empty if it has not gone.
        now: The time of the API server; empty if it is unknown, and then nothing expires.
        age: How long it is remembered.
    """
    return bool(gone and now) and moment(gone) + age <= moment(now)


def moment(text: str) -> datetime:
    """Return the time that a text in RFC 3339 names; the earliest one if it names none."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    # A later time, which only a hand can have written, could not be added to.
    return min(_LATEST, time if time.tzinfo else time.replace(tzinfo=UTC))


def timestamp(time: datetime) -> str:
    """Return a time in RFC 3339, in UTC and whole seconds."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
