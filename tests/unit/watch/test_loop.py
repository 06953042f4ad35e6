"""Tests the loop with scripted parts: each wait runs the next step of the script."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pic.cluster.listing import Listing
from pic.core import held as holding
from pic.core.errors import ClusterError
from pic.core.held import Held
from pic.core.model import Plan
from pic.core.notices import Notice
from pic.settings import kinds
from pic.watch.evaluation import Evaluation, Evaluator
from pic.watch.health import Health
from pic.watch.leader import Leader
from pic.watch.loop import Loop, StopReason
from pic.watch.run_report import RunReport
from pic.watch.runs import Runs
from pic.watch.schedule import Verdict
from pic.watch.store import Store
from pic.watch.wakeup import Wakeup
from tests.support.fakes import unchanged_situation
from tests.support.leases import Leases

SERVICES = Listing(kinds.BY_NAME[kinds.SERVICE])
DONE = RunReport(0, deployed={"digest": "d"}, raw={"exitCode": 0})
DIFFERS, IN_SYNC = Verdict(in_sync=False, work="a"), Verdict(in_sync=True, work="b")

# The loop reports that the only watcher leads.
LEADS = ("leading", True)


class ScriptedWakeup(Wakeup):
    """Lets the whole timeout of each wait pass, and then runs the next step of the script."""

    def __init__(self) -> None:
        self.script: list[Callable[[], object]] = []
        self.now = 100.0
        self.waits: list[float] = []

    def wake(self) -> None:
        """Do nothing: no thread waits."""

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += max(seconds, 0.0)
        self.script.pop(0)()


class ScriptedRuns(Runs):
    """Logs starts and stops; a run ends when the test gives its report."""

    def __init__(self, log: list[object]) -> None:
        super().__init__(lambda _: (), {}, lambda *_: None, lambda: None)
        self.events = log
        self.reports: list[RunReport] = []
        self.is_running = False

    @property
    def running(self) -> bool:
        return self.is_running

    def start(self, now: float) -> None:
        self.events.append(("start", now))
        self.is_running = True

    def stop(self, now: float, reason: str) -> None:
        del now
        if self.is_running:
            self.events.append(("stop", reason))

    def check(self, now: float) -> tuple[RunReport | None, float]:
        if self.is_running and self.reports:
            self.is_running = False
            return self.reports.pop(0), now
        return None, now + 500.0


class ScriptedEvaluator(Evaluator):
    """Returns the verdicts of a script, or raises its errors."""

    def __init__(self, store: Store, log: list[object], results: list[Verdict | ClusterError]):
        situation = unchanged_situation("a.example.com")
        super().__init__(situation.config, situation.transport, store)
        self.events, self.results = log, results
        self.reads: list[bool] = []
        self.held: list[tuple[Held, ...]] = []
        self.wake: float | None = None

    @property
    def next_change(self) -> float | None:
        return self.wake

    def refresh(self) -> None:
        self.events.append("refresh")

    def evaluate(self, *, read_targets: bool = True) -> tuple[Evaluation, Plan | None]:
        self.reads.append(read_targets)
        result = self.results.pop(0)
        self.events.append(("evaluate", self.deployed))
        if isinstance(result, ClusterError):
            raise result
        held = self.held.pop(0) if self.held else ()
        return Evaluation(result, 3, {}), None if result.in_sync else Plan(held=held)


class LoggingHealth(Health):
    """Logs the reports that a test checks."""

    def __init__(self, log: list[object]) -> None:
        super().__init__()
        self.events = log

    def leading(self, *, yes: bool) -> None:
        self.events.append(("leading", yes))

    def run_ended(self, now: float, report: Mapping[str, object]) -> None:
        del now
        self.events.append(("ended", report["exitCode"]))

    def evaluated(self, plan: Plan, notices: Sequence[Notice], refused: int = 0) -> None:
        self.events.append(("evaluated", len(plan.resources), len(notices), refused))


class ScriptedLeader(Leader):
    """Gives the answers of a script; the last one stays."""

    def __init__(self, log: list[object], answers: list[bool | ClusterError]) -> None:
        super().__init__(Leases(), "pic", "prod", "a")
        self.events, self.answers = log, answers

    def hold(self) -> bool:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, ClusterError):
            raise answer
        return answer

    def release(self) -> None:
        self.events.append("release")


@dataclass
class Stage:
    """A loop and its scripted parts, which log to `events`; `lines` is the log of the watcher."""

    results: list[Verdict | ClusterError]
    leader: list[bool | ClusterError] | None = None
    events: list[object] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    wakeup: ScriptedWakeup = field(default_factory=ScriptedWakeup)
    settings_changed: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        self.store = Store([SERVICES], lambda: self.wakeup.now, self.wakeup.wake)
        self.runs = ScriptedRuns(self.events)
        self.evaluator = ScriptedEvaluator(self.store, self.events, self.results)
        self.loop = Loop(
            store=self.store,
            evaluator=self.evaluator,
            runs=self.runs,
            leader=ScriptedLeader(self.events, self.leader) if self.leader else None,
            health=LoggingHealth(self.events),
            wakeup=self.wakeup,
            log=lambda _, message: self.lines.append(message),
            clock=lambda: self.wakeup.now,
            settings_changed=self.settings_changed,
        )

    def play(self, *script: Callable[[], object]) -> StopReason:
        """Let things happen one after the other, and then stop."""
        self.wakeup.script = [*script, self.stop]
        return self.loop.run()

    def stop(self) -> None:
        self.wakeup.stop_requested = True

    def fill(self) -> None:
        self.store.replace(SERVICES, {})

    def change(self) -> None:
        self.store.put(SERVICES, f"a/{self.wakeup.now}", b"{}")

    def end(self, report: RunReport = DONE) -> None:
        self.runs.reports.append(report)


def do_nothing() -> None:
    """Let a wait end without an event."""


def test_the_first_run_starts_once_the_store_is_complete() -> None:
    stage = Stage([DIFFERS, IN_SYNC])

    reason = stage.play(
        do_nothing, stage.fill, do_nothing, stage.end, stage.change, do_nothing, do_nothing
    )

    assert reason is StopReason.STOPPED
    assert stage.events == [
        LEADS,
        "refresh",
        ("evaluate", None),
        ("evaluated", 0, 0, 3),
        ("start", stage.events[4][1]),  # type: ignore[index]
        ("ended", 0),
        ("evaluate", {"digest": "d"}),
        ("ended", 0),
    ]
    assert stage.lines == ["a deployment is due: starting a run"]


def test_a_change_is_evaluated_after_the_quiet_period() -> None:
    stage = Stage([IN_SYNC, IN_SYNC])
    stage.fill()

    stage.play(stage.change, do_nothing, do_nothing)

    assert [event for event in stage.events if event == ("evaluate", None)] == [
        ("evaluate", None)
    ] * 2
    assert 2.0 in stage.wakeup.waits


def test_the_log_says_when_a_failed_run_is_retried() -> None:
    stage = Stage([DIFFERS, DIFFERS])
    stage.fill()

    stage.play(lambda: stage.end(RunReport(5, temporary=True, raw={"exitCode": 5})), do_nothing)

    assert stage.lines[1:] == ["the run failed: trying again in 30 s at the latest"]
    assert ("ended", 5) in stage.events


def test_a_rate_limited_target_is_not_read_before_its_retry_time() -> None:
    stage = Stage([DIFFERS, DIFFERS, IN_SYNC])
    stage.fill()
    limited = RunReport(1, retry_after=90, raw={"exitCode": 1})

    stage.play(lambda: stage.end(limited), stage.change, *[do_nothing] * 12)

    assert stage.evaluator.reads == [True, False, True]
    assert stage.lines[1] == "the run failed: trying again in 90 s at the latest"


def test_an_evaluation_that_fails_repeatedly_is_logged_once() -> None:
    away = ClusterError("no answer")
    stage = Stage([away, away, IN_SYNC])
    stage.fill()

    stage.play(*[do_nothing] * 4)

    assert stage.lines == ["no answer"]
    assert stage.events == [LEADS, *["refresh", ("evaluate", None)] * 3, ("ended", 0)]


def test_a_stop_waits_for_the_run_to_end() -> None:
    stage = Stage([DIFFERS])
    stage.fill()
    interrupted = RunReport(1, temporary=True, raw={"exitCode": 1})

    reason = stage.play(stage.stop, do_nothing, lambda: stage.end(interrupted))

    assert reason is StopReason.STOPPED
    assert stage.events[-2:] == [("stop", "the watcher was asked to stop"), ("ended", 1)]


def test_changed_settings_end_the_loop_between_two_runs() -> None:
    events: list[object] = []
    stage = Stage([DIFFERS], events=events, settings_changed=lambda: ("ended", 0) in events)
    stage.fill()

    reason = stage.play(do_nothing, stage.end, do_nothing)

    assert reason is StopReason.SETTINGS
    assert stage.events[-1] == ("ended", 0)


def test_only_the_leader_starts_runs() -> None:
    stage = Stage([DIFFERS], leader=[False, False, True])
    stage.fill()

    stage.play(do_nothing, do_nothing, stage.end, do_nothing)

    assert stage.lines == [
        "this watcher is on standby",
        "this watcher is the leader",
        "a deployment is due: starting a run",
    ]
    assert stage.events[:3] == [("leading", False), ("leading", True), "refresh"]
    assert stage.events[-1] == "release"


def test_a_leader_that_returns_does_not_know_what_is_deployed() -> None:
    stage = Stage([DIFFERS, IN_SYNC], leader=[True, False, True])
    stage.fill()

    stage.play(stage.end, do_nothing, do_nothing, do_nothing, do_nothing, do_nothing)

    evaluations = [
        event for event in stage.events if isinstance(event, tuple) and event[0] == "evaluate"
    ]
    assert evaluations == [("evaluate", None), ("evaluate", None)]


def test_a_run_stops_when_the_lease_is_lost() -> None:
    stage = Stage([DIFFERS], leader=[True, False])
    stage.fill()

    stage.play(do_nothing, stage.end, do_nothing)

    assert ("stop", "this watcher has lost the Lease") in stage.events


def test_a_lease_that_cannot_be_held_is_logged_once() -> None:
    stage = Stage([], leader=[ClusterError("grant create on leases")])
    stage.fill()

    stage.play(do_nothing, do_nothing, do_nothing)

    assert stage.lines == ["grant create on leases", "this watcher is on standby"]


def test_each_held_change_is_logged_once_and_again_after_it_has_gone() -> None:
    stage = Stage([DIFFERS] * 4)
    weak = Held(
        "a.example.com", holding.Verdict.WEAKENED, "prod", "login", "public", "why", "11" * 8
    )
    move = Held("b.example.com", holding.Verdict.MOVED, "prod", "prod", "team", "why", "22" * 8)
    stage.evaluator.held = [(weak,), (weak, move), (), (weak,)]

    for _ in range(4):
        stage.loop._evaluate()  # noqa: SLF001

    line = f"a.example.com waits (weakened): pic up --acknowledge {'11' * 8} lets it through"
    other = f"b.example.com waits (moved): pic up --acknowledge {'22' * 8} lets it through"
    assert stage.lines == [line, other, line]


def test_17_the_loop_wakes_when_time_alone_changes_the_plan() -> None:
    stage = Stage([IN_SYNC, IN_SYNC])
    stage.evaluator.wake = 7.0

    stage.play(stage.fill, do_nothing, do_nothing)

    assert 7.0 in stage.wakeup.waits
