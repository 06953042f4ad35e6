"""Answers whether the watcher is alive and ready, and serves its metrics.

The threads of the watcher report what happens. An answer is computed from those reports alone, so
it is cheap and waits for no other system. All times are seconds of one clock that never goes back,
except for the Unix time of the last success.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus

from pic.core.held import Verdict
from pic.core.model import Plan
from pic.core.notices import Notice, Reason
from pic.settings.parse import TargetName
from pic.watch import http_server, metrics, probes
from pic.watch.http_server import HttpPage
from pic.watch.metrics import MetricValues
from pic.watch.probes import Check, HealthState, MaxAges

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """Collects reports from all threads, and answers from them.

    Args:
        max_ages: How old the last sign of life may be.
        targets: The targets of the stack; each has a line in `/readyz`.
        version: The version of pic.
        clock: Seconds that never go back; the clock of every time in a report.
        wall: Returns Unix time.
    """

    def __init__(
        self,
        max_ages: MaxAges = probes.DEFAULT_MAX_AGES,
        targets: Iterable[str] = (TargetName.PANGOLIN,),
        version: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._max_ages, self._clock, self._wall = max_ages, clock, wall
        self._targets = tuple(sorted(str(target) for target in targets))
        self._lock = threading.Lock()
        now = clock()
        self._state = HealthState(started_at=now, beat_at=now)
        self._values = MetricValues(version)

    def beat(self, now: float) -> None:
        """Report that the loop has begun another round."""
        with self._lock:
            self._state.beat_at = now

    def contact(self, now: float) -> None:
        """Report that the API server has answered."""
        with self._lock:
            self._state.contact_at = now

    def synced(self, kind: str, *, ok: bool) -> None:
        """Report whether the store has all objects of a kind."""
        with self._lock:
            self._state.synced[kind] = ok

    def leading(self, *, yes: bool) -> None:
        """Report whether this watcher leads; without an election it does.

        A standby drops the values that it had as the leader, because the new leader reports them.
        """
        with self._lock:
            # The start period of readiness begins with the election, not with the process.
            if yes and not self._state.leading:
                self._state.started_at, self._state.checked_at = self._clock(), None
            elif not yes:
                self._state.failing, self._state.oldest_change_at = {}, None
                self._values = replace(
                    self._values,
                    hosts={},
                    notices={},
                    held={},
                    removals_refused=0,
                    last_success=None,
                )
            self._state.leading = yes
            self._values = replace(self._values, leader=yes)

    def queue(self, oldest_change_at: float | None) -> None:
        """Report since when the oldest change waits for a run; None if no change waits."""
        with self._lock:
            self._state.oldest_change_at = oldest_change_at

    def run_started(self, now: float) -> None:
        """Report that a run starts."""
        with self._lock:
            self._state.run_started_at = self._state.checked_at = now

    def run_ended(self, now: float, report: Mapping[str, object]) -> None:
        """Report how a run ended, or that an evaluation found nothing to do.

        Args:
            now: The current time.
            report: What `pic up --report` has written. A report without an exit code, as of a run
                that was killed, counts as an error.
        """
        outcome = metrics.run_outcome(report.get("exitCode"), report.get("changed"))
        failing = probes.failing_targets(report, self._targets)
        with self._lock:
            started_at, self._state.run_started_at = self._state.run_started_at, None
            self._state.checked_at = now
            self._state.failing = failing
            self._values = _with_run(self._values, outcome, started_at, now)
            if report.get("exitCode") == 0:
                self._values = replace(self._values, last_success=self._wall())

    def evaluated(self, plan: Plan, notices: Sequence[Notice], refused: int = 0) -> None:
        """Report a plan, its notices, and how many removals the guard refuses."""
        hosts = probes.host_counts(plan, notices, self._targets)
        counts = Counter(notice.reason.value for notice in notices)
        held = Counter(change.verdict for change in plan.held)
        with self._lock:
            self._state.checked_at = self._clock()
            self._values = replace(
                self._values,
                hosts=hosts,
                # A reason without a notice is 0 and not absent, so that alerts can compare it.
                notices={reason.value: counts[reason.value] for reason in Reason},
                held={verdict: held[verdict] for verdict in Verdict},
                removals_refused=refused,
            )

    @property
    def values(self) -> MetricValues:
        """The current values of the metrics."""
        now = self._clock()
        with self._lock:
            since = self._state.oldest_change_at
            return replace(self._values, queue_age=0.0 if since is None else max(0.0, now - since))

    def alive(self) -> list[Check]:
        """Return the checks of liveness; if one fails, the process needs a restart."""
        # A restart helps only if this process hangs. It would not help an API server that is down.
        now = self._clock()
        with self._lock:
            return [probes.check_age("loop", self._state.beat_at, now, self._max_ages.beat)]

    def ready(self) -> list[Check]:
        """Return the checks of readiness; if one fails, the stack may be out of date."""
        now = self._clock()
        with self._lock:
            return list(probes.ready(self._state, now, self._max_ages, self._targets))


def _with_run(
    values: MetricValues, outcome: str, started_at: float | None, now: float
) -> MetricValues:
    runs = {**values.runs, outcome: values.runs.get(outcome, 0) + 1}
    durations = values.durations
    # Without a start it was an evaluation that found nothing to do. Those are not timed.
    if started_at is not None:
        durations = durations.plus(max(0.0, now - started_at))
    return replace(values, runs=runs, durations=durations)


@contextmanager
def serve(address: tuple[str, int], health: Health) -> Iterator[int]:
    """Serve `/healthz`, `/readyz` and `/metrics` until the block ends, and yield the port.

    Args:
        address: Host and port; with port 0 the system chooses a free one.
        health: Answers the requests.

    Raises:
        SettingsError: The address cannot be used.
    """
    collectors = metrics.registry(lambda: health.values)
    pages: dict[str, Callable[[], HttpPage]] = {
        "/healthz": lambda: _page(health.alive()),
        "/readyz": lambda: _page(health.ready()),
        "/metrics": lambda: HttpPage(HTTPStatus.OK, metrics.exposition(collectors), EXPOSITION),
    }
    with http_server.serve(address, pages) as port:
        yield port


def _page(checks: Sequence[Check]) -> HttpPage:
    ok = all(check.ok for check in checks)
    body = "".join(f"{check}\n" for check in checks).encode()
    return HttpPage(HTTPStatus.OK if ok else HTTPStatus.SERVICE_UNAVAILABLE, body)
