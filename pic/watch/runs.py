"""The one run that may be going on: started, limited in time, stopped, and its report read."""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pic.core import logs
from pic.watch import run_report
from pic.watch.child_process import ChildProcess
from pic.watch.protocols import Log
from pic.watch.run_report import RunReport

REPORT_FILE = "report.json"


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How long a run may take, in seconds.

    Attributes:
        run: Until it is asked to end.
        grace: From there until it is ended.
    """

    run: float = 900.0
    grace: float = 25.0


@dataclass
class _Going:
    """A run that is going on.

    Attributes:
        folder: Where its report will be.
        until: When it is asked to end, or ended where it was asked before.
    """

    child: ChildProcess
    folder: "tempfile.TemporaryDirectory[str]"
    until: float
    asked: bool = False


@dataclass
class Runs:
    """Starts runs, one at a time.

    Attributes:
        command: Returns the command of a run that writes its report into a file.
    """

    command: Callable[[Path], Sequence[str]]
    environment: Mapping[str, str]
    tell: Log
    ring: Callable[[], None]
    limits: RunLimits = RunLimits()
    _run: _Going | None = field(default=None, init=False)

    @property
    def going(self) -> bool:
        """A run is going on."""
        return self._run is not None

    def start(self, now: float) -> None:
        """Start one."""
        folder = tempfile.TemporaryDirectory(prefix="pic-run-")
        command = self.command(Path(folder.name) / REPORT_FILE)
        child = ChildProcess(command, self.environment, self.tell, self.ring)
        self._run = _Going(child, folder, now + self.limits.run)

    def stop(self, now: float, why: str) -> None:
        """Ask the run to end with what it is about, unless it was asked before."""
        run = self._run
        if run and not run.asked:
            self.tell(logs.WARN, f"stopping the run: {why}")
            run.child.interrupt()
            run.until, run.asked = now + self.limits.grace, True

    def check(self, now: float) -> tuple[RunReport | None, float]:
        """Return the report of a run that has ended, and when to ask again otherwise."""
        run = self._run
        if run is None:
            return None, now
        if run.child.code is not None:
            return self._ended(run), now
        if now >= run.until and run.asked:
            self.tell(
                logs.ERROR, f"ending the run: it took more than {self.limits.grace:g} s to end"
            )
            run.child.end()
        elif now >= run.until:
            self.stop(now, f"it takes longer than {self.limits.run:g} s")
        return None, run.until

    def _ended(self, run: _Going) -> RunReport:
        code = run.child.wait()
        file = Path(run.folder.name) / REPORT_FILE
        words = file.read_text(encoding="utf-8") if file.exists() else ""
        run.folder.cleanup()
        self._run = None
        return run_report.read(words, code)
