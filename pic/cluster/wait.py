"""Waits until the operator has made our objects ready, up to a deadline."""

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from pic.cluster import listing, status
from pic.cluster.listing import Listing, Transport
from pic.cluster.status import ReadyState, StatusReport, StatusRow
from pic.core.errors import ClusterError
from pic.planning.ownership import Ownership
from pic.settings.kinds import BY_NAME, RESOURCE

RESOURCES = Listing(BY_NAME[RESOURCE])
# Seconds between two looks: an operator with few objects is quick, one with many has time.
FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 1.0, 10.0, 1.5


@dataclass(frozen=True, slots=True)
class Clock:
    """How a wait passes its time.

    Attributes:
        tell: Told in a line of what has changed.
        clock: Seconds since some moment.
        sleep: Lets seconds pass.
    """

    tell: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def read_report(transport: Transport, ownership: Ownership) -> StatusReport:
    """Return what the operator says of our objects now.

    Raises:
        ClusterError: They could not be listed whole.
    """
    return status.build_report(listing.list_objects(transport, RESOURCES), ownership)


def wait_until_ready(
    transport: Transport,
    ownership: Ownership,
    keys: Collection[tuple[str, str]],
    deadline_seconds: float,
    pace: Clock,
) -> StatusReport:
    """Wait until objects are ready, and return how they are then or at the deadline.

    An error that the operator reports is told at once and does not end the wait, since operators
    try again. Neither does a cluster that does not answer for a while.

    Args:
        transport: To the cluster.
        ownership: Which objects are ours.
        keys: Namespaces and names of the objects.
        deadline_seconds: How long to wait; 0 looks once.
        pace: How to tell and to sleep.

    Raises:
        ClusterError: The first or the last listing failed.
    """
    wait = _Wait(transport, ownership, keys, pace)
    end, pause = pace.clock() + deadline_seconds, FIRST_PAUSE
    found = wait.look()
    while not found.is_ready and (left := end - pace.clock()) > 0:
        pace.sleep(min(pause, left))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
        found = wait.look_again(found)
    if wait.trouble:
        raise wait.trouble
    return found


@dataclass(slots=True)
class _Wait:
    """One wait: what was told already, and what went wrong with the last look."""

    transport: Transport
    ownership: Ownership
    keys: Collection[tuple[str, str]]
    pace: Clock
    trouble: ClusterError | None = None
    counts: str = ""
    errors: set[StatusRow] = field(default_factory=set)

    def look(self) -> StatusReport:
        found = status.select_rows(read_report(self.transport, self.ownership), self.keys)
        self._tell(found)
        return found

    def look_again(self, before: StatusReport) -> StatusReport:
        try:
            found = self.look()
        except ClusterError as error:
            self.trouble = error
            self.pace.tell(str(error))
            return before
        self.trouble = None
        return found

    def _tell(self, found: StatusReport) -> None:
        errors = {row for row in found.rows if row.standing is ReadyState.ERROR}
        for row in sorted(errors - self.errors, key=lambda row: row.order):
            where = "/".join(row.key)
            self.pace.tell(f"{row.host or where} ({where}): {status.short_line(row.message)}")
        if (counts := status.counts_line(found)) != self.counts:
            self.pace.tell(counts)
        self.counts, self.errors = counts, errors
