"""Tests the metrics as Prometheus reads them, word for word."""

import pytest

from pic.watch import metrics
from pic.watch.metrics import BUCKETS, OUTCOMES, Histogram, MetricValues

AT_START = """\
# HELP pic_build_info The version of pic.
# TYPE pic_build_info gauge
pic_build_info{version="1.2.3"} 1.0
# HELP pic_runs_total Runs that ended, by outcome.
# TYPE pic_runs_total counter
pic_runs_total{outcome="changed"} 0.0
pic_runs_total{outcome="unchanged"} 0.0
pic_runs_total{outcome="settings"} 0.0
pic_runs_total{outcome="refused"} 0.0
pic_runs_total{outcome="locked"} 0.0
pic_runs_total{outcome="unreachable"} 0.0
pic_runs_total{outcome="failed"} 0.0
pic_runs_total{outcome="error"} 0.0
# HELP pic_run_duration_seconds How long the runs took that the watcher started.
# TYPE pic_run_duration_seconds histogram
pic_run_duration_seconds_bucket{le="0.5"} 0.0
pic_run_duration_seconds_bucket{le="1.0"} 0.0
pic_run_duration_seconds_bucket{le="2.5"} 0.0
pic_run_duration_seconds_bucket{le="5.0"} 0.0
pic_run_duration_seconds_bucket{le="10.0"} 0.0
pic_run_duration_seconds_bucket{le="30.0"} 0.0
pic_run_duration_seconds_bucket{le="60.0"} 0.0
pic_run_duration_seconds_bucket{le="120.0"} 0.0
pic_run_duration_seconds_bucket{le="300.0"} 0.0
pic_run_duration_seconds_bucket{le="600.0"} 0.0
pic_run_duration_seconds_bucket{le="+Inf"} 0.0
pic_run_duration_seconds_count 0.0
pic_run_duration_seconds_sum 0.0
# HELP pic_last_success_timestamp_seconds When the cluster last matched its Ingresses, as Unix\
 time.
# TYPE pic_last_success_timestamp_seconds gauge
# HELP pic_hosts Hosts of the last plan, by target and state.
# TYPE pic_hosts gauge
# HELP pic_notices Notices of the last plan, by reason.
# TYPE pic_notices gauge
# HELP pic_held Changes that wait for an acknowledgement, by verdict.
# TYPE pic_held gauge
# HELP pic_removals_refused Removals that the guard refuses now.
# TYPE pic_removals_refused gauge
pic_removals_refused 0.0
# HELP pic_queue_age_seconds How long the oldest change has waited for a run that includes it;\
 0 if none waits.
# TYPE pic_queue_age_seconds gauge
pic_queue_age_seconds 0.0
# HELP pic_leader 1 if this watcher holds the Lease, 0 if it is a standby.
# TYPE pic_leader gauge
pic_leader 0.0
"""


def samples(values: MetricValues) -> list[str]:
    """Return the lines of pic itself, without those of the process."""
    text = metrics.exposition(metrics.registry(lambda: values)).decode()
    return [line for line in text.splitlines() if line.startswith("pic_")]


def test_at_the_start_counters_are_zero_and_unknown_gauges_are_absent() -> None:
    text = metrics.exposition(metrics.registry(lambda: MetricValues("1.2.3"))).decode()

    assert text[: text.index("# HELP process_")] == AT_START


def test_every_value_is_exposed() -> None:
    values = MetricValues(
        "1.2.3",
        runs={"changed": 2, "failed": 1},
        last_success=1_767_323_045.5,
        hosts={("pihole", "held"): 1, ("pangolin", "held"): 2, ("pangolin", "declared"): 30},
        notices={"TunnelNotFound": 2, "HostConflict": 1},
        held={"weakened": 2, "moved": 1},
        removals_refused=7,
        queue_age=3.5,
        leader=True,
    )

    at_start = samples(MetricValues("1.2.3"))
    assert [line for line in samples(values) if line not in at_start] == [
        'pic_runs_total{outcome="changed"} 2.0',
        'pic_runs_total{outcome="failed"} 1.0',
        "pic_last_success_timestamp_seconds 1.7673230455e+09",
        'pic_hosts{state="declared",target="pangolin"} 30.0',
        'pic_hosts{state="held",target="pangolin"} 2.0',
        'pic_hosts{state="held",target="pihole"} 1.0',
        'pic_notices{reason="HostConflict"} 1.0',
        'pic_notices{reason="TunnelNotFound"} 2.0',
        'pic_held{verdict="moved"} 1.0',
        'pic_held{verdict="weakened"} 2.0',
        "pic_removals_refused 7.0",
        "pic_queue_age_seconds 3.5",
        "pic_leader 1.0",
    ]


def test_the_process_metrics_have_the_standard_names() -> None:
    text = metrics.exposition(metrics.registry(lambda: MetricValues("1"))).decode()

    assert [line.split()[0] for line in text.splitlines() if line.startswith("process_")] == [
        "process_virtual_memory_bytes",
        "process_resident_memory_bytes",
        "process_start_time_seconds",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_max_fds",
    ]


def test_a_duration_counts_in_its_bucket_and_all_longer_ones() -> None:
    histogram = Histogram().plus(0.5).plus(0.6).plus(700.0)

    assert histogram == Histogram((1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1), 701.1)
    counts = [1, *[2] * 9, 3]
    bounds = [*map(str, BUCKETS), "+Inf"]
    assert histogram.cumulative == list(zip(bounds, counts, strict=True))


@pytest.mark.parametrize(
    ("exit_code", "changed", "outcome"),
    [
        (0, {"create": 1}, "changed"),
        (0, {}, "unchanged"),
        (0, None, "unchanged"),
        (1, {}, "error"),
        (2, {}, "settings"),
        (3, {}, "refused"),
        (4, {}, "locked"),
        (5, {}, "unreachable"),
        (6, {"create": 1}, "failed"),
        (-9, {}, "error"),
        (None, None, "error"),
        ("0", {}, "error"),
    ],
)
def test_a_run_has_one_outcome(exit_code: object, changed: object, outcome: str) -> None:
    assert metrics.run_outcome(exit_code, changed) == outcome
    assert outcome in OUTCOMES
