"""The loop of the watcher: it takes in what came, decides, looks, and starts runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum

from pic.core import logs
from pic.core.errors import ClusterError
from pic.core.model import Plan
from pic.watch import memory, schedule
from pic.watch.evaluation import Evaluator
from pic.watch.protocols import Health, Leader, Log
from pic.watch.run_report import RunReport
from pic.watch.runs import Runs
from pic.watch.schedule import Action, Intervals, ScheduleState
from pic.watch.store import Store
from pic.watch.wakeup import Wakeup

# The pause between two renewals of a lease, and between two looks at the settings.
LEASE_SECONDS, SETTINGS_SECONDS = 2.0, 10.0


class StopReason(Enum):
    """Why the loop has ended."""

    STOPPED = "stopped"
    SETTINGS = "settings"


@dataclass
class Loop:
    """What there is of a watcher beside its feeds.

    Attributes:
        renewed: Says whether the settings are others than at the start, and can be right.
        leader: None where this is the only watcher.
        clock: Seconds that only grow.
    """

    cache: Store
    looker: Evaluator
    runs: Runs
    leader: Leader | None
    health: Health
    bell: Wakeup
    tell: Log
    clock: Callable[[], float]
    pace: Intervals = field(default_factory=Intervals)
    renewed: Callable[[], bool] = lambda: False
    state: ScheduleState = field(default_factory=ScheduleState)
    _held: bool | None = field(default=None, init=False)
    _told: str = field(default="", init=False)
    _next: dict[str, float] = field(default_factory=dict, init=False)

    def run(self) -> StopReason:
        """Go round until a stop is asked for, or the settings have changed.

        A run that is going on is let end first, or ended.
        """
        why = "the watcher is asked to end"
        if self.leader is None:
            self.health.leading(yes=True)
        while not self.bell.over:
            if self._due("settings", SETTINGS_SECONDS) and not self.runs.going and self.renewed():
                why = "the settings have changed"
                break
            self.bell.wait(self._round() - self.clock())
        self._finish(why)
        return StopReason.STOPPED if self.bell.over else StopReason.SETTINGS

    def _due(self, what: str, period: float) -> bool:
        now = self.clock()
        if now < self._next.get(what, now):
            return False
        self._next[what] = now + period
        return True

    def _round(self) -> float:
        """Go round once, and return when to go round again at the latest."""
        self.health.beat(self.clock())
        self._hold()
        asked_again = self._settle()
        self._take_in()
        until = self._act()
        return min(until, asked_again, *self._next.values())

    def _hold(self) -> None:
        if self.leader is None or not self._due("lease", LEASE_SECONDS):
            return
        held, before = self._is_ours(self.leader), self._held
        self._held = held
        if held != before:
            self.health.leading(held)
            self.tell(logs.INFO, "this watcher leads" if held else "another watcher leads")
            self.looker.deployed = None
            self.state = schedule.after_takeover(self.state)
        if not held:
            self.runs.stop(self.clock(), "the lease is lost")

    def _is_ours(self, leader: Leader) -> bool:
        try:
            return leader.hold()
        except ClusterError as error:
            self._complain(str(error))
            return False

    def _settle(self) -> float:
        """Take note of a run that has ended, and return when to ask again."""
        found, again = self.runs.check(self.clock())
        if found:
            self._ended(found)
        return again if self.runs.going else schedule.NEVER

    def _ended(self, found: RunReport) -> None:
        now = self.clock()
        self.looker.deployed = found.deployed
        self.state = schedule.after_run_end(self.state, now, found, self.pace)
        self.health.run_ended(now, found.raw)
        if self.state.retry < schedule.NEVER:
            wait = self.state.retry - now
            self.tell(logs.WARN, f"the run failed: trying again in {wait:.0f} s at the latest")

    def _take_in(self) -> None:
        news = self.cache.news()
        if news.first is not None:
            self.state = schedule.after_changes(self.state, news.first, news.last)
        for kind, known in sorted(news.synced.items()):
            self.health.synced(kind, known)
        if news.contact is not None:
            self.health.contact(news.contact)
        self.health.queue(schedule.oldest_pending(self.state))
        ours = self.leader is None or bool(self._held)
        self.state = schedule.with_readiness(self.state, ready=news.complete and ours)

    def _act(self) -> float:
        while True:
            decision = schedule.decide(self.state, self.clock(), self.pace)
            if decision.do is Action.WAIT:
                return decision.until
            if decision.do is Action.EVALUATE:
                self._look()
            else:
                self._start()

    def _look(self) -> None:
        now = self.clock()
        try:
            if schedule.is_resync(self.state, now, self.pace):
                self.looker.ask()
            # A target that is asked too often is left alone until a run may begin.
            view, plan = self.looker.look(read_targets=now >= self.state.earliest)
        except ClusterError as error:
            self._complain(str(error))
            self.state = schedule.after_failed_evaluation(self.state, now, self.pace)
            return
        if plan is not None:
            self._report(plan, view.removals)
            # What planning needed is of no use while nothing happens.
            memory.trim()
        self._told = ""
        self.state = schedule.after_evaluation(self.state, now, view.verdict, self.pace)
        if view.verdict.same:
            self.health.run_ended(now, {"version": 1, "exitCode": 0})

    def _report(self, plan: Plan, removals: int) -> None:
        notices = [*plan.notices, *self.looker.config.remarks]
        self.health.evaluated(plan, notices, removals)

    def _start(self) -> None:
        now = self.clock()
        self.tell(logs.INFO, "something is to be done: starting a run")
        self.state = schedule.after_run_start(self.state)
        self.health.run_started(now)
        self.runs.start(now)

    def _complain(self, words: str) -> None:
        if words != self._told:
            self._told = words
            self.tell(logs.WARN, words)

    def _finish(self, why: str) -> None:
        self.runs.stop(self.clock(), why)
        while self.runs.going:
            found, again = self.runs.check(self.clock())
            if found:
                self._ended(found)
            else:
                self.bell.wait(again - self.clock())
        if self.leader:
            self.leader.release()
