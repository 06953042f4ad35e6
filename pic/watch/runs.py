"""Starts runs, one at a time, limits their duration, stops them, and reads their reports."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pic.core import logs
from pic.core.logs import Log
from pic.watch import run_report
from pic.watch.child_process import ChildProcess
from pic.watch.run_report import RunReport

REPORT_FILE = "report.json"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How long a run may take, in seconds.

    Attributes:
        run: The time until the run is asked to stop.
        grace: The time that it then has before it is killed.
    """

    # The command line has the same defaults. A pod gets 60 s to end, so the grace fits into that.
    run: float = 900.0
    grace: float = 25.0


@dataclass
class _Run:
    """The current run.

    Attributes:
        folder: The folder of its report.
        deadline: When the run is asked to stop, or killed if it was asked before.
        interrupted: The run was asked to stop.
    """

    process: ChildProcess
    folder: "tempfile.TemporaryDirectory[str]"
    deadline: float
    interrupted: bool = False


@dataclass
class Runs:
    """Starts runs, one at a time.

    Attributes:
        command: Returns the command of a run that writes its report to a file.
        environment: The environment of each run.
        wake: Called once a run has ended.
    """

    command: Callable[[Path], Sequence[str]]
    environment: Mapping[str, str]
    log: Log
    wake: Callable[[], None]
    limits: RunLimits = RunLimits()
    _run: _Run | None = field(default=None, init=False)

    @property
    def running(self) -> bool:
        """A run has started, and `check` has not returned its report yet."""
        return self._run is not None

    def start(self, now: float) -> None:
        """Start a run."""
        folder = tempfile.TemporaryDirectory(prefix="pic-run-")
        command = self.command(Path(folder.name) / REPORT_FILE)
        process = ChildProcess(command, self.environment, self.log, self.wake)
        self._run = _Run(process, folder, now + self.limits.run)

    def stop(self, now: float, reason: str) -> None:
        """Ask the run to stop, unless it was asked before."""
        # A second signal would make an engine end without saving its state.
        run = self._run
        if run and not run.interrupted:
            self.log(logs.WARN, f"stopping the run: {reason}")
            run.process.interrupt()
            run.deadline, run.interrupted = now + self.limits.grace, True

    def check(self, now: float) -> tuple[RunReport | None, float]:
        """Return the report if the run has ended, and when to check again otherwise."""
        run = self._run
        if run is None:
            return None, now
        if run.process.exit_code is not None:
            return self._finish(run), now
        if now >= run.deadline and run.interrupted:
            self.log(logs.ERROR, f"killing the run: it did not stop within {self.limits.grace:g} s")
            run.process.terminate()
        elif now >= run.deadline:
            self.stop(now, f"it takes longer than {self.limits.run:g} s")
        return None, run.deadline

    def _finish(self, run: _Run) -> RunReport:
        exit_code = run.process.wait()
        # A run that was killed has written no report.
        file = Path(run.folder.name) / REPORT_FILE
        content = file.read_text(encoding="utf-8") if file.exists() else ""
        run.folder.cleanup()
        self._run = None
        return run_report.read(content, exit_code)
