"""Tests what a watcher answers about its health, from the reports that it got."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pic.core.held import Held, Verdict
from pic.core.model import Family, Plan, Record, Resource, Spec
from pic.core.notices import Notice, Reason, Ref
from pic.watch.health import Health
from pic.watch.metrics import Histogram, MetricValues
from pic.watch.probes import MaxAges

WEB = Ref("Ingress", "prod", "web")
CHANGED = {"version": 1, "exitCode": 0, "changed": {"create": 2}, "failures": [], "error": None}
UNCHANGED = {**CHANGED, "changed": {}}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def new_health(clock: Clock, *targets: str) -> Health:
    return Health(MaxAges(), targets or ("pangolin",), "1", clock=clock, wall=lambda: 5.0)


def leading_health(clock: Clock, *targets: str) -> Health:
    """Return the health of a leader whose checks all pass."""
    health = new_health(clock, *targets)
    health.leading(yes=True)
    health.contact(clock.now)
    health.synced("Ingress", ok=True)
    health.run_ended(clock.now, CHANGED)
    return health


def ready(health: Health) -> list[str]:
    return [str(check) for check in health.ready()]


def failure(target: str, failure_class: str) -> dict[str, object]:
    return {
        "target": target,
        "class": failure_class,
        "host": "a.example",
        "message": "secret words",
    }


def resource(host: str, *, held: bool = False) -> Resource:
    return Resource(host, "prod", host, (), {}, Spec(), held)


# Alive.


def test_a_loop_with_a_recent_beat_is_alive() -> None:
    clock = Clock()
    health = new_health(clock)

    clock.now += 60
    assert [str(check) for check in health.alive()] == ["[+]loop"]
    clock.now += 1
    assert [str(check) for check in health.alive()] == [
        "[-]loop: the last one was 61 s ago, limit 60 s"
    ]
    health.beat(clock.now)
    assert [str(check) for check in health.alive()] == ["[+]loop"]


# Ready.


def test_a_watcher_is_not_ready_before_the_first_election() -> None:
    assert ready(new_health(Clock())) == ["[-]leader: not known yet"]


def test_a_standby_is_ready() -> None:
    health = new_health(Clock())
    health.leading(yes=False)

    assert ready(health) == ["[+]leader: standby"]


def test_a_new_leader_is_not_ready_before_its_caches_are_synced() -> None:
    health = new_health(Clock())
    health.leading(yes=True)

    assert ready(health) == [
        "[+]leader",
        "[-]api: none yet",
        "[-]caches: none yet",
        "[+]run: none yet",
        "[+]target pangolin",
    ]


def test_a_leader_with_synced_caches_is_ready_before_its_first_run() -> None:
    health = new_health(Clock())
    health.leading(yes=True)
    health.contact(1000)
    health.synced("Service", ok=True)
    health.synced("Ingress", ok=True)

    assert ready(health) == [
        "[+]leader",
        "[+]api",
        "[+]cache Ingress",
        "[+]cache Service",
        "[+]run: none yet",
        "[+]target pangolin",
    ]


def test_a_leader_without_a_run_is_not_ready_after_the_start_period() -> None:
    clock = Clock()
    health = new_health(clock)
    health.leading(yes=True)

    clock.now += 30
    assert "[+]run: none yet" in ready(health)
    clock.now += 1
    assert "[-]run: none yet" in ready(health)
    health.run_started(clock.now)
    assert "[+]run" in ready(health)


def test_a_late_leader_has_the_whole_start_period_for_its_first_run() -> None:
    clock = Clock()
    health = leading_health(clock)
    health.leading(yes=False)
    clock.now += 5000

    health.leading(yes=True)
    clock.now += 30

    assert "[+]run: none yet" in ready(health)


def test_a_repeated_report_of_leading_does_not_extend_the_start_period() -> None:
    clock = Clock()
    health = new_health(clock)
    health.leading(yes=True)

    clock.now += 31
    health.leading(yes=True)

    assert "[-]run: none yet" in ready(health)


def test_each_check_that_is_too_old_shows_its_age() -> None:
    clock = Clock()
    health = leading_health(clock)

    health.synced("Ingress", ok=False)
    clock.now += 1501

    assert ready(health) == [
        "[+]leader",
        "[-]api: the last one was 1501 s ago, limit 90 s",
        "[-]cache Ingress: not synced",
        "[-]run: the last one was 1501 s ago, limit 1500 s",
        "[+]target pangolin",
    ]


def test_an_evaluation_counts_for_the_age_of_the_last_run() -> None:
    clock = Clock()
    health = leading_health(clock)

    clock.now += 1501
    health.evaluated(Plan(), ())

    assert "[+]run" in ready(health)


@pytest.mark.parametrize(
    ("report", "pangolin", "pihole"),
    [
        (CHANGED, "[+]target pangolin", "[+]target pihole"),
        ({"exitCode": 3}, "[+]target pangolin", "[+]target pihole"),
        (
            {"exitCode": 5, "error": "no answer from https://secret"},
            "[-]target pangolin: the last run could not reach a system that it needs; see its log",
            "[-]target pihole: the last run could not reach a system that it needs; see its log",
        ),
        (
            {
                "exitCode": 6,
                "failures": [
                    failure("pihole", "temporary"),
                    failure("pihole", "auth"),
                    failure("pihole", "temporary"),
                    failure("pangolin", "invalid"),
                ],
            },
            "[+]target pangolin",
            "[-]target pihole: the last run failed: 1 auth, 2 temporary",
        ),
        ({"exitCode": 6, "failures": 3}, "[+]target pangolin", "[+]target pihole"),
        ({"exitCode": 6, "failures": [3]}, "[+]target pangolin", "[+]target pihole"),
    ],
)
def test_a_target_has_the_state_of_the_last_run(
    report: dict[str, object], pangolin: str, pihole: str
) -> None:
    clock = Clock()
    health = leading_health(clock, "pihole", "pangolin")

    health.run_ended(clock.now, report)

    assert ready(health)[-2:] == [pangolin, pihole]


def test_a_target_is_ready_again_after_a_successful_run() -> None:
    clock = Clock()
    health = leading_health(clock)
    health.run_ended(clock.now, {"exitCode": 5})

    health.run_ended(clock.now, CHANGED)

    assert all(check.ok for check in health.ready())


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 1500), (5, 1500), (60, 8100)])
def test_the_allowed_age_of_a_run_follows_the_resync_period(minutes: int, seconds: float) -> None:
    assert MaxAges.for_resync(timedelta(minutes=minutes), 900) == MaxAges(run=seconds)


# Metrics.


def test_without_reports_all_metrics_are_empty() -> None:
    assert new_health(Clock()).values == MetricValues("1")


def test_runs_are_counted_and_timed() -> None:
    clock = Clock()
    health = new_health(clock)

    health.run_started(1000)
    health.run_ended(1003, CHANGED)
    health.run_ended(1010, UNCHANGED)
    health.run_ended(1020, UNCHANGED)

    assert health.values == MetricValues(
        "1",
        runs={"changed": 1, "unchanged": 2},
        durations=Histogram().plus(3),
        last_success=5.0,
    )


def test_a_failed_run_does_not_count_as_a_success() -> None:
    health = new_health(Clock())

    health.run_ended(1003, {"exitCode": 6})
    health.run_ended(1003, {})

    assert health.values == MetricValues("1", runs={"failed": 1, "error": 1})


def test_a_leader_exposes_that_it_leads() -> None:
    health = new_health(Clock())
    health.leading(yes=True)

    assert health.values == MetricValues("1", leader=True)


def test_a_former_leader_exposes_only_the_runs_that_it_did() -> None:
    clock = Clock()
    health = leading_health(clock)
    health.queue(900)
    health.evaluated(Plan((resource("a.example"),)), (), refused=1)

    health.leading(yes=False)

    assert health.values == MetricValues("1", runs={"changed": 1})


def test_the_queue_age_grows_until_the_change_is_deployed() -> None:
    clock = Clock()
    health = new_health(clock)

    health.queue(999)
    clock.now += 4
    assert health.values == MetricValues("1", queue_age=5.0)
    health.queue(None)
    assert health.values == MetricValues("1")


def test_hosts_and_notices_are_those_of_the_last_plan() -> None:
    health = new_health(Clock(), "pangolin", "pihole")
    notices = (
        Notice(Reason.TUNNEL_NOT_FOUND, WEB, "held", "b.example"),
        Notice(Reason.HOST_CONFLICT, WEB, "belongs to another Ingress", "c.example"),
        Notice(Reason.HOST_CONFLICT, WEB, "belongs to another Ingress", "d.example"),
        Notice(Reason.SOLVER_IGNORED, WEB, "only normal", "e.example"),
        Notice(Reason.NO_RULES, WEB, "about no host"),
    )
    record = Record("c.example", "192.0.2.1", ())
    ipv6 = replace(record, ip="2001:db8::1")
    resources = (resource("a.example"), resource("b.example", held=True))
    assert (record.key[1], ipv6.key[1]) == (Family.A, Family.AAAA)
    health.evaluated(Plan((resource("old.example"),)), ())

    held = Held("a.example", Verdict.MOVED, "prod", "prod", "team", "why", "0" * 16)
    health.evaluated(Plan(resources, (record, ipv6), held=(held, held)), notices, refused=4)

    counts = {"TunnelNotFound": 1, "HostConflict": 2, "SolverIgnored": 1, "NoRules": 1}
    assert health.values == MetricValues(
        "1",
        hosts={
            ("pangolin", "declared"): 1,
            ("pangolin", "held"): 1,
            ("pangolin", "refused"): 1,
            ("pihole", "declared"): 1,
            ("pihole", "held"): 0,
            ("pihole", "refused"): 1,
        },
        notices={reason.value: counts.get(reason.value, 0) for reason in Reason},
        held={verdict: 2 if verdict == "moved" else 0 for verdict in Verdict},
        removals_refused=4,
    )
