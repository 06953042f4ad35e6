"""Runs the main loop of the watcher: takes in updates, decides, evaluates, and starts runs.

Everything here happens in the main thread. The followers and signal handlers wake it up, and it
also wakes up when the schedule, a run or the Lease needs it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from pic.core import logs
from pic.core.errors import ClusterError
from pic.core.logs import Log
from pic.core.model import Plan
from pic.watch import memory, schedule
from pic.watch.evaluation import Evaluator
from pic.watch.run_report import RunReport
from pic.watch.runs import Runs
from pic.watch.schedule import Action, Intervals, ScheduleState
from pic.watch.store import Store
from pic.watch.wakeup import Wakeup

if TYPE_CHECKING:
    from pic.watch.health import Health
    from pic.watch.leader import Leader

# The time between two renewals of the Lease, and between two checks of the settings.
RENEWAL_SECONDS, SETTINGS_SECONDS = 2.0, 10.0


class StopReason(Enum):
    """Why the loop has ended."""

    STOPPED = "stopped"
    SETTINGS = "settings"


@dataclass
class Loop:
    """The main thread of a watcher.

    Attributes:
        leader: None if this is the only watcher.
        clock: Seconds that never go back.
        settings_changed: Says whether the settings differ from those at the start, and are valid.
    """

    store: Store
    evaluator: Evaluator
    runs: Runs
    leader: "Leader | None"
    health: "Health"
    wakeup: Wakeup
    log: Log
    clock: Callable[[], float]
    intervals: Intervals = field(default_factory=Intervals)
    settings_changed: Callable[[], bool] = lambda: False
    state: ScheduleState = field(default_factory=ScheduleState)
    _leading: bool | None = field(default=None, init=False)
    _last_problem: str = field(default="", init=False)
    _reported_held: frozenset[str] = field(default=frozenset(), init=False)
    _due_at: dict[str, float] = field(default_factory=dict, init=False)

    def run(self) -> StopReason:
        """Loop until a stop is requested, or the settings have changed.

        When this returns, the current run has ended or was killed.
        """
        reason = "the watcher was asked to stop"
        if self.leader is None:
            self.health.leading(yes=True)
        while not self.wakeup.stop_requested:
            if self._settings_differ():
                reason = "the settings have changed"
                break
            self.wakeup.wait(self._round() - self.clock())
        self._finish(reason)
        return StopReason.STOPPED if self.wakeup.stop_requested else StopReason.SETTINGS

    def _settings_differ(self) -> bool:
        # A run reads the settings itself, so the watcher restarts between two runs.
        is_due = self._is_due("settings", SETTINGS_SECONDS)
        return is_due and not self.runs.running and self.settings_changed()

    def _is_due(self, task: str, period: float) -> bool:
        now = self.clock()
        if now < self._due_at.get(task, now):
            return False
        self._due_at[task] = now + period
        return True

    def _round(self) -> float:
        """Do one round, and return when the next one is due at the latest."""
        self.health.beat(self.clock())
        # First the Lease, because a watcher that has lost it must not start a run.
        self._hold_lease()
        check_at = self._check_run()
        self._take_updates()
        until = self._act()
        return min(until, check_at, *self._due_at.values())

    def _hold_lease(self) -> None:
        if self.leader is None or not self._is_due("lease", RENEWAL_SECONDS):
            return
        leading, before = self._is_leader(self.leader), self._leading
        self._leading = leading
        if leading != before:
            self.health.leading(yes=leading)
            self.log(logs.INFO, f"this watcher is {'the leader' if leading else 'on standby'}")
            # Another leader may deploy meanwhile, so this watcher no longer knows what is deployed.
            self.evaluator.deployed = None
            self.state = schedule.after_takeover(self.state)
        if not leading:
            self.runs.stop(self.clock(), "this watcher has lost the Lease")

    def _is_leader(self, leader: "Leader") -> bool:
        try:
            return leader.hold()
        except ClusterError as error:
            self._log_problem(str(error))
            return False

    def _check_run(self) -> float:
        """Take in a run that has ended, and return when to check again."""
        report, check_at = self.runs.check(self.clock())
        if report:
            self._end_run(report)
        return check_at if self.runs.running else schedule.NEVER

    def _end_run(self, report: RunReport) -> None:
        now = self.clock()
        self.evaluator.deployed = report.deployed
        self.state = schedule.after_run_end(self.state, now, report, self.intervals)
        self.health.run_ended(now, report.raw)
        if self.state.retry_at < schedule.NEVER:
            wait = self.state.retry_at - now
            self.log(logs.WARN, f"the run failed: trying again in {wait:.0f} s at the latest")

    def _take_updates(self) -> None:
        updates = self.store.take_updates()
        if updates.first_change is not None:
            self.state = schedule.after_changes(
                self.state, updates.first_change, updates.last_change
            )
        for kind, is_synced in sorted(updates.synced.items()):
            self.health.synced(kind, ok=is_synced)
        if updates.contact_at is not None:
            self.health.contact(updates.contact_at)
        self.health.queue(schedule.oldest_pending(self.state))
        may_run = self.leader is None or bool(self._leading)
        self.state = schedule.with_readiness(self.state, ready=updates.complete and may_run)

    def _act(self) -> float:
        """Do what the schedule decides, and return when to decide again."""
        while True:
            decision = schedule.decide(self.state, self.clock(), self.intervals)
            if decision.action is Action.WAIT:
                return decision.until
            if decision.action is Action.EVALUATE:
                self._evaluate()
            else:
                self._start_run()

    def _evaluate(self) -> None:
        now = self.clock()
        try:
            if schedule.is_resync(self.state, now, self.intervals):
                self.evaluator.refresh()
            # A target that limits requests is not read before the next run may start.
            read_targets = now >= self.state.earliest_run
            evaluation, plan = self.evaluator.evaluate(read_targets=read_targets)
        except ClusterError as error:
            self._log_problem(str(error))
            self.state = schedule.after_failed_evaluation(self.state, now, self.intervals)
            return
        if plan is not None:
            self._report(plan, evaluation.removals)
            # Planning needs memory that the watcher does not need while it waits.
            memory.trim()
        self._last_problem = ""
        verdict = evaluation.verdict
        self.state = schedule.after_evaluation(self.state, now, verdict, self.intervals)
        if (seconds := self.evaluator.next_change) is not None:
            self.state = schedule.with_wake(self.state, now + seconds)
        # For metrics and health, a check that finds nothing to do is a run without changes.
        if verdict.in_sync:
            self.health.run_ended(now, {"version": 1, "exitCode": 0})

    def _report(self, plan: Plan, removals: int) -> None:
        notices = [*plan.notices, *self.evaluator.config.remarks]
        for held in plan.held:
            if held.digest not in self._reported_held:
                command = f"pic up --acknowledge {held.digest}"
                self.log(
                    logs.WARN, f"{held.host} waits ({held.verdict}): {command} lets it through"
                )
        self._reported_held = frozenset(held.digest for held in plan.held)
        self.health.evaluated(plan, notices, removals)

    def _start_run(self) -> None:
        now = self.clock()
        self.log(logs.INFO, "a deployment is due: starting a run")
        self.state = schedule.after_run_start(self.state)
        self.health.run_started(now)
        self.runs.start(now)

    def _log_problem(self, message: str) -> None:
        """Log a problem, unless it is still the last one."""
        if message != self._last_problem:
            self._last_problem = message
            self.log(logs.WARN, message)

    def _finish(self, reason: str) -> None:
        self.runs.stop(self.clock(), reason)
        while self.runs.running:
            report, check_at = self.runs.check(self.clock())
            if report:
                self._end_run(report)
            else:
                self.wakeup.wait(check_at - self.clock())
        # Only after the run: the next leader may start one at once.
        if self.leader:
            self.leader.release()
