"""Decides when to evaluate the cluster and when to start a run. No I/O and no clock.

After each change, and once the cluster has been quiet for a moment, the watcher evaluates: it plans
in memory and compares. It starts a run, which is expensive, only if the evaluation found work.
All times are seconds of one clock that never goes back.
"""

import math
from dataclasses import dataclass, field, replace
from enum import Enum

from pic.watch.run_report import RunReport

# `-NEVER` is a time in the past for every clock.
NEVER = math.inf


class Action(Enum):
    """What the loop does next."""

    WAIT = "wait"
    EVALUATE = "evaluate"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Decision:
    """What the loop does now.

    Attributes:
        until: With WAIT, when to decide again at the latest.
    """

    action: Action
    until: float = NEVER


@dataclass(frozen=True, slots=True)
class Intervals:
    """How long the watcher waits, in seconds.

    Attributes:
        quiet: From the last change to the evaluation.
        longest_quiet: From the first change to the evaluation, even if more changes keep coming.
        resync: Between two evaluations that need no change.
        retry_evaluation: After an evaluation that failed.
        backoff: After a run that failed for a temporary reason; each further failure doubles it.
        longest_backoff: The longest wait after a failed run.
        rate_limit: The shortest wait after a target has limited the rate of requests.
    """

    quiet: float = 2.0
    longest_quiet: float = 30.0
    resync: float = 300.0
    retry_evaluation: float = 5.0
    backoff: float = 30.0
    longest_backoff: float = 300.0
    rate_limit: float = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of an evaluation.

    Attributes:
        in_sync: A run would find nothing to do.
        work: Identifies everything that a run would do.
        refusal: Identifies what the guard would refuse of it; empty if it would refuse nothing.
    """

    in_sync: bool
    work: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class RunSuppression:
    """The work for which the watcher starts no further run.

    Attributes:
        work: What the last run set out to do.
        refusal: What the guard refused of it; empty if it refused nothing.
        repeatable: The last run succeeded, and was the first one for this work. If the same work
            comes up again, another client has undone it, and one more run is due.
    """

    work: str = ""
    refusal: str = ""
    repeatable: bool = False

    def covers(self, verdict: Verdict, *, resync: bool) -> bool:
        """Say whether a verdict gives no reason for a run.

        A refusal holds until it becomes a different one. Work that a run could not do, or did
        twice without effect, is retried at each resync.
        """
        if self.refusal:
            return verdict.refusal == self.refusal
        return verdict.work == self.work and not self.repeatable and not resync


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """What has happened so far.

    Attributes:
        ready: The whole cluster is known, and this watcher may start runs.
        running: A run has started and not ended.
        first_change: When the oldest change came that no evaluation includes; None if every
            change is included.
        last_change: When the newest change came.
        evaluated_at: When the last evaluation took place.
        resynced_at: When the last evaluation took place that was due without a change.
        paused_until: No evaluation starts before this time.
        verdict: The result of the last evaluation.
        run_wanted: The last evaluation found work for a run.
        earliest_run: No run starts before this time.
        retry_at: When to evaluate again although nothing has changed.
        failures: The number of runs in a row that failed for a temporary reason.
        suppression: The work for which no run starts.
    """

    ready: bool = False
    running: bool = False
    first_change: float | None = None
    last_change: float = -NEVER
    evaluated_at: float = -NEVER
    resynced_at: float = -NEVER
    paused_until: float = -NEVER
    verdict: Verdict = field(default_factory=lambda: Verdict(in_sync=False))
    run_wanted: bool = False
    earliest_run: float = -NEVER
    retry_at: float = NEVER
    failures: int = 0
    suppression: RunSuppression = RunSuppression()


def with_wake(state: ScheduleState, at: float) -> ScheduleState:
    """Return the state with an evaluation at a time at which time alone changes the plan."""
    return replace(state, retry_at=min(state.retry_at, at))


def decide(state: ScheduleState, now: float, intervals: Intervals) -> Decision:
    """Return what to do now, or until when to wait."""
    # The end of a run wakes the loop. Before that, the live objects are neither old nor new.
    if state.running or not state.ready:
        return Decision(Action.WAIT)
    evaluation = _next_evaluation(state, intervals)
    if now >= evaluation:
        return Decision(Action.EVALUATE)
    # A run should include a change that has just come, so the evaluation of the change comes first.
    start = state.earliest_run if state.run_wanted and state.first_change is None else NEVER
    if now >= start:
        return Decision(Action.RUN)
    return Decision(Action.WAIT, min(evaluation, start))


def _next_evaluation(state: ScheduleState, intervals: Intervals) -> float:
    after_change = NEVER
    if state.first_change is not None:
        after_change = min(
            state.last_change + intervals.quiet, state.first_change + intervals.longest_quiet
        )
    resync = state.resynced_at + intervals.resync
    return max(state.paused_until, min(after_change, resync, state.retry_at))


def oldest_pending(state: ScheduleState) -> float | None:
    """Return since when the oldest change waits for a run; None if no change waits."""
    if state.first_change is None and state.run_wanted:
        return state.evaluated_at
    return state.first_change


def after_changes(state: ScheduleState, first: float, last: float) -> ScheduleState:
    """Return the state after changes of which the first and the last came at these times."""
    oldest = first if state.first_change is None else min(first, state.first_change)
    return replace(state, first_change=oldest, last_change=max(last, state.last_change))


def with_readiness(state: ScheduleState, *, ready: bool) -> ScheduleState:
    """Return the state of a watcher that may, or may not, evaluate and start runs."""
    return state if ready == state.ready else replace(state, ready=ready)


def after_takeover(state: ScheduleState) -> ScheduleState:
    """Return the state after the Lease was won or lost.

    Another watcher may have started runs in between, so the state drops what it knows about runs.
    """
    return replace(
        state,
        run_wanted=False,
        resynced_at=-NEVER,
        earliest_run=-NEVER,
        retry_at=NEVER,
        suppression=RunSuppression(),
    )


def is_resync(state: ScheduleState, now: float, intervals: Intervals) -> bool:
    """Say whether an evaluation is due now even without a change."""
    return now >= state.retry_at or now >= state.resynced_at + intervals.resync


def after_evaluation(
    state: ScheduleState, now: float, verdict: Verdict, intervals: Intervals
) -> ScheduleState:
    """Return the state after an evaluation."""
    resync = is_resync(state, now, intervals)
    suppressed = state.suppression.covers(verdict, resync=resync)
    return replace(
        state,
        first_change=None,
        evaluated_at=now,
        resynced_at=now if resync else state.resynced_at,
        verdict=verdict,
        run_wanted=not verdict.in_sync and not suppressed,
        # A change may come before the retry. Its evaluation leaves the retry in place.
        retry_at=NEVER if now >= state.retry_at else state.retry_at,
        suppression=RunSuppression() if verdict.in_sync else state.suppression,
    )


def after_failed_evaluation(
    state: ScheduleState, now: float, intervals: Intervals
) -> ScheduleState:
    """Return the state after an evaluation that failed; the next one waits a moment."""
    return replace(state, paused_until=now + intervals.retry_evaluation)


def after_run_start(state: ScheduleState) -> ScheduleState:
    """Return the state after a run has started."""
    return replace(state, running=True, run_wanted=False, retry_at=NEVER)


def after_run_end(
    state: ScheduleState, now: float, report: RunReport, intervals: Intervals
) -> ScheduleState:
    """Return the state after a run has ended."""
    work = state.verdict.work
    refusal = state.verdict.refusal if report.refused else ""
    repeatable = report.exit_code == 0 and work != state.suppression.work
    idle = replace(
        state,
        running=False,
        earliest_run=-NEVER,
        retry_at=NEVER,
        failures=0,
        suppression=RunSuppression(work, refusal, repeatable),
    )
    # Unlike a failure, a rate limit delays the run for a change as well (docs/operating.md).
    if report.retry_after is not None:
        wait = now + max(intervals.rate_limit, report.retry_after)
        return replace(idle, earliest_run=wait, retry_at=wait)
    if not report.temporary:
        return idle
    failures = state.failures + 1
    # The bound on the exponent only prevents an overflow.
    delay = min(intervals.backoff * 2.0 ** min(failures - 1, 16), intervals.longest_backoff)
    # A change may fix what failed, so a run for a change waits only for the shortest backoff.
    return replace(
        idle, earliest_run=now + intervals.backoff, retry_at=now + delay, failures=failures
    )
