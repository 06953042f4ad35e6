"""What Prometheus is told: figures as values, each metric made anew of them at every scrape."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

BUCKETS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_OUTCOMES = {2: "settings", 3: "refused", 4: "locked", 5: "unreachable", 6: "failed"}
# Every one is told from the start: a counter that appears with 1 has no increase.
OUTCOMES = ("changed", "unchanged", *_OUTCOMES.values(), "error")


@dataclass(frozen=True, slots=True)
class Histogram:
    """Durations in seconds, counted by `BUCKETS`; the last count is of the longer ones."""

    counts: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    total: float = 0.0

    def plus(self, seconds: float) -> "Histogram":
        """Return this histogram with one more duration."""
        at = sum(seconds > bound for bound in BUCKETS)
        counts = (*self.counts[:at], self.counts[at] + 1, *self.counts[at + 1 :])
        return Histogram(counts, self.total + seconds)

    @property
    def cumulative(self) -> list[tuple[str, float]]:
        """The bound of each bucket, and how many were no longer."""
        bounds = [*(str(bound) for bound in BUCKETS), "+Inf"]
        return [(bound, sum(self.counts[: at + 1])) for at, bound in enumerate(bounds)]


@dataclass(frozen=True, slots=True)
class MetricValues:
    """Everything that is told.

    Attributes:
        runs: Runs by outcome, of those that ended.
        last_success: Unix time in seconds; None before the first.
        hosts: By target and state; empty before the first plan, as is `notices`.
        removals_refused: How many the guard refuses now.
        queue_age: How long the oldest change waits for a run, in seconds.
    """

    version: str
    runs: Mapping[str, int] = field(default_factory=dict)
    durations: Histogram = Histogram()
    last_success: float | None = None
    hosts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notices: Mapping[str, int] = field(default_factory=dict)
    removals_refused: int = 0
    queue_age: float = 0.0
    leader: bool = False


def run_outcome(exit_code: object, changed: object) -> str:
    """Return how a run ended, in one of `OUTCOMES`, from what its report says."""
    if exit_code == 0:
        return "changed" if changed else "unchanged"
    return _OUTCOMES.get(exit_code, "error") if isinstance(exit_code, int) else "error"


def families(figures: MetricValues) -> Iterable[Metric]:
    """Return every metric of pic."""
    return (
        InfoMetricFamily("pic_build", "Which pic this is.", {"version": figures.version}),
        _runs(figures),
        HistogramMetricFamily(
            "pic_run_duration_seconds",
            "How long runs took that were started.",
            buckets=figures.durations.cumulative,
            sum_value=figures.durations.total,
        ),
        _last_success(figures),
        _hosts(figures),
        _notices(figures),
        GaugeMetricFamily(
            "pic_removals_refused",
            "Removals that the guard refuses now.",
            figures.removals_refused,
        ),
        GaugeMetricFamily(
            "pic_queue_age_seconds",
            "How long the oldest change waits for a run to end that includes it; 0 without one.",
            figures.queue_age,
        ),
        GaugeMetricFamily(
            "pic_leader", "1 where this watcher holds the Lease, 0 on a standby.", figures.leader
        ),
    )


def _runs(figures: MetricValues) -> Metric:
    found = CounterMetricFamily("pic_runs", "Runs that ended, by outcome.", labels=["outcome"])
    for each in OUTCOMES:
        found.add_metric([each], figures.runs.get(each, 0))
    return found


def _last_success(figures: MetricValues) -> Metric:
    found = GaugeMetricFamily(
        "pic_last_success_timestamp_seconds",
        "When the cluster was last found, or made, as the Ingresses ask.",
    )
    if figures.last_success is not None:
        found.add_metric([], figures.last_success)
    return found


def _hosts(figures: MetricValues) -> Metric:
    found = GaugeMetricFamily(
        "pic_hosts",
        "Hosts of the last plan, by target and state.",
        labels=["target", "state"],
    )
    for (target, state), count in sorted(figures.hosts.items()):
        found.add_metric([target, state], count)
    return found


def _notices(figures: MetricValues) -> Metric:
    found = GaugeMetricFamily(
        "pic_notices", "Notices of the last plan, by reason.", labels=["reason"]
    )
    for reason, count in sorted(figures.notices.items()):
        found.add_metric([reason], count)
    return found


class _Pic(Collector):
    def __init__(self, read: Callable[[], MetricValues]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        return families(self._read())


def registry(read: Callable[[], MetricValues]) -> CollectorRegistry:
    """Return a registry of these figures and of this process."""
    made = CollectorRegistry()
    made.register(_Pic(read))
    ProcessCollector(registry=made)
    return made


def exposition(of: CollectorRegistry) -> bytes:
    """Return what a scrape is answered with, in Prometheus's text format 0.0.4."""
    return generate_latest(of)
