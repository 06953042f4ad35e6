"""Decides from the last reports whether a watcher is healthy, and counts hosts by state. No I/O."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pic.core.errors import FailureClass
from pic.core.json_values import MalformedError, mapping, sequence
from pic.core.model import Plan
from pic.core.notices import Level, Notice
from pic.run import targets as all_targets

# The longest wait after a failed run, in seconds, as in `schedule.Intervals`.
LONGEST_BACKOFF = 300.0
UNREACHABLE_EXIT_CODE = 5


@dataclass(frozen=True, slots=True)
class MaxAges:
    """How old the last sign of life may be, in seconds.

    Attributes:
        beat: Of the loop.
        contact: Of the API server.
        run: Of the last evaluation or run.
        start: How long a new leader may take for its first evaluation.
    """

    beat: float = 60.0
    contact: float = 90.0
    run: float = 1500.0
    start: float = 30.0

    @classmethod
    def for_resync(cls, period: timedelta, longest_run: float) -> "MaxAges":
        """Return the ages for a resync period, and for the longest run in seconds.

        A watcher may miss one resync, or wait once after a failed run.
        """
        return cls(run=2 * max(period.total_seconds(), LONGEST_BACKOFF) + longest_run)


DEFAULT_MAX_AGES = MaxAges()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of an answer."""

    name: str
    ok: bool
    reason: str = ""

    def __str__(self) -> str:
        # The form in which the API server answers /readyz?verbose.
        suffix = f": {self.reason}" if self.reason else ""
        return f"[{'+' if self.ok else '-'}]{self.name}{suffix}"


@dataclass(slots=True)
class HealthState:
    """What the watcher last reported about itself. Times are seconds of one clock.

    Attributes:
        started_at: When the watcher started, or last became the leader.
        beat_at: When the loop last went round.
        contact_at: When the API server last answered.
        leading: None before the first election.
        synced: For each kind, whether the store has all its objects.
        checked_at: When a run or an evaluation last found out whether there is work.
        run_started_at: When the current run started.
        oldest_change_at: When the oldest change came that waits for a run.
        failing: The targets that the last run could not deploy to, with the reason.
    """

    started_at: float
    beat_at: float
    contact_at: float | None = None
    leading: bool | None = None
    synced: dict[str, bool] = field(default_factory=dict)
    checked_at: float | None = None
    run_started_at: float | None = None
    oldest_change_at: float | None = None
    failing: dict[str, str] = field(default_factory=dict)


def ready(
    state: HealthState, now: float, max_ages: MaxAges, targets: Sequence[str]
) -> Iterator[Check]:
    """Yield the checks of readiness."""
    if not state.leading:
        # A standby does nothing that could be checked.
        is_standby = state.leading is False
        yield Check("leader", is_standby, "standby" if is_standby else "not known yet")
        return
    yield Check("leader", ok=True)
    yield check_age("api", state.contact_at, now, max_ages.contact)
    if not state.synced:
        yield Check("caches", ok=False, reason="none yet")
    for kind, ok in sorted(state.synced.items()):
        yield Check(f"cache {kind}", ok, "" if ok else "not synced")
    yield _last_check(state, now, max_ages)
    for target in targets:
        reason = state.failing.get(target, "")
        yield Check(f"target {target}", not reason, reason)


def _last_check(state: HealthState, now: float, max_ages: MaxAges) -> Check:
    if state.checked_at is None and now - state.started_at <= max_ages.start:
        return Check("run", ok=True, reason="none yet")
    return check_age("run", state.checked_at, now, max_ages.run)


def check_age(name: str, last: float | None, now: float, max_age: float) -> Check:
    """Check that something happened, and not too long ago."""
    if last is None:
        return Check(name, ok=False, reason="none yet")
    age = max(0.0, now - last)
    if age <= max_age:
        return Check(name, ok=True)
    return Check(name, ok=False, reason=f"the last one was {age:.0f} s ago, limit {max_age:.0f} s")


def failing_targets(report: Mapping[str, object], targets: Sequence[str]) -> dict[str, str]:
    """Return the targets that a run could not deploy to, each with a reason.

    Anyone in the cluster can read the probes, so a reason has no host and no error text. An invalid
    object is the problem of one Ingress, and does not make its target fail.
    """
    if report.get("exitCode") == UNREACHABLE_EXIT_CODE:
        reason = "the last run could not reach a system that it needs; see its log"
        return dict.fromkeys(targets, reason)
    counts: dict[str, Counter[str]] = {}
    for failure in _failures(report):
        if failure.get("class") != FailureClass.INVALID.value:
            counts.setdefault(str(failure.get("target")), Counter())[str(failure.get("class"))] += 1
    return {target: f"the last run failed: {_summary(count)}" for target, count in counts.items()}


def _failures(report: Mapping[str, object]) -> list[Mapping[str, object]]:
    try:
        failures = sequence(report.get("failures"), "failures")
        return [mapping(failure, "failures[]") for failure in failures]
    except MalformedError:
        return []


def _summary(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))


def host_counts(
    plan: Plan, notices: Iterable[Notice], targets: Iterable[str]
) -> dict[tuple[str, str], int]:
    """Count hosts by target and state.

    A host is refused if a warning names it and no target has it. A notice does not say which target
    it is about, so a refused host counts for each target.
    """
    states = {str(target.name): target.hosts(plan) for target in all_targets.TARGETS}
    warned = {notice.host for notice in notices if notice.level is Level.WARNING and notice.host}
    refused = warned.difference(*states.values())
    counts: dict[tuple[str, str], int] = {}
    for target in targets:
        held = sum(states[target].values())
        counts[target, "declared"] = len(states[target]) - held
        counts[target, "held"] = held
        counts[target, "refused"] = len(refused)
    return counts
