"""Who of several watchers may act: the holder of a Lease of coordination.k8s.io.

Only the API server decides: a write names the version it has read, so that of two at once one
fails. Nobody trusts another's clock. A contender counts how long it has itself seen the same
record; the holder gives up earlier than that, counted from before its last write.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pic.cluster.listing import StatusError, Timeouts, Transport
from pic.core.errors import ClusterError
from pic.core.json_values import (
    MalformedError,
    Raw,
    integer,
    mapping,
    text,
)

LEASES = "/apis/coordination.k8s.io/v1"
# What a renewal may take ends before it is overdue.
TIMEOUTS = Timeouts(connect=1.0, read=3.0, retry_after=1, backoff=0.2, retries=1)
PERMANENT_STATUSES = (401, 403, 404)
CONFLICT = 409


def boot_clock() -> float:
    """Return seconds that no clock adjustment changes; a suspended machine's time counts."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """The times of an election, in seconds.

    Attributes:
        lease: A record that does not change for so long has been left.
        renew: A holder that could not renew for so long has lost it; less than `lease`.
        retry: The pause between two calls of `hold`.
    """

    lease: int = 15
    renew: float = 10.0
    retry: float = 2.0


@dataclass(frozen=True, slots=True)
class _Lease:
    """The object as it was read."""

    metadata: Raw
    spec: Raw

    @property
    def holder(self) -> str:
        return text(self.spec.get("holderIdentity"))

    @property
    def record(self) -> tuple[object, Raw]:
        """What changes with each renewal."""
        return self.metadata.get("uid"), self.spec


@dataclass
class Leader:
    """One contender for a Lease.

    Attributes:
        identity: Of this very process: another that bears it would lead at the same time.
        clock: Seconds that only grow.
        wall: The time that people read in the Lease; nothing is decided by it.
        problem: Why the last attempt had no answer; empty where it had one.
    """

    transport: Transport
    namespace: str
    name: str
    identity: str
    clock: Callable[[], float] = boot_clock
    wall: Callable[[], datetime] = _wall_clock
    times: LeaseTimes = LeaseTimes()
    problem: str = field(default="", init=False)
    _renewed: float | None = field(default=None, init=False)
    _record: tuple[object, Raw] | None = field(default=None, init=False)
    _seen: float = field(default=0.0, init=False)

    @property
    def held(self) -> bool:
        """Whether it is held now, by the clock alone; any thread may ask."""
        renewed = self._renewed
        return renewed is not None and self.clock() < renewed + self.times.renew

    def hold(self) -> bool:
        """Acquire or renew it now, and say whether it is held.

        A failed attempt does not end a lease that is held until its renewal is overdue.

        Raises:
            ClusterError: It is not held, and cannot be without a person's help.
        """
        began = self.clock()
        try:
            self._renewed = began if self._attempt() else None
        except (StatusError, ClusterError) as error:
            self.problem = str(error)
            if self.held:
                return True
            self._renewed = None
            self._complain(error)
            return False
        self.problem = ""
        # An answer that came late is worth nothing.
        return self.held

    def release(self) -> None:
        """Let another have it at once; where that cannot be said, it expires."""
        if not self.held:
            return
        self._renewed = None
        try:
            lease = self._read()
            if lease and lease.holder == self.identity:
                self._replace(lease, "")
        except (StatusError, ClusterError) as error:
            self.problem = str(error)

    def _attempt(self) -> bool:
        # A conflict may be this contender's own write whose answer was lost: so look again.
        for _ in range(2):
            try:
                return self._acquire()
            except StatusError as error:
                if error.status != CONFLICT:
                    raise
        return False

    def _acquire(self) -> bool:
        lease = self._read()
        if lease is None:
            self._create()
        elif self._is_taken(lease):
            return False
        else:
            self._replace(lease, self.identity)
        return True

    def _read(self) -> _Lease | None:
        try:
            return _lease(self.transport.get(self._path))
        except StatusError as error:
            if error.status != 404:
                raise
            return None
        except MalformedError as error:
            raise ClusterError(f"{self} cannot be understood: {error}") from error

    def _is_taken(self, lease: _Lease) -> bool:
        if lease.record != self._record:
            self._record, self._seen = lease.record, self.clock()
        if lease.holder in ("", self.identity):
            return False
        lasts = integer(lease.spec.get("leaseDurationSeconds")) or self.times.lease
        return self.clock() <= self._seen + lasts

    def _create(self) -> None:
        metadata = {"namespace": self.namespace, "name": self.name}
        self._send("POST", self._collection, _Lease(metadata, {}), self.identity)

    def _replace(self, lease: _Lease, holder: str) -> None:
        self._send("PUT", self._path, lease, holder)

    def _send(self, method: str, path: str, old: _Lease, holder: str) -> None:
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": old.metadata,
            "spec": self._spec(old, holder),
        }
        self.transport.request(method, path, body)

    def _spec(self, old: _Lease, holder: str) -> Raw:
        """Return a record that differs from the old one, even where the wall clock stands still."""
        moment = self.wall()
        if _micro(moment) == old.spec.get("renewTime"):
            moment += timedelta(microseconds=1)
        found = {
            **old.spec,
            "holderIdentity": holder,
            "leaseDurationSeconds": self.times.lease if holder else 1,
            "renewTime": _micro(moment),
        }
        if holder not in ("", old.holder):
            found["acquireTime"] = _micro(moment)
            found["leaseTransitions"] = (integer(old.spec.get("leaseTransitions")) or 0) + bool(
                old.spec
            )
        return found

    def _complain(self, error: StatusError | ClusterError) -> None:
        if isinstance(error, StatusError) and error.status in PERMANENT_STATUSES:
            raise ClusterError(
                f"cannot hold {self}: {error} (HTTP {error.status}); {self._remedy(error.status)}"
            ) from error

    def _remedy(self, status: int) -> str:
        match status:
            case 401:
                return "the credentials are not accepted: renew them"
            case 403:
                return (
                    "grant get, create and update on leases of coordination.k8s.io in namespace"
                    f" {self.namespace} to who runs pic"
                )
            case _:
                return f"create namespace {self.namespace}, or name another"

    def __str__(self) -> str:
        return f"Lease {self.namespace}/{self.name}"

    @property
    def _collection(self) -> str:
        return f"{LEASES}/namespaces/{self.namespace}/leases"

    @property
    def _path(self) -> str:
        return f"{self._collection}/{self.name}"


def _lease(answer: object) -> _Lease:
    found = mapping(answer, "it")
    if found.get("kind") != "Lease":
        raise MalformedError(f"it is {text(found.get('kind')) or 'of no kind'}")
    return _Lease(mapping(found.get("metadata"), "metadata"), mapping(found.get("spec"), "spec"))


def _micro(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
