"""The loop, over doors that are scripted: a wait is where the next thing happens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pic.cluster.listing import Listing
from pic.core.errors import ClusterError
from pic.core.model import Plan
from pic.core.notices import Notice
from pic.settings import kinds
from pic.watch.evaluation import Evaluation
from pic.watch.loop import Loop, StopReason
from pic.watch.run_report import RunReport
from pic.watch.schedule import Verdict
from pic.watch.store import Store
from tests.support.fakes import unchanged_situation

SERVICES = Listing(kinds.BY_NAME[kinds.SERVICE])
DONE = RunReport(0, deployed={"digest": "d"}, raw={"exitCode": 0})
DIFFERS, SAME = Verdict(same=False, wish="a"), Verdict(same=True, wish="b")


@dataclass
class Bell:
    """Lets a scripted thing happen at each wait, after the time that it may take."""

    script: list[Callable[[], object]]
    now: float = 100.0
    waits: list[float] = field(default_factory=list)
    over: bool = False

    def ring(self) -> None:
        """Nobody waits."""

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += max(seconds, 0.0)
        self.script.pop(0)()


@dataclass
class Runs:
    log: list[object]
    ends: list[RunReport] = field(default_factory=list)
    going: bool = False

    def start(self, now: float) -> None:
        self.log.append(("start", now))
        self.going = True

    def stop(self, _now: float, why: str) -> None:
        if self.going:
            self.log.append(("stop", why))

    def check(self, now: float) -> tuple[RunReport | None, float]:
        if self.going and self.ends:
            self.going = False
            return self.ends.pop(0), now
        return None, now + 500.0


@dataclass
class Looker:
    log: list[object]
    finds: list[Verdict | ClusterError]
    config: object = field(default_factory=lambda: unchanged_situation("a.example.com").config)
    deployed: object = None
    reads: list[bool] = field(default_factory=list)

    def ask(self) -> None:
        self.log.append("ask")

    def look(self, *, ask_pihole: bool) -> tuple[Evaluation, Plan | None]:
        self.reads.append(ask_pihole)
        found = self.finds.pop(0)
        self.log.append(("look", self.deployed))
        if isinstance(found, ClusterError):
            raise found
        return Evaluation(found, 3, {}), None if found.wish == "b" else Plan()


@dataclass
class Health:
    log: list[object]

    def beat(self, now: float) -> None:
        """Too often to be told."""

    def contact(self, now: float) -> None:
        """As above."""

    def synced(self, kind: str, ok: bool) -> None:  # noqa: FBT001 - as in Health
        """As above."""

    def leading(self, yes: bool) -> None:  # noqa: FBT001 - as in Health
        self.log.append(("leading", yes))

    def queue(self, oldest_change_at: float | None) -> None:
        """As above."""

    def run_started(self, now: float) -> None:
        """The run says it."""

    def run_ended(self, _now: float, report: Mapping[str, object]) -> None:
        self.log.append(("ended", report["exitCode"]))

    def evaluated(self, plan: Plan, notices: Sequence[Notice], refused: int = 0) -> None:
        self.log.append(("evaluated", len(plan.resources), len(notices), refused))


@dataclass
class Leader:
    answers: list[bool | ClusterError]
    log: list[object]

    def hold(self) -> bool:
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, ClusterError):
            raise found
        return found

    def release(self) -> None:
        self.log.append("release")


# Whoever is the only watcher is ready as one that leads.
LEADS = ("leading", True)


@dataclass
class Stage:
    """A loop, and what happened to its doors."""

    finds: list[Verdict | ClusterError]
    leader: list[bool | ClusterError] | None = None
    log: list[object] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    bell: Bell = field(default_factory=lambda: Bell([]))
    renewed: Callable[[], bool] = lambda: False

    def __post_init__(self) -> None:
        self.cache = Store([SERVICES], lambda: self.bell.now, self.bell.ring)
        self.runs = Runs(self.log)
        self.looker = Looker(self.log, self.finds)
        self.loop = Loop(
            cache=self.cache,
            looker=self.looker,  # type: ignore[arg-type]
            runs=self.runs,  # type: ignore[arg-type]
            leader=Leader(self.leader, self.log) if self.leader else None,
            health=Health(self.log),
            bell=self.bell,  # type: ignore[arg-type]
            tell=lambda _, words: self.said.append(words),
            clock=lambda: self.bell.now,
            renewed=self.renewed,
        )

    def play(self, *script: Callable[[], object]) -> StopReason:
        """Let things happen one after the other, and then stop."""
        self.bell.script = [*script, self.stop]
        return self.loop.run()

    def stop(self) -> None:
        self.bell.over = True

    def fill(self) -> None:
        self.cache.replace(SERVICES, {})

    def change(self) -> None:
        self.cache.put(SERVICES, f"a/{self.bell.now}", b"{}")

    def end(self, report: RunReport = DONE) -> None:
        self.runs.ends.append(report)


def nothing() -> None:
    """A wait that ends by itself."""


def test_the_first_run_begins_once_all_is_known() -> None:
    stage = Stage([DIFFERS, SAME])

    ended = stage.play(nothing, stage.fill, nothing, stage.end, stage.change, nothing, nothing)

    assert ended is StopReason.STOPPED
    assert stage.log == [
        LEADS,
        "ask",
        ("look", None),
        ("evaluated", 0, 0, 3),
        ("start", stage.log[4][1]),  # type: ignore[index]
        ("ended", 0),
        ("look", {"digest": "d"}),
        ("ended", 0),
    ]
    assert stage.said == ["something is to be done: starting a run"]


def test_a_change_is_looked_at_after_the_quiet_period() -> None:
    stage = Stage([SAME, SAME])
    stage.fill()

    stage.play(stage.change, nothing, nothing)

    assert [each for each in stage.log if each == ("look", None)] == [("look", None)] * 2
    assert 2.0 in stage.bell.waits


def test_a_failed_run_says_when_it_is_tried_again() -> None:
    stage = Stage([DIFFERS, DIFFERS])
    stage.fill()

    stage.play(lambda: stage.end(RunReport(5, temporary=True, raw={"exitCode": 5})), nothing)

    assert stage.said[1:] == ["the run failed: trying again in 30 s at the latest"]
    assert ("ended", 5) in stage.log


def test_a_target_that_is_asked_too_often_is_left_alone_for_as_long_as_it_says() -> None:
    stage = Stage([DIFFERS, DIFFERS, SAME])
    stage.fill()
    limited = RunReport(1, limited=90, raw={"exitCode": 1})

    stage.play(lambda: stage.end(limited), stage.change, *[nothing] * 12)

    assert stage.looker.reads == [True, False, True]
    assert stage.said[1] == "the run failed: trying again in 90 s at the latest"


def test_a_look_that_is_not_possible_is_complained_of_once() -> None:
    away = ClusterError("no answer")
    stage = Stage([away, away, SAME])
    stage.fill()

    stage.play(*[nothing] * 4)

    assert stage.said == ["no answer"]
    assert stage.log == [LEADS, *["ask", ("look", None)] * 3, ("ended", 0)]


def test_a_stop_lets_the_run_end_first() -> None:
    stage = Stage([DIFFERS])
    stage.fill()
    interrupted = RunReport(1, temporary=True, raw={"exitCode": 1})

    ended = stage.play(stage.stop, nothing, lambda: stage.end(interrupted))

    assert ended is StopReason.STOPPED
    assert stage.log[-2:] == [("stop", "the watcher is asked to end"), ("ended", 1)]


def test_other_settings_end_it_between_two_runs() -> None:
    log: list[object] = []
    stage = Stage([DIFFERS], log=log, renewed=lambda: ("ended", 0) in log)
    stage.fill()

    ended = stage.play(nothing, stage.end, nothing)

    assert ended is StopReason.SETTINGS
    assert stage.log[-1] == ("ended", 0)


def test_only_who_leads_starts_runs() -> None:
    stage = Stage([DIFFERS], leader=[False, False, True])
    stage.fill()

    stage.play(nothing, nothing, stage.end, nothing)

    assert stage.said == [
        "another watcher leads",
        "this watcher leads",
        "something is to be done: starting a run",
    ]
    assert stage.log[:3] == [("leading", False), ("leading", True), "ask"]
    assert stage.log[-1] == "release"


def test_who_leads_again_does_not_know_what_is_deployed() -> None:
    stage = Stage([DIFFERS, SAME], leader=[True, False, True])
    stage.fill()

    stage.play(stage.end, nothing, nothing, nothing, nothing, nothing)

    looks = [each for each in stage.log if isinstance(each, tuple) and each[0] == "look"]
    assert looks == [("look", None), ("look", None)]


def test_a_run_ends_with_the_lease() -> None:
    stage = Stage([DIFFERS], leader=[True, False])
    stage.fill()

    stage.play(nothing, stage.end, nothing)

    assert ("stop", "the lease is lost") in stage.log


def test_a_lease_that_nobody_can_hold_is_complained_of_once() -> None:
    stage = Stage([], leader=[ClusterError("grant create on leases")])
    stage.fill()

    stage.play(nothing, nothing, nothing)

    assert stage.said == ["grant create on leases", "another watcher leads"]
