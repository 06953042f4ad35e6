"""What the watcher says of itself: is it alive, is it ready, and its metrics. It asks nobody.

Whoever watches or runs tells it what happened; from that alone it answers, so that an answer costs
nothing and waits for nothing. All times are seconds of one clock that only grows, save one.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus

from pic.core.model import Plan
from pic.core.notices import Notice, Reason
from pic.settings.parse import TargetName
from pic.watch import http_server, metrics, probes
from pic.watch.http_server import HttpPage
from pic.watch.metrics import MetricValues
from pic.watch.probes import Check, HealthState, MaxAges

EXPOSITION = "text/plain; version=0.0.4; charset=utf-8"


class Health:
    """Is told what happens, by any thread, and answers whether all is well.

    Args:
        limits: How old what is known may be.
        targets: Those of the settings, each of which has a line.
        version: Of pic.
        clock: Of every time that is told.
        wall: Unix time.
    """

    def __init__(
        self,
        limits: MaxAges = probes.DEFAULT_MAX_AGES,
        targets: Iterable[str] = (TargetName.PANGOLIN,),
        version: str = "",
        *,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._limits, self._clock, self._wall = limits, clock, wall
        self._targets = tuple(sorted(str(each) for each in targets))
        self._lock = threading.Lock()
        now = clock()
        self._known = HealthState(since=now, beat=now)
        self._figures = MetricValues(version)

    def beat(self, now: float) -> None:
        """Say that the loop goes round."""
        with self._lock:
            self._known.beat = now

    def contact(self, now: float) -> None:
        """Say that the API server has answered."""
        with self._lock:
            self._known.contact = now

    def synced(self, kind: str, ok: bool) -> None:  # noqa: FBT001 - the name says what it is
        """Say whether what is known of a kind is what the API server has."""
        with self._lock:
            self._known.synced[kind] = ok

    def leading(self, yes: bool) -> None:  # noqa: FBT001 - the name says what it is
        """Say whether this watcher may act; without an election it may.

        What a standby once knew is another's to tell.
        """
        with self._lock:
            if yes and not self._known.leading:
                self._known.since, self._known.looked = self._clock(), None
            elif not yes:
                self._known.failing, self._known.queued = {}, None
                self._figures = replace(
                    self._figures, hosts={}, notices={}, removals_refused=0, last_success=None
                )
            self._known.leading = yes
            self._figures = replace(self._figures, leader=yes)

    def queue(self, oldest_change_at: float | None) -> None:
        """Say since when the oldest change waits; None where none does."""
        with self._lock:
            self._known.queued = oldest_change_at

    def run_started(self, now: float) -> None:
        """Say that a run begins."""
        with self._lock:
            self._known.running = self._known.looked = now

    def run_ended(self, now: float, report: Mapping[str, object]) -> None:
        """Say how a run ended, or that a look found nothing to do.

        Args:
            now: When.
            report: As `pic up --report` writes it. Without an exit code, as of a run that was
                ended because it took too long, it is an error.
        """
        ended = metrics.run_outcome(report.get("exitCode"), report.get("changed"))
        failing = probes.failing_targets(report, self._targets)
        with self._lock:
            began, self._known.running = self._known.running, None
            self._known.looked = now
            self._known.failing = failing
            self._figures = _with_run(self._figures, ended, began, now)
            if report.get("exitCode") == 0:
                self._figures = replace(self._figures, last_success=self._wall())

    def evaluated(self, plan: Plan, notices: Sequence[Notice], refused: int = 0) -> None:
        """Say what is to be, and how many removals of that the guard refuses."""
        hosts = probes.host_counts(plan, notices, self._targets)
        reasons = Counter(each.reason.value for each in notices)
        with self._lock:
            self._known.looked = self._clock()
            self._figures = replace(
                self._figures,
                hosts=hosts,
                notices={each.value: reasons[each.value] for each in Reason},
                removals_refused=refused,
            )

    @property
    def figures(self) -> MetricValues:
        """What metrics are made of."""
        now = self._clock()
        with self._lock:
            queued = self._known.queued
            return replace(
                self._figures, queue_age=0.0 if queued is None else max(0.0, now - queued)
            )

    def alive(self) -> list[Check]:
        """Return whether the process still does its work; if not, it should be started again."""
        now = self._clock()
        with self._lock:
            return [probes.check_age("loop", self._known.beat, now, self._limits.beat)]

    def ready(self) -> list[Check]:
        """Return whether what it does can be relied on, as far as is known."""
        now = self._clock()
        with self._lock:
            return list(probes.ready(self._known, now, self._limits, self._targets))


def _with_run(figures: MetricValues, ended: str, began: float | None, now: float) -> MetricValues:
    runs = {**figures.runs, ended: figures.runs.get(ended, 0) + 1}
    durations = figures.durations
    return replace(
        figures,
        runs=runs,
        durations=durations if began is None else durations.plus(max(0.0, now - began)),
    )


@contextmanager
def serve(address: tuple[str, int], health: Health) -> Iterator[int]:
    """Serve `/healthz`, `/readyz` and `/metrics` until the block ends, and yield the port.

    Args:
        address: Host and port; port 0 is any free one.
        health: What is served.

    Raises:
        SettingsError: Nothing can be served there.
    """
    registry = metrics.registry(lambda: health.figures)
    pages: dict[str, Callable[[], HttpPage]] = {
        "/healthz": lambda: _page(health.alive()),
        "/readyz": lambda: _page(health.ready()),
        "/metrics": lambda: HttpPage(HTTPStatus.OK, metrics.exposition(registry), EXPOSITION),
    }
    with http_server.serve(address, pages) as port:
        yield port


def _page(lines: Sequence[Check]) -> HttpPage:
    ok = all(each.ok for each in lines)
    body = "".join(f"{each}\n" for each in lines).encode()
    return HttpPage(HTTPStatus.OK if ok else HTTPStatus.SERVICE_UNAVAILABLE, body)
