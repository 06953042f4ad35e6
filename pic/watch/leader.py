"""Elects a leader among several watchers: the holder of a Lease of coordination.k8s.io.

Only the API server decides. A write names the resource version that was read, so of two writes at
the same time one fails. No watcher trusts the clock of another. A contender measures with its own
clock how long the record has stayed the same. The holder gives up sooner than that, and counts from
before its last write. See docs/monitoring.md.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from pic.cluster.listing import StatusError, Timeouts, Transport
from pic.core.errors import ClusterError
from pic.core.json_values import MalformedError, Raw, integer, mapping, text

LEASES = "/apis/coordination.k8s.io/v1"
# Short enough that a renewal ends before the next one is due, even without an answer.
TIMEOUTS = Timeouts(connect=1.0, read=3.0, retry_after=1, backoff=0.2, retries=1)
# `_read` handles a 404 for the Lease. Any other 404 means that the namespace is missing.
PERMANENT_STATUSES = (401, 403, 404)
CONFLICT = 409


def boot_clock() -> float:
    """Return seconds that no adjustment of the clock changes, and that include suspend."""
    # CLOCK_MONOTONIC stops during suspend, and then a holder would not notice that it has expired.
    return time.clock_gettime(time.CLOCK_BOOTTIME)


def _wall_clock() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class LeaseTimes:
    """The times of an election, in seconds, under the names of client-go and with its defaults.

    Attributes:
        lease_duration: A record that has not changed for this long is abandoned.
        renew_deadline: A holder that could not renew for this long has lost the Lease. It is less
            than `lease_duration`.
    """

    lease_duration: int = 15
    renew_deadline: float = 10.0


@dataclass(frozen=True, slots=True)
class _Lease:
    """A Lease as the API server returned it."""

    metadata: Raw
    spec: Raw

    @property
    def holder(self) -> str:
        return text(self.spec.get("holderIdentity"))

    @property
    def record(self) -> tuple[object, Raw]:
        """The part that changes with each renewal."""
        return self.metadata.get("uid"), self.spec


@dataclass
class Leader:
    """One contender for a Lease.

    Attributes:
        identity: Identifies this process. Two processes with one identity would both lead.
        clock: Seconds that never go back.
        wall: The time that is written into the Lease, for people only.
        problem: Why the last attempt failed; empty if it succeeded.
    """

    transport: Transport
    namespace: str
    name: str
    identity: str
    clock: Callable[[], float] = boot_clock
    wall: Callable[[], datetime] = _wall_clock
    times: LeaseTimes = LeaseTimes()
    problem: str = field(default="", init=False)
    _renewed_at: float | None = field(default=None, init=False)
    _record: tuple[object, Raw] | None = field(default=None, init=False)
    _record_since: float = field(default=0.0, init=False)

    @property
    def held(self) -> bool:
        """Whether this contender holds the Lease, by its clock alone; for any thread."""
        renewed_at = self._renewed_at
        return renewed_at is not None and self.clock() < renewed_at + self.times.renew_deadline

    def hold(self) -> bool:
        """Acquire or renew the Lease now, and say whether this contender holds it.

        A failed attempt does not end a Lease that is held until its renewal is overdue.

        Raises:
            ClusterError: The Lease is not held, and cannot be before an operator acts.
        """
        # From before the request: other contenders may see the write at any moment after this.
        start = self.clock()
        try:
            self._renewed_at = start if self._attempt() else None
        except (StatusError, ClusterError) as error:
            self.problem = str(error)
            if self.held:
                return True
            self._renewed_at = None
            self._raise_if_permanent(error)
            return False
        self.problem = ""
        # The answer may have come so late that the next renewal is already overdue.
        return self.held

    def release(self) -> None:
        """Give the Lease up, so that another contender gets it at once.

        If the API server does not answer, the Lease expires instead.
        """
        if not self.held:
            return
        self._renewed_at = None
        try:
            # Another contender may hold the Lease by now, and that Lease must stay.
            lease = self._read()
            if lease and lease.holder == self.identity:
                self._replace(lease, "")
        except (StatusError, ClusterError) as error:
            self.problem = str(error)

    def _attempt(self) -> bool:
        # A conflict need not come from another contender. This one may have written, and the answer
        # was lost.
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
            raise ClusterError(f"{self} is malformed: {error}") from error

    def _is_taken(self, lease: _Lease) -> bool:
        if lease.record != self._record:
            self._record, self._record_since = lease.record, self.clock()
        if lease.holder in ("", self.identity):
            return False
        duration = integer(lease.spec.get("leaseDurationSeconds")) or self.times.lease_duration
        return self.clock() <= self._record_since + duration

    def _create(self) -> None:
        metadata = {"namespace": self.namespace, "name": self.name}
        self._send("POST", self._collection, _Lease(metadata, {}), self.identity)

    def _replace(self, lease: _Lease, holder: str) -> None:
        self._send("PUT", self._path, lease, holder)

    def _send(self, method: str, path: str, old: _Lease, holder: str) -> None:
        # The metadata include the resource version that was read. If the Lease has changed since,
        # the API server answers 409.
        body = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": old.metadata,
            "spec": self._spec(old, holder),
        }
        self.transport.request(method, path, body)

    def _spec(self, old: _Lease, holder: str) -> Raw:
        """Return the new spec, which differs from the old one even if the wall clock stands still.

        The API server does not raise the version of an object if a write changes nothing in it.
        Then other contenders would take the record for abandoned.
        """
        moment = self.wall()
        if _micro_time(moment) == old.spec.get("renewTime"):
            moment += timedelta(microseconds=1)
        spec = {
            **old.spec,
            "holderIdentity": holder,
            # A released Lease gets the smallest duration that the API allows.
            "leaseDurationSeconds": self.times.lease_duration if holder else 1,
            "renewTime": _micro_time(moment),
        }
        if holder not in ("", old.holder):
            spec["acquireTime"] = _micro_time(moment)
            spec["leaseTransitions"] = (integer(old.spec.get("leaseTransitions")) or 0) + bool(
                old.spec
            )
        return spec

    def _raise_if_permanent(self, error: StatusError | ClusterError) -> None:
        if isinstance(error, StatusError) and error.status in PERMANENT_STATUSES:
            raise ClusterError(
                f"cannot hold {self}: {error} (HTTP {error.status}); {self._remedy(error.status)}"
            ) from error

    def _remedy(self, status: int) -> str:
        match status:
            case 401:
                return "the API server rejects the credentials: renew them"
            case 403:
                return (
                    "grant get, create and update on leases of coordination.k8s.io in namespace"
                    f" {self.namespace} to the account that runs pic"
                )
            case _:
                return (
                    f"create namespace {self.namespace}, or name another one with --lease-namespace"
                )

    def __str__(self) -> str:
        return f"Lease {self.namespace}/{self.name}"

    @property
    def _collection(self) -> str:
        return f"{LEASES}/namespaces/{self.namespace}/leases"

    @property
    def _path(self) -> str:
        return f"{self._collection}/{self.name}"


def _lease(answer: object) -> _Lease:
    raw = mapping(answer, "it")
    kind = text(raw.get("kind"))
    if kind != "Lease":
        raise MalformedError(f"its kind is {kind}" if kind else "it has no kind")
    return _Lease(mapping(raw.get("metadata"), "metadata"), mapping(raw.get("spec"), "spec"))


def _micro_time(moment: datetime) -> str:
    """Return a MicroTime as Kubernetes writes it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
