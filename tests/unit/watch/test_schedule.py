"""Tests when the watcher evaluates and starts runs; the clock is a number."""

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

INTERVALS = Intervals()
WAIT, EVALUATE, RUN = Action.WAIT, Action.EVALUATE, Action.RUN
IN_SYNC, DIFFERS = Verdict(in_sync=True), Verdict(in_sync=False, work="a")
OTHER_WORK = Verdict(in_sync=False, work="b")
IDLE = ScheduleState(ready=True, evaluated_at=0.0, resynced_at=0.0, verdict=IN_SYNC)


def decide(state: ScheduleState, now: float) -> Decision:
    return schedule.decide(state, now, INTERVALS)


def changed(state: ScheduleState, now: float) -> ScheduleState:
    return schedule.after_changes(state, now, now)


def evaluated(state: ScheduleState, now: float, verdict: Verdict) -> ScheduleState:
    return schedule.after_evaluation(state, now, verdict, INTERVALS)


def run_end(state: ScheduleState, now: float, report: RunReport) -> ScheduleState:
    """Return the state after a run that started after an evaluation and ended at `now`."""
    return schedule.after_run_end(schedule.after_run_start(state), now, report, INTERVALS)


# Evaluations.


def test_the_first_evaluation_is_as_soon_as_the_watcher_is_ready() -> None:
    assert decide(ScheduleState(), 5.0) == Decision(WAIT)
    assert decide(schedule.with_readiness(ScheduleState(), ready=True), 5.0) == Decision(EVALUATE)


def test_a_change_is_evaluated_after_two_quiet_seconds() -> None:
    state = schedule.after_changes(IDLE, 10.0, 11.0)

    assert decide(state, 12.9) == Decision(WAIT, 13.0)
    assert decide(state, 13.0) == Decision(EVALUATE)


def test_17_an_evaluation_is_due_when_time_alone_changes_the_plan() -> None:
    later, earlier = schedule.with_wake(IDLE, 70.0), schedule.with_wake(IDLE, 50.0)

    assert decide(schedule.with_wake(later, 50.0), 49.0) == Decision(WAIT, 50.0)
    assert decide(schedule.with_wake(earlier, 70.0), 50.0) == Decision(EVALUATE)


def test_endless_changes_are_evaluated_after_thirty_seconds() -> None:
    state = IDLE
    for second in range(10, 41):
        state = changed(state, float(second))

    assert decide(replace(state, last_change=39.5), 39.9) == Decision(WAIT, 40.0)
    assert decide(state, 40.0) == Decision(EVALUATE)


def test_changes_do_not_delay_a_resync() -> None:
    state = evaluated(changed(IDLE, 290.0), 292.0, IN_SYNC)

    assert decide(state, 300.0) == Decision(EVALUATE)
    assert schedule.is_resync(state, 300.0, INTERVALS)
    assert not schedule.is_resync(evaluated(state, 300.0, IN_SYNC), 301.0, INTERVALS)


def test_without_a_change_the_next_evaluation_is_the_resync() -> None:
    assert decide(IDLE, 299.0) == Decision(WAIT, 300.0)
    assert decide(IDLE, 300.0) == Decision(EVALUATE)


def test_a_cluster_in_sync_needs_no_run() -> None:
    state = evaluated(changed(IDLE, 10.0), 12.0, IN_SYNC)

    assert decide(state, 12.0) == Decision(WAIT, 300.0)
    assert schedule.oldest_pending(state) is None


def test_no_evaluation_starts_during_a_run() -> None:
    state = changed(schedule.after_run_start(IDLE), 10.0)

    assert decide(state, 500.0) == Decision(WAIT)
    assert decide(run_end(state, 500.0, RunReport(0)), 500.0) == Decision(EVALUATE)


def test_no_evaluation_starts_before_the_watcher_is_ready() -> None:
    state = schedule.with_readiness(changed(IDLE, 10.0), ready=False)

    assert decide(state, 500.0) == Decision(WAIT)
    assert schedule.with_readiness(state, ready=False) is state


def test_a_failed_evaluation_is_retried_after_five_seconds() -> None:
    state = schedule.after_failed_evaluation(changed(IDLE, 10.0), 12.0, INTERVALS)

    assert decide(state, 12.0) == Decision(WAIT, 17.0)
    assert decide(state, 17.0) == Decision(EVALUATE)


# Runs.


def test_a_run_starts_as_soon_as_an_evaluation_finds_work() -> None:
    state = evaluated(changed(IDLE, 10.0), 12.0, DIFFERS)

    assert decide(state, 12.0) == Decision(RUN)
    assert schedule.oldest_pending(state) == 12.0


def test_a_new_change_is_evaluated_before_the_run() -> None:
    state = changed(evaluated(IDLE, 12.0, DIFFERS), 12.5)

    assert decide(state, 13.0) == Decision(WAIT, 14.5)
    assert schedule.oldest_pending(state) == 12.5


def test_after_a_successful_run_the_watcher_waits_for_the_resync() -> None:
    state = run_end(evaluated(IDLE, 12.0, DIFFERS), 20.0, RunReport(0))

    assert decide(state, 20.0) == Decision(WAIT, 300.0)


def test_work_that_was_undone_is_repeated_once_and_then_at_each_resync() -> None:
    first = run_end(evaluated(IDLE, 12.0, DIFFERS), 20.0, RunReport(0))
    again = evaluated(changed(first, 21.0), 23.0, DIFFERS)
    second = run_end(again, 30.0, RunReport(0))
    soon = evaluated(changed(second, 31.0), 33.0, DIFFERS)
    late = evaluated(soon, 300.0, DIFFERS)

    assert decide(again, 23.0) == Decision(RUN)
    assert decide(soon, 33.0) == Decision(WAIT, 300.0)
    assert decide(late, 300.0) == Decision(RUN)


def test_work_that_was_in_sync_and_is_undone_later_is_repeated() -> None:
    state = IDLE
    for moment in (10.0, 20.0, 30.0):
        state = evaluated(changed(state, moment), moment + 2, DIFFERS)
        assert decide(state, moment + 2) == Decision(RUN)
        state = evaluated(run_end(state, moment + 4, RunReport(0)), moment + 6, IN_SYNC)


# Failures.


@pytest.mark.parametrize(
    ("failures", "wait"), [(0, 30.0), (1, 60.0), (2, 120.0), (3, 240.0), (4, 300.0), (2000, 300.0)]
)
def test_temporary_failures_are_retried_with_growing_delays(failures: int, wait: float) -> None:
    before = replace(evaluated(IDLE, 0.0, DIFFERS), failures=failures)
    state = run_end(before, 100.0, RunReport(5, temporary=True))

    assert decide(state, 100.0) == Decision(WAIT, min(100.0 + wait, 300.0))
    again = evaluated(state, 100.0 + wait, DIFFERS)
    assert decide(again, 100.0 + wait) == Decision(RUN)


def test_after_a_failure_a_change_waits_for_the_shortest_delay_only() -> None:
    before = replace(evaluated(IDLE, 0.0, DIFFERS), failures=3)
    state = run_end(before, 100.0, RunReport(5, temporary=True))
    state = evaluated(changed(state, 101.0), 103.0, OTHER_WORK)

    assert decide(state, 103.0) == Decision(WAIT, 130.0)
    assert decide(state, 130.0) == Decision(RUN)


def test_a_change_without_new_work_does_not_hasten_the_retry() -> None:
    before = replace(evaluated(IDLE, 0.0, DIFFERS), failures=2)
    state = run_end(before, 100.0, RunReport(5, temporary=True))
    state = evaluated(changed(state, 101.0), 103.0, DIFFERS)

    assert decide(state, 130.0) == Decision(WAIT, 220.0)


def test_a_success_resets_the_failures() -> None:
    before = replace(evaluated(IDLE, 0.0, DIFFERS), failures=3)

    assert run_end(before, 100.0, RunReport(0)).failures == 0


@pytest.mark.parametrize(("retry_after", "wait"), [(0, 60.0), (20, 60.0), (90, 90.0)])
def test_a_rate_limited_target_gets_no_run_before_its_retry_time(
    retry_after: int, wait: float
) -> None:
    state = run_end(
        evaluated(IDLE, 0.0, DIFFERS), 100.0, RunReport(6, retry_after=retry_after, temporary=True)
    )
    other = evaluated(changed(state, 101.0), 103.0, OTHER_WORK)

    assert decide(state, 100.0) == Decision(WAIT, 100.0 + wait)
    assert decide(other, 103.0) == Decision(WAIT, 100.0 + wait)


def test_invalid_objects_are_retried_after_a_change_or_at_a_resync() -> None:
    state = run_end(evaluated(IDLE, 0.0, DIFFERS), 100.0, RunReport(6))
    other = evaluated(changed(state, 101.0), 103.0, OTHER_WORK)

    assert decide(state, 100.0) == Decision(WAIT, 300.0)
    assert decide(evaluated(state, 300.0, DIFFERS), 300.0) == Decision(RUN)
    assert decide(other, 103.0) == Decision(RUN)


REFUSED = Verdict(in_sync=False, work="a", refusal="6 of 6")


def test_a_refusal_is_reported_by_one_run() -> None:
    state = run_end(evaluated(IDLE, 0.0, REFUSED), 5.0, RunReport(3))
    resync = evaluated(state, 300.0, REFUSED)
    unrelated = evaluated(changed(state, 6.0), 8.0, replace(REFUSED, work="b"))

    assert state.suppression == RunSuppression("a", "6 of 6")
    assert decide(resync, 300.0) == Decision(WAIT, 600.0)
    assert decide(unrelated, 8.0) == Decision(WAIT, 300.0)


@pytest.mark.parametrize("verdict", [replace(REFUSED, refusal="5 of 6"), DIFFERS])
def test_a_changed_or_lifted_refusal_is_a_reason_for_a_run(verdict: Verdict) -> None:
    state = run_end(evaluated(IDLE, 0.0, REFUSED), 5.0, RunReport(3))

    assert decide(evaluated(changed(state, 6.0), 8.0, verdict), 8.0) == Decision(RUN)


def test_a_refusal_that_no_evaluation_predicted_waits_for_new_work_or_a_resync() -> None:
    state = run_end(evaluated(IDLE, 0.0, DIFFERS), 5.0, RunReport(3))

    assert decide(evaluated(changed(state, 6.0), 8.0, DIFFERS), 8.0).action is WAIT
    assert decide(evaluated(state, 300.0, DIFFERS), 300.0) == Decision(RUN)


# What always holds.

TIMES = st.lists(st.floats(0.0, 100.0), min_size=1, max_size=20).map(sorted)


@given(TIMES)
def test_every_change_is_evaluated_within_thirty_seconds(times: list[float]) -> None:
    state = IDLE
    for moment in times:
        state = changed(state, moment)
    decision = decide(state, times[-1])

    assert decision.action is EVALUATE or decision.until <= times[0] + INTERVALS.longest_quiet
    assert decide(state, times[0] + INTERVALS.longest_quiet) == Decision(EVALUATE)


@given(st.integers(0, 10), st.sampled_from([1, 4, 5, 6]))
def test_every_temporary_failure_is_retried_within_five_minutes(failures: int, code: int) -> None:
    before = replace(evaluated(IDLE, 0.0, DIFFERS), failures=failures)
    state = run_end(before, 10.0, RunReport(code, temporary=True))

    assert 30.0 <= state.retry_at - 10.0 <= 300.0
    assert decide(state, state.retry_at) == Decision(EVALUATE)
    assert decide(ScheduleState(), NEVER) == Decision(WAIT)
