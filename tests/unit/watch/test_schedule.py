"""When to look and when to run, as values; the clock is a number."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pic.watch import schedule
from pic.watch.run_report import RunReport
from pic.watch.schedule import (
    NEVER,
    Action,
    Decision,
    Intervals,
    RunSuppression,
    ScheduleState,
    Verdict,
)

PACE = Intervals()
WAIT, LOOK, RUN = Action.WAIT, Action.EVALUATE, Action.RUN
SAME, DIFFERS = Verdict(same=True), Verdict(same=False, wish="a")
IDLE = ScheduleState(ready=True, looked=0.0, resynced=0.0, verdict=SAME)


def decided(state: ScheduleState, now: float) -> Decision:
    return schedule.decide(state, now, PACE)


def looked(state: ScheduleState, now: float, verdict: Verdict) -> ScheduleState:
    return schedule.after_evaluation(state, now, verdict, PACE)


def ran(state: ScheduleState, now: float, report: RunReport) -> ScheduleState:
    """A run that begins after a look and ends at `now`."""
    return schedule.after_run_end(schedule.after_run_start(state), now, report, PACE)


# Looking.


def test_the_first_look_is_as_soon_as_all_is_known() -> None:
    assert decided(ScheduleState(), 5.0) == Decision(WAIT)
    assert decided(schedule.with_readiness(ScheduleState(), ready=True), 5.0) == Decision(LOOK)


def test_a_change_is_looked_at_once_it_has_been_quiet_for_two_seconds() -> None:
    state = schedule.after_changes(IDLE, 10.0, 11.0)

    assert decided(state, 12.9) == Decision(WAIT, 13.0)
    assert decided(state, 13.0) == Decision(LOOK)


def test_changes_without_end_are_looked_at_after_thirty_seconds() -> None:
    state = IDLE
    for second in range(10, 41):
        state = schedule.after_changes(state, float(second), float(second))

    assert decided(replace(state, last=39.5), 39.9) == Decision(WAIT, 40.0)
    assert decided(state, 40.0) == Decision(LOOK)


def test_a_resync_is_not_put_off_by_changes() -> None:
    state = looked(schedule.after_changes(IDLE, 290.0, 290.0), 292.0, SAME)

    assert decided(state, 300.0) == Decision(LOOK)
    assert schedule.is_resync(state, 300.0, PACE)
    assert not schedule.is_resync(looked(state, 300.0, SAME), 301.0, PACE)


def test_without_a_change_the_next_look_is_a_resync_later() -> None:
    assert decided(IDLE, 299.0) == Decision(WAIT, 300.0)
    assert decided(IDLE, 300.0) == Decision(LOOK)


def test_what_is_as_it_was_deployed_needs_no_run() -> None:
    state = looked(schedule.after_changes(IDLE, 10.0, 10.0), 12.0, SAME)

    assert decided(state, 12.0) == Decision(WAIT, 300.0)
    assert schedule.oldest_pending(state) is None


def test_nobody_looks_while_a_run_is_going_on() -> None:
    state = schedule.after_changes(schedule.after_run_start(IDLE), 10.0, 10.0)

    assert decided(state, 500.0) == Decision(WAIT)
    assert decided(ran(state, 500.0, RunReport(0)), 500.0) == Decision(LOOK)


def test_nobody_looks_at_what_is_not_known_whole() -> None:
    state = schedule.with_readiness(schedule.after_changes(IDLE, 10.0, 10.0), ready=False)

    assert decided(state, 500.0) == Decision(WAIT)
    assert schedule.with_readiness(state, ready=False) is state


def test_a_look_that_was_not_possible_is_tried_again_after_five_seconds() -> None:
    state = schedule.after_failed_evaluation(schedule.after_changes(IDLE, 10.0, 10.0), 12.0, PACE)

    assert decided(state, 12.0) == Decision(WAIT, 17.0)
    assert decided(state, 17.0) == Decision(LOOK)


# Running.


def test_what_differs_is_run_for_at_once() -> None:
    state = looked(schedule.after_changes(IDLE, 10.0, 10.0), 12.0, DIFFERS)

    assert decided(state, 12.0) == Decision(RUN)
    assert schedule.oldest_pending(state) == 12.0


def test_a_change_that_has_just_come_is_looked_at_before_the_run() -> None:
    state = schedule.after_changes(looked(IDLE, 12.0, DIFFERS), 12.5, 12.5)

    assert decided(state, 13.0) == Decision(WAIT, 14.5)
    assert schedule.oldest_pending(state) == 12.5


def test_after_a_run_that_did_its_work_there_is_nothing_to_do() -> None:
    state = ran(looked(IDLE, 12.0, DIFFERS), 20.0, RunReport(0))

    assert decided(state, 20.0) == Decision(WAIT, 300.0)


def test_work_that_was_undone_is_done_again_once_and_then_with_the_next_resync() -> None:
    first = ran(looked(IDLE, 12.0, DIFFERS), 20.0, RunReport(0))
    again = looked(schedule.after_changes(first, 21.0, 21.0), 23.0, DIFFERS)
    second = ran(again, 30.0, RunReport(0))
    soon = looked(schedule.after_changes(second, 31.0, 31.0), 33.0, DIFFERS)
    late = looked(soon, 300.0, DIFFERS)

    assert decided(again, 23.0) == Decision(RUN)
    assert decided(soon, 33.0) == Decision(WAIT, 300.0)
    assert decided(late, 300.0) == Decision(RUN)


def test_work_that_lasted_and_is_undone_later_is_done_again() -> None:
    state = IDLE
    for moment in (10.0, 20.0, 30.0):
        state = looked(schedule.after_changes(state, moment, moment), moment + 2, DIFFERS)
        assert decided(state, moment + 2) == Decision(RUN)
        state = looked(ran(state, moment + 4, RunReport(0)), moment + 6, SAME)


# Failures.


@pytest.mark.parametrize(
    ("failures", "wait"), [(0, 30.0), (1, 60.0), (2, 120.0), (3, 240.0), (4, 300.0), (2000, 300.0)]
)
def test_what_time_may_heal_is_tried_again_ever_later(failures: int, wait: float) -> None:
    before = replace(looked(IDLE, 0.0, DIFFERS), failures=failures)
    state = ran(before, 100.0, RunReport(5, temporary=True))

    assert decided(state, 100.0) == Decision(WAIT, min(100.0 + wait, 300.0))
    again = looked(state, 100.0 + wait, DIFFERS)
    assert decided(again, 100.0 + wait) == Decision(RUN)


def test_a_change_waits_less_after_a_failure_as_it_may_be_the_cure() -> None:
    before = replace(looked(IDLE, 0.0, DIFFERS), failures=3)
    state = ran(before, 100.0, RunReport(5, temporary=True))
    state = looked(
        schedule.after_changes(state, 101.0, 101.0), 103.0, Verdict(same=False, wish="b")
    )

    assert decided(state, 103.0) == Decision(WAIT, 130.0)
    assert decided(state, 130.0) == Decision(RUN)


def test_a_change_of_nothing_that_matters_does_not_hasten_the_next_try() -> None:
    before = replace(looked(IDLE, 0.0, DIFFERS), failures=2)
    state = ran(before, 100.0, RunReport(5, temporary=True))
    state = looked(schedule.after_changes(state, 101.0, 101.0), 103.0, DIFFERS)

    assert decided(state, 130.0) == Decision(WAIT, 220.0)


def test_success_ends_the_doubling() -> None:
    before = replace(looked(IDLE, 0.0, DIFFERS), failures=3)

    assert ran(before, 100.0, RunReport(0)).failures == 0


@pytest.mark.parametrize(("asked", "wait"), [(0, 60.0), (20, 60.0), (90, 90.0)])
def test_a_target_that_is_asked_too_often_is_left_alone_whatever_changes(
    asked: int, wait: float
) -> None:
    state = ran(looked(IDLE, 0.0, DIFFERS), 100.0, RunReport(6, limited=asked, temporary=True))
    other = looked(
        schedule.after_changes(state, 101.0, 101.0), 103.0, Verdict(same=False, wish="b")
    )

    assert decided(state, 100.0) == Decision(WAIT, 100.0 + wait)
    assert decided(other, 103.0) == Decision(WAIT, 100.0 + wait)


def test_invalid_input_alone_is_tried_again_after_a_change_or_with_a_resync() -> None:
    state = ran(looked(IDLE, 0.0, DIFFERS), 100.0, RunReport(6))
    other = looked(
        schedule.after_changes(state, 101.0, 101.0), 103.0, Verdict(same=False, wish="b")
    )

    assert decided(state, 100.0) == Decision(WAIT, 300.0)
    assert decided(looked(state, 300.0, DIFFERS), 300.0) == Decision(RUN)
    assert decided(other, 103.0) == Decision(RUN)


REFUSED = Verdict(same=False, wish="a", refusal="6 of 6")


def test_a_refusal_is_told_by_one_run() -> None:
    state = ran(looked(IDLE, 0.0, REFUSED), 5.0, RunReport(3))
    resync = looked(state, 300.0, REFUSED)
    unrelated = looked(schedule.after_changes(state, 6.0, 6.0), 8.0, replace(REFUSED, wish="b"))

    assert state.bar == RunSuppression("a", "6 of 6")
    assert decided(resync, 300.0) == Decision(WAIT, 600.0)
    assert decided(unrelated, 8.0) == Decision(WAIT, 300.0)


@pytest.mark.parametrize("verdict", [replace(REFUSED, refusal="5 of 6"), DIFFERS])
def test_another_refusal_or_none_is_a_reason_to_run(verdict: Verdict) -> None:
    state = ran(looked(IDLE, 0.0, REFUSED), 5.0, RunReport(3))

    assert decided(looked(schedule.after_changes(state, 6.0, 6.0), 8.0, verdict), 8.0) == Decision(
        RUN
    )


def test_a_refusal_that_only_the_engine_brought_up_waits_for_a_change_or_a_resync() -> None:
    state = ran(looked(IDLE, 0.0, DIFFERS), 5.0, RunReport(3))

    assert decided(looked(schedule.after_changes(state, 6.0, 6.0), 8.0, DIFFERS), 8.0).do is WAIT
    assert decided(looked(state, 300.0, DIFFERS), 300.0) == Decision(RUN)


# What always holds.

TIMES = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=20).map(sorted)


@given(TIMES)
def test_every_change_is_looked_at_within_thirty_seconds(times: list[float]) -> None:
    state = IDLE
    for moment in times:
        state = schedule.after_changes(state, moment, moment)
    decision = decided(state, times[-1])

    assert decision.do is LOOK or decision.until <= times[0] + PACE.most
    assert decided(state, times[0] + PACE.most) == Decision(LOOK)


@given(st.integers(0, 10), st.sampled_from([1, 4, 5, 6]))
def test_after_any_failure_there_is_a_next_try_within_five_minutes(
    failures: int, code: int
) -> None:
    before = replace(looked(IDLE, 0.0, DIFFERS), failures=failures)
    state = ran(before, 10.0, RunReport(code, temporary=True))

    assert 30.0 <= state.retry - 10.0 <= 300.0
    assert decided(state, state.retry) == Decision(LOOK)
    assert decided(ScheduleState(), NEVER) == Decision(WAIT)
