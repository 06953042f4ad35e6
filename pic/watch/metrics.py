"""Exposes metrics to Prometheus; each scrape builds them from plain values."""

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

# In seconds. A run takes from half a second to some minutes (docs/performance.md).
BUCKETS = (0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_BY_EXIT_CODE = {2: "settings", 3: "refused", 4: "locked", 5: "unreachable", 6: "failed"}
# All outcomes are exposed from the start. For a counter that first appears with the value 1,
# increase() in Prometheus would return 0.
OUTCOMES = ("changed", "unchanged", *_BY_EXIT_CODE.values(), "error")


@dataclass(frozen=True, slots=True)
class Histogram:
    """Durations in seconds, counted by `BUCKETS`; the last count is of the longer ones."""

    counts: tuple[int, ...] = (0,) * (len(BUCKETS) + 1)
    total: float = 0.0

    def plus(self, seconds: float) -> "Histogram":
        """Return this histogram with one more duration."""
        index = sum(seconds > bound for bound in BUCKETS)
        counts = (*self.counts[:index], self.counts[index] + 1, *self.counts[index + 1 :])
        return Histogram(counts, self.total + seconds)

    @property
    def cumulative(self) -> list[tuple[str, float]]:
        """The bound of each bucket, with the number of durations up to it."""
        bounds = [*(str(bound) for bound in BUCKETS), "+Inf"]
        return [(bound, sum(self.counts[: index + 1])) for index, bound in enumerate(bounds)]


@dataclass(frozen=True, slots=True)
class MetricValues:
    """The values of all metrics.

    Hosts and notices are empty before the first plan, because a 0 would look like a loss.

    Attributes:
        runs: The number of runs that ended, by outcome.
        last_success: Unix time in seconds; None before the first success.
        hosts: The number of hosts by target and state; empty before the first plan.
        notices: The number of notices by reason; empty before the first plan.
        held: The number of changes that wait for an acknowledgement, by verdict; empty before the
            first plan.
        removals_refused: How many removals the guard refuses now.
        queue_age: How long the oldest change has waited for a run, in seconds.
    """

    version: str
    runs: Mapping[str, int] = field(default_factory=dict)
    durations: Histogram = Histogram()
    last_success: float | None = None
    hosts: Mapping[tuple[str, str], int] = field(default_factory=dict)
    notices: Mapping[str, int] = field(default_factory=dict)
    held: Mapping[str, int] = field(default_factory=dict)
    removals_refused: int = 0
    queue_age: float = 0.0
    leader: bool = False


def run_outcome(exit_code: object, changed: object) -> str:
    """Return the outcome of a run, one of `OUTCOMES`, from the fields of its report."""
    if exit_code == 0:
        return "changed" if changed else "unchanged"
    return _BY_EXIT_CODE.get(exit_code, "error") if isinstance(exit_code, int) else "error"


def families(values: MetricValues) -> Iterable[Metric]:
    """Return all metrics of pic."""
    # The library adds the suffix `_info` or `_total` to the names where Prometheus expects it.
    return (
        InfoMetricFamily("pic_build", "The version of pic.", {"version": values.version}),
        _runs(values),
        HistogramMetricFamily(
            "pic_run_duration_seconds",
            "How long the runs took that the watcher started.",
            buckets=values.durations.cumulative,
            sum_value=values.durations.total,
        ),
        _last_success(values),
        _hosts(values),
        _notices(values),
        _held(values),
        GaugeMetricFamily(
            "pic_removals_refused",
            "Removals that the guard refuses now.",
            values.removals_refused,
        ),
        GaugeMetricFamily(
            "pic_queue_age_seconds",
            "How long the oldest change has waited for a run that includes it; 0 if none waits.",
            values.queue_age,
        ),
        GaugeMetricFamily(
            "pic_leader", "1 if this watcher holds the Lease, 0 if it is a standby.", values.leader
        ),
    )


def _runs(values: MetricValues) -> Metric:
    family = CounterMetricFamily("pic_runs", "Runs that ended, by outcome.", labels=["outcome"])
    for name in OUTCOMES:
        family.add_metric([name], values.runs.get(name, 0))
    return family


def _last_success(values: MetricValues) -> Metric:
    family = GaugeMetricFamily(
        "pic_last_success_timestamp_seconds",
        "When the cluster last matched its Ingresses, as Unix time.",
    )
    # Absent before the first success: a 0 would be a success in 1970.
    if values.last_success is not None:
        family.add_metric([], values.last_success)
    return family


def _hosts(values: MetricValues) -> Metric:
    family = GaugeMetricFamily(
        "pic_hosts",
        "Hosts of the last plan, by target and state.",
        labels=["target", "state"],
    )
    for (target, state), count in sorted(values.hosts.items()):
        family.add_metric([target, state], count)
    return family


def _notices(values: MetricValues) -> Metric:
    family = GaugeMetricFamily(
        "pic_notices", "Notices of the last plan, by reason.", labels=["reason"]
    )
    for reason, count in sorted(values.notices.items()):
        family.add_metric([reason], count)
    return family


def _held(values: MetricValues) -> Metric:
    family = GaugeMetricFamily(
        "pic_held", "Changes that wait for an acknowledgement, by verdict.", labels=["verdict"]
    )
    for verdict, count in sorted(values.held.items()):
        family.add_metric([verdict], count)
    return family


class _PicCollector(Collector):
    def __init__(self, read: Callable[[], MetricValues]) -> None:
        self._read = read

    def collect(self) -> Iterable[Metric]:
        return families(self._read())


def registry(read: Callable[[], MetricValues]) -> CollectorRegistry:
    """Return a registry with the metrics of pic and of this process.

    Args:
        read: Returns the current values; called at each scrape.
    """
    collectors = CollectorRegistry()
    collectors.register(_PicCollector(read))
    ProcessCollector(registry=collectors)
    return collectors


def exposition(collectors: CollectorRegistry) -> bytes:
    """Return the answer to a scrape, in the Prometheus text format 0.0.4."""
    return generate_latest(collectors)
