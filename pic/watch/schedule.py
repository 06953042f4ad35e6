"""When to look and when to run: from what happened and the time, given in. No I/O, no clock.

Every change is looked at once the cluster has been quiet for a while, and then planned for inside
the watcher. Only where that finds something to do there is a run, which is what costs.
"""

import math
from dataclasses import dataclass, field, replace
from enum import Enum

from pic.watch.run_report import RunReport

NEVER = math.inf


class Action(Enum):
    """What is to be done."""

    WAIT = "wait"
    EVALUATE = "evaluate"
    RUN = "run"


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done now.

    Attributes:
        until: Of a wait, when to ask again at the latest.
    """

    do: Action
    until: float = NEVER


@dataclass(frozen=True, slots=True)
class Intervals:
    """How long things are waited for, in seconds.

    Attributes:
        quiet: After the last change, before it is looked at.
        most: After the first change, even where they never end.
        resync: After such a look, before the next one that needs no change.
        again: After a look that was not possible.
        backoff: After a failure that time may heal; each further one doubles it.
        longest: The end of the doubling.
        limited: After a target has said that it is asked too often.
    """

    quiet: float = 2.0
    most: float = 30.0
    resync: float = 300.0
    again: float = 5.0
    backoff: float = 30.0
    longest: float = 300.0
    limited: float = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a look has found.

    Attributes:
        same: Everything is as it was deployed last.
        wish: Names what a run would set out to do.
        refusal: Names what the guard refuses of it; empty where it agrees.
    """

    same: bool
    wish: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class RunSuppression:
    """What a run need not be started for again.

    Attributes:
        wish: What the last run set out to do.
        refusal: What it was refused; empty where it was not.
        again: It did that well, so that it is worth another one: its work may have been undone.
    """

    wish: str = ""
    refusal: str = ""
    again: bool = False

    def stops(self, verdict: Verdict, *, resync: bool) -> bool:
        """Say whether a verdict is no reason to run.

        A refusal stays one until it is another one. What a run could not do, or did twice without
        an effect, is tried again with every resync.
        """
        if self.refusal:
            return verdict.refusal == self.refusal
        return verdict.wish == self.wish and not self.again and not resync


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """What has happened so far.

    Attributes:
        ready: All is known, and this watcher may start runs.
        running: A run is going on.
        first: When the oldest change came that was not looked at yet.
        last: When the newest one came.
        looked: When it was looked last.
        resynced: When it was looked last for the sake of time.
        pause: Before that nobody looks.
        verdict: What that found.
        wanted: A run is.
        earliest: Before that no run begins.
        retry: When to look again though nothing has changed.
        failures: How many runs in a row have failed in a way that time may heal.
        bar: What no run is started for.
    """

    ready: bool = False
    running: bool = False
    first: float | None = None
    last: float = -NEVER
    looked: float = -NEVER
    resynced: float = -NEVER
    pause: float = -NEVER
    verdict: Verdict = field(default_factory=lambda: Verdict(same=False))
    wanted: bool = False
    earliest: float = -NEVER
    retry: float = NEVER
    failures: int = 0
    bar: RunSuppression = RunSuppression()


def decide(state: ScheduleState, now: float, pace: Intervals) -> Decision:
    """Say what to do now, or until when there is nothing to do."""
    if state.running or not state.ready:
        return Decision(Action.WAIT)
    look = _next_look(state, pace)
    if now >= look:
        return Decision(Action.EVALUATE)
    # A change that has just come belongs into the same run.
    start = state.earliest if state.wanted and state.first is None else NEVER
    return Decision(Action.RUN) if now >= start else Decision(Action.WAIT, min(look, start))


def _next_look(state: ScheduleState, pace: Intervals) -> float:
    quiet = NEVER
    if state.first is not None:
        quiet = min(state.last + pace.quiet, state.first + pace.most)
    return max(state.pause, min(quiet, state.resynced + pace.resync, state.retry))


def oldest_pending(state: ScheduleState) -> float | None:
    """Return since when something waits; None where nothing does."""
    return state.looked if state.first is None and state.wanted else state.first


def after_changes(state: ScheduleState, first: float, last: float) -> ScheduleState:
    """Note changes: when the first and the last of them came."""
    oldest = first if state.first is None else min(first, state.first)
    return replace(state, first=oldest, last=max(last, state.last))


def with_readiness(state: ScheduleState, *, ready: bool) -> ScheduleState:
    """Note whether all is known, and this watcher may start runs."""
    return state if ready == state.ready else replace(state, ready=ready)


def after_takeover(state: ScheduleState) -> ScheduleState:
    """Note that another watcher may have run before: nothing that was learnt of runs counts."""
    return replace(
        state, wanted=False, resynced=-NEVER, earliest=-NEVER, retry=NEVER, bar=RunSuppression()
    )


def is_resync(state: ScheduleState, now: float, pace: Intervals) -> bool:
    """Say whether it is time that leads to a look, whether or not there was a change."""
    return now >= state.retry or now >= state.resynced + pace.resync


def after_evaluation(
    state: ScheduleState, now: float, verdict: Verdict, pace: Intervals
) -> ScheduleState:
    """Note what a look has found."""
    resync = is_resync(state, now, pace)
    stopped = state.bar.stops(verdict, resync=resync)
    return replace(
        state,
        first=None,
        looked=now,
        resynced=now if resync else state.resynced,
        verdict=verdict,
        wanted=not verdict.same and not stopped,
        retry=NEVER if now >= state.retry else state.retry,
        bar=RunSuppression() if verdict.same else state.bar,
    )


def after_failed_evaluation(state: ScheduleState, now: float, pace: Intervals) -> ScheduleState:
    """Note that a look was not possible, so that the next one is not at once."""
    return replace(state, pause=now + pace.again)


def after_run_start(state: ScheduleState) -> ScheduleState:
    """Note that a run began."""
    return replace(state, running=True, wanted=False, retry=NEVER)


def after_run_end(
    state: ScheduleState, now: float, report: RunReport, pace: Intervals
) -> ScheduleState:
    """Note how a run ended."""
    wish = state.verdict.wish
    refusal = state.verdict.refusal if report.refused else ""
    again = report.exit_code == 0 and wish != state.bar.wish
    calm = replace(
        state,
        running=False,
        earliest=-NEVER,
        retry=NEVER,
        failures=0,
        bar=RunSuppression(wish, refusal, again),
    )
    if report.limited is not None:
        wait = now + max(pace.limited, report.limited)
        return replace(calm, earliest=wait, retry=wait)
    if not report.temporary:
        return calm
    failures = state.failures + 1
    delay = min(pace.backoff * 2.0 ** min(failures - 1, 16), pace.longest)
    # A change may be what mends it, so it waits less.
    return replace(calm, earliest=now + pace.backoff, retry=now + delay, failures=failures)
