"""Waits until our PangolinResources are ready, or until others are gone, or until a deadline."""

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlencode

from pic.cluster import listing, status
from pic.cluster.listing import Listing, Transport
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.core.errors import ClusterError, PicError, TargetError
from pic.core.json_values import mapping, sequence
from pic.core.model import LiveResource
from pic.planning.ownership import Ownership
from pic.settings.kinds import BY_NAME, RESOURCE

RESOURCES = Listing(BY_NAME[RESOURCE])
# The seconds between two listings grow, because a few objects are ready soon and many take longer.
FIRST_PAUSE, LONGEST_PAUSE, GROWTH = 1.0, 10.0, 1.5
# A deletion takes a fraction of a second, and one request.
DELETION_PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Clock:
    """The clock of a wait, and where its progress goes.

    Attributes:
        tell: Takes one line about each change.
        now: Returns the seconds since some fixed moment.
        sleep: Pauses for some seconds.
    """

    tell: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


def read_report(transport: Transport, ownership: Ownership) -> StatusReport:
    """Return the present state of our objects.

    Raises:
        ClusterError: The objects could not be listed completely.
    """
    return status.build_report(listing.list_objects(transport, RESOURCES), ownership)


def wait_until_ready(
    transport: Transport,
    ownership: Ownership,
    keys: Collection[tuple[str, str]],
    deadline_seconds: float,
    clock: Clock,
) -> StatusReport:
    """Wait until objects are ready or the deadline is over, and return their last state.

    An error of the operator does not end the wait, because operators retry. A cluster that does
    not answer for a while does not end it either. Both are reported at once.

    Args:
        transport: The connection to the cluster.
        ownership: Decides which objects are ours.
        keys: The namespaces and names of the objects.
        deadline_seconds: How long to wait; 0 lists the objects once.
        clock: Passes the time and takes the progress.

    Raises:
        ClusterError: The first or the last listing failed.
    """
    return wait_for(partial(read_report, transport, ownership), keys, deadline_seconds, clock)


def wait_for(
    read: Callable[[], StatusReport],
    keys: Collection[tuple[str, str]],
    deadline_seconds: float,
    clock: Clock,
) -> StatusReport:
    """Wait as `wait_until_ready` does, for what a function reads.

    Raises:
        PicError: The first or the last reading failed.
    """
    # An error at the first reading is raised at once: nothing is known about the objects yet.
    wait = _Wait(read, keys, clock)
    end, pause = clock.now() + deadline_seconds, FIRST_PAUSE
    report = wait.poll()
    while not report.is_ready and (remaining := end - clock.now()) > 0:
        clock.sleep(min(pause, remaining))
        pause = min(pause * GROWTH, LONGEST_PAUSE)
        report = wait.poll_again(report)
    # After a failed listing, the last report may be out of date.
    if wait.error:
        raise wait.error
    return report


def wait_until_gone(
    transport: Transport, objects: Iterable[LiveResource], deadline_seconds: float, clock: Clock
) -> None:
    """Wait until objects that Kubernetes is deleting are gone, or until the deadline.

    Args:
        transport: The connection to the cluster.
        objects: The objects, each with its uid.
        deadline_seconds: How long to wait for all of them together.
        clock: Passes the time.

    Raises:
        ClusterError: No answer arrived, or not a list of objects.
    """
    end = clock.now() + deadline_seconds
    for live in objects:
        while _exists(transport, live) and clock.now() < end:
            clock.sleep(DELETION_PAUSE)


def _exists(transport: Transport, live: LiveResource) -> bool:
    """Say whether this very object exists, and not only another one of its name."""
    # Only a list is permitted in every namespace.
    listing_of_one = Listing(RESOURCES.kind, live.namespace)
    query = urlencode({"fieldSelector": f"metadata.name={live.name}"})
    try:
        answer = mapping(transport.get(f"{listing_of_one.path}?{query}"), "list")
    except listing.StatusError as error:
        raise listing.listing_error(listing_of_one, "list", error) from error
    items = [mapping(item, "items[]") for item in sequence(answer.get("items"), "items")]
    return any(mapping(item.get("metadata"), "metadata").get("uid") == live.uid for item in items)


@dataclass(slots=True)
class _Wait:
    """One wait: what it has reported already, and the error of its last listing."""

    read: Callable[[], StatusReport]
    keys: Collection[tuple[str, str]]
    clock: Clock
    error: PicError | None = None
    counts: str = ""
    failing: set[StatusRow] = field(default_factory=set)

    def poll(self) -> StatusReport:
        report = status.select_rows(self.read(), self.keys)
        self._tell_changes(report)
        return report

    def poll_again(self, last: StatusReport) -> StatusReport:
        """List the objects again; if that fails, keep the last report and remember the error."""
        try:
            report = self.poll()
        except (ClusterError, TargetError) as error:
            self.error = error
            self.clock.tell(str(error))
            return last
        self.error = None
        return report

    def _tell_changes(self, report: StatusReport) -> None:
        # An error that went away and came back is reported again.
        failing = {row for row in report.rows if row.readiness is ReadyState.ERROR}
        for row in sorted(failing - self.failing, key=lambda row: row.order):
            name = "/".join(row.key)
            self.clock.tell(f"{row.host or name} ({name}): {status.short_line(row.message)}")
        if (counts := status.counts_line(report)) != self.counts:
            self.clock.tell(counts)
        self.counts, self.failing = counts, failing
