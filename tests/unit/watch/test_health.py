"""What a watcher says of itself, from what it was told."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pic.core.model import (
    Family,
    Plan,
    Record,
    Resource,
    Spec,
)
from pic.core.notices import Notice, Reason, Ref
from pic.watch.health import Health
from pic.watch.metrics import Histogram, MetricValues
from pic.watch.probes import MaxAges

WEB = Ref("Ingress", "prod", "web")
DONE = {"version": 1, "exitCode": 0, "changed": {"create": 2}, "failures": [], "error": None}
SAME = {**DONE, "changed": {}}


class Clock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def made(clock: Clock, *targets: str) -> Health:
    return Health(MaxAges(), targets or ("pangolin",), "1", clock=clock, wall=lambda: 5.0)


def leading(clock: Clock, *targets: str) -> Health:
    """Return the health of a watcher for which all is well."""
    health = made(clock, *targets)
    health.leading(yes=True)
    health.contact(clock.now)
    health.synced("Ingress", ok=True)
    health.run_ended(clock.now, DONE)
    return health


def ready(health: Health) -> list[str]:
    return [str(each) for each in health.ready()]


def failure(target: str, kind: str) -> dict[str, object]:
    return {"target": target, "class": kind, "host": "a.example", "message": "secret words"}


def resource(host: str, *, held: bool = False) -> Resource:
    return Resource(host, "prod", host, (), {}, Spec(), held)


# Alive.


def test_a_loop_that_goes_round_is_alive() -> None:
    clock = Clock()
    health = made(clock)

    clock.now += 60
    assert [str(each) for each in health.alive()] == ["[+]loop"]
    clock.now += 1
    assert [str(each) for each in health.alive()] == [
        "[-]loop: the last one was 61 s ago, allowed is 60 s"
    ]
    health.beat(clock.now)
    assert [str(each) for each in health.alive()] == ["[+]loop"]


# Ready.


def test_nothing_is_ready_before_it_is_known_who_leads() -> None:
    assert ready(made(Clock())) == ["[-]leader: not known yet"]


def test_a_standby_is_ready() -> None:
    health = made(Clock())
    health.leading(yes=False)

    assert ready(health) == ["[+]leader: standby"]


def test_a_leader_that_begins_is_not_ready_before_its_caches_are_synced() -> None:
    health = made(Clock())
    health.leading(yes=True)

    assert ready(health) == [
        "[+]leader",
        "[-]api: none yet",
        "[-]caches: none yet",
        "[+]run: none yet",
        "[+]target pangolin",
    ]


def test_a_leader_with_synced_caches_is_ready_before_its_first_run() -> None:
    health = made(Clock())
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


def test_a_leader_that_never_runs_is_not_ready_after_a_while() -> None:
    clock = Clock()
    health = made(clock)
    health.leading(yes=True)

    clock.now += 30
    assert "[+]run: none yet" in ready(health)
    clock.now += 1
    assert "[-]run: none yet" in ready(health)
    health.run_started(clock.now)
    assert "[+]run" in ready(health)


def test_who_is_chosen_late_has_as_long_for_its_first_run() -> None:
    clock = Clock()
    health = leading(clock)
    health.leading(yes=False)
    clock.now += 5000

    health.leading(yes=True)
    clock.now += 30

    assert "[+]run: none yet" in ready(health)


def test_who_is_told_again_that_it_leads_has_no_more_time() -> None:
    clock = Clock()
    health = made(clock)
    health.leading(yes=True)

    clock.now += 31
    health.leading(yes=True)

    assert "[-]run: none yet" in ready(health)


def test_each_thing_that_is_too_old_says_so() -> None:
    clock = Clock()
    health = leading(clock)

    health.synced("Ingress", ok=False)
    clock.now += 1501

    assert ready(health) == [
        "[+]leader",
        "[-]api: the last one was 1501 s ago, allowed is 90 s",
        "[-]cache Ingress: not synced",
        "[-]run: the last one was 1501 s ago, allowed is 1500 s",
        "[+]target pangolin",
    ]


def test_a_plan_that_asks_for_no_run_is_a_look_as_well() -> None:
    clock = Clock()
    health = leading(clock)

    clock.now += 1501
    health.evaluated(Plan(), ())

    assert "[+]run" in ready(health)


@pytest.mark.parametrize(
    ("report", "pangolin", "pihole"),
    [
        (DONE, "[+]target pangolin", "[+]target pihole"),
        ({"exitCode": 3}, "[+]target pangolin", "[+]target pihole"),
        (
            {"exitCode": 5, "error": "no answer from https://secret"},
            "[-]target pangolin: the last run found something unreachable; its log says what",
            "[-]target pihole: the last run found something unreachable; its log says what",
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
def test_a_target_is_as_the_last_run_saw_it(
    report: dict[str, object], pangolin: str, pihole: str
) -> None:
    clock = Clock()
    health = leading(clock, "pihole", "pangolin")

    health.run_ended(clock.now, report)

    assert ready(health)[-2:] == [pangolin, pihole]


def test_a_target_is_well_again_after_a_run_that_was() -> None:
    clock = Clock()
    health = leading(clock)
    health.run_ended(clock.now, {"exitCode": 5})

    health.run_ended(clock.now, DONE)

    assert all(each.ok for each in health.ready())


@pytest.mark.parametrize(("minutes", "seconds"), [(1, 1500), (5, 1500), (60, 8100)])
def test_the_age_of_a_run_is_allowed_by_the_resync_period(minutes: int, seconds: float) -> None:
    assert MaxAges.for_resync(timedelta(minutes=minutes), 900) == MaxAges(run=seconds)


# Figures.


def test_without_a_word_there_is_nothing_to_tell() -> None:
    assert made(Clock()).figures == MetricValues("1")


def test_runs_are_counted_and_timed() -> None:
    clock = Clock()
    health = made(clock)

    health.run_started(1000)
    health.run_ended(1003, DONE)
    health.run_ended(1010, SAME)
    health.run_ended(1020, SAME)

    assert health.figures == MetricValues(
        "1",
        runs={"changed": 1, "unchanged": 2},
        durations=Histogram().plus(3),
        last_success=5.0,
    )


def test_a_run_that_failed_is_no_success() -> None:
    health = made(Clock())

    health.run_ended(1003, {"exitCode": 6})
    health.run_ended(1003, {})

    assert health.figures == MetricValues("1", runs={"failed": 1, "error": 1})


def test_who_leads_is_told() -> None:
    health = made(Clock())
    health.leading(yes=True)

    assert health.figures == MetricValues("1", leader=True)


def test_who_leads_no_more_tells_only_what_it_did() -> None:
    clock = Clock()
    health = leading(clock)
    health.queue(900)
    health.evaluated(Plan((resource("a.example"),)), (), refused=1)

    health.leading(yes=False)

    assert health.figures == MetricValues("1", runs={"changed": 1})


def test_the_oldest_change_grows_older_until_it_is_done() -> None:
    clock = Clock()
    health = made(clock)

    health.queue(999)
    clock.now += 4
    assert health.figures == MetricValues("1", queue_age=5.0)
    health.queue(None)
    assert health.figures == MetricValues("1")


def test_hosts_and_notices_are_those_of_the_last_plan() -> None:
    health = made(Clock(), "pangolin", "pihole")
    notices = (
        Notice(Reason.TUNNEL_NOT_FOUND, WEB, "held", "b.example"),
        Notice(Reason.HOST_CONFLICT, WEB, "is another's", "c.example"),
        Notice(Reason.HOST_CONFLICT, WEB, "is another's", "d.example"),
        Notice(Reason.SOLVER_IGNORED, WEB, "only normal", "e.example"),
        Notice(Reason.NO_RULES, WEB, "about no host"),
    )
    record = Record("c.example", "192.0.2.1", ())
    six = replace(record, ip="2001:db8::1")
    resources = (resource("a.example"), resource("b.example", held=True))
    assert (record.key[1], six.key[1]) == (Family.A, Family.AAAA)
    health.evaluated(Plan((resource("old.example"),)), ())

    health.evaluated(Plan(resources, (record, six)), notices, refused=4)

    counts = {"TunnelNotFound": 1, "HostConflict": 2, "SolverIgnored": 1, "NoRules": 1}
    assert health.figures == MetricValues(
        "1",
        hosts={
            ("pangolin", "declared"): 1,
            ("pangolin", "held"): 1,
            ("pangolin", "refused"): 1,
            ("pihole", "declared"): 1,
            ("pihole", "held"): 0,
            ("pihole", "refused"): 1,
        },
        notices={each.value: counts.get(each.value, 0) for each in Reason},
        removals_refused=4,
    )
