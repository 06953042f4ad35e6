"""Whether all is well, and how many hosts are how, from what is known. No I/O."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pic.core.errors import FailureClass
from pic.core.json_values import MalformedError, mapping, sequence
from pic.core.model import Plan
from pic.core.notices import Level, Notice
from pic.run import targets as all_targets

LONGEST_WAIT = 300.0
UNREACHABLE = 5


@dataclass(frozen=True, slots=True)
class MaxAges:
    """How old what is known may be, in seconds.

    Attributes:
        beat: The last turn of the loop.
        contact: The last answer of the API server.
        run: The last look at whether there is something to do, be it a run or not.
        start: How long after the start, or after it was chosen, there need not be any.
    """

    beat: float = 60.0
    contact: float = 90.0
    run: float = 1500.0
    start: float = 30.0

    @classmethod
    def for_resync(cls, period: timedelta, longest_run: float) -> "MaxAges":
        """Return those for a resync period and the wall-clock limit of a run in seconds.

        One resync may be missed, or one wait after a failure.
        """
        return cls(run=2 * max(period.total_seconds(), LONGEST_WAIT) + longest_run)


DEFAULT_MAX_AGES = MaxAges()


@dataclass(frozen=True, slots=True)
class Check:
    """One line of an answer."""

    name: str
    ok: bool
    why: str = ""

    def __str__(self) -> str:
        return f"[{'+' if self.ok else '-'}]{self.name}{': ' if self.why else ''}{self.why}"


@dataclass(slots=True)
class HealthState:
    """What was told last.

    Attributes:
        looked: When it was last found out whether there is something to do.
        failing: What the last run could not do, by target.
    """

    since: float
    beat: float
    contact: float | None = None
    leading: bool | None = None
    synced: dict[str, bool] = field(default_factory=dict)
    looked: float | None = None
    running: float | None = None
    queued: float | None = None
    failing: dict[str, str] = field(default_factory=dict)


def ready(
    known: HealthState, now: float, limits: MaxAges, targets: Sequence[str]
) -> Iterator[Check]:
    """Yield whether what a watcher does can be relied on, line by line."""
    if not known.leading:
        # A standby has nothing to show until it is chosen.
        found = known.leading is False
        yield Check("leader", found, "standby" if found else "not known yet")
        return
    yield Check("leader", ok=True)
    yield check_age("api", known.contact, now, limits.contact)
    if not known.synced:
        yield Check("caches", ok=False, why="none yet")
    for kind, ok in sorted(known.synced.items()):
        yield Check(f"cache {kind}", ok, "" if ok else "not synced")
    yield _last_look(known, now, limits)
    for target in targets:
        why = known.failing.get(target, "")
        yield Check(f"target {target}", not why, why)


def _last_look(known: HealthState, now: float, limits: MaxAges) -> Check:
    if known.looked is None and now - known.since <= limits.start:
        return Check("run", ok=True, why="none yet")
    return check_age("run", known.looked, now, limits.run)


def check_age(name: str, last: float | None, now: float, limit: float) -> Check:
    """Return whether something was so a short time ago."""
    if last is None:
        return Check(name, ok=False, why="none yet")
    age = max(0.0, now - last)
    if age <= limit:
        return Check(name, ok=True)
    return Check(name, ok=False, why=f"the last one was {age:.0f} s ago, allowed is {limit:.0f} s")


def failing_targets(report: Mapping[str, object], targets: Sequence[str]) -> dict[str, str]:
    """Return what a run could not do, by target; in words that give nothing away.

    What is only invalid is one Ingress's trouble, and does not make a target fail.
    """
    if report.get("exitCode") == UNREACHABLE:
        why = "the last run found something unreachable; its log says what"
        return dict.fromkeys(targets, why)
    counts: dict[str, Counter[str]] = {}
    for each in _failures(report):
        if each.get("class") != FailureClass.INVALID.value:
            counts.setdefault(str(each.get("target")), Counter())[str(each.get("class"))] += 1
    return {target: f"the last run failed: {_counted(found)}" for target, found in counts.items()}


def _failures(report: Mapping[str, object]) -> list[Mapping[str, object]]:
    try:
        found = sequence(report.get("failures"), "failures")
        return [mapping(each, "failures[]") for each in found]
    except MalformedError:
        return []


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in sorted(found.items()))


def host_counts(
    plan: Plan, notices: Iterable[Notice], targets: Iterable[str]
) -> dict[tuple[str, str], int]:
    """Count hosts by target and state.

    Refused is what a warning names and no target has. Which target was meant, no notice says.
    """
    states = {str(target.name): target.hosts(plan) for target in all_targets.TARGETS}
    named = {each.host for each in notices if each.level is Level.WARNING and each.host}
    refused = named.difference(*states.values())
    found: dict[tuple[str, str], int] = {}
    for target in targets:
        held = sum(states[target].values())
        found[target, "declared"] = len(states[target]) - held
        found[target, "held"] = held
        found[target, "refused"] = len(refused)
    return found
