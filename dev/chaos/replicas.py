"""Starts the watchers, kills them at random, and starts them again."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from dev.chaos.stage import PLATFORM, STACK
from dev.workspace import SUPERVISOR, Workspace

DOWN_SECONDS = (0.2, 2.0)
STOP_SECONDS = 60.0
# The exit codes of a run that was refused, and of one that holds something back.
ENDINGS = {3: "refused", 8: "held"}


@dataclass
class Replicas:
    """The watchers of one stack.

    Attributes:
        elected: The watchers elect a leader; otherwise there is only one.
        kills: How many watchers were ended, by the name of the signal.
        starts: How often a watcher was started.
    """

    project: Workspace
    logs: Path
    rng: random.Random
    elected: bool = True
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    _running: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _due_at: dict[int, float] = field(default_factory=dict)

    @contextmanager
    def running(self, count: int, *, elected: bool) -> Iterator[None]:
        """Start watchers, and stop all of them when the block ends."""
        self.elected = elected
        for number in range(count):
            self._start(number)
        try:
            yield
        finally:
            self.stop()

    def restart_ended(self) -> None:
        """Start each watcher that has ended again, after a random pause."""
        for number, process in list(self._running.items()):
            if process.poll() is not None:
                self._note_end(number)
        for number, due_at in list(self._due_at.items()):
            if monotonic() >= due_at:
                del self._due_at[number]
                self._start(number)

    def kill(self) -> None:
        """Kill a random watcher: mostly with SIGKILL, sometimes with SIGTERM as Kubernetes does."""
        if not self._running:
            return
        number = self.rng.choice(sorted(self._running))
        sent = signal.SIGTERM if self.rng.random() < 0.25 else signal.SIGKILL
        if pid := child_pid(self._running[number].pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sent)
                self.kills[sent.name] += 1

    def stop(self) -> None:
        """Stop all watchers with SIGTERM, as Kubernetes does."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
        self._due_at.clear()

    def _note_end(self, number: int) -> None:
        self._running.pop(number).wait()
        self._due_at[number] = monotonic() + self.rng.uniform(*DOWN_SECONDS)

    def _start(self, number: int) -> None:
        self.starts += 1
        supervisor = [sys.executable, "-I", "-S", str(SUPERVISOR), str(os.getpid())]
        with (self.logs / f"watch-{number}.log").open("ab") as log:
            self._running[number] = subprocess.Popen(
                [*supervisor, *command(self.project, elected=self.elected)],
                cwd=self.project.path,
                env=self.project.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                # Ctrl-C must reach only this process, which stops the watchers.
                start_new_session=True,
            )


def command(project: Workspace, *, elected: bool) -> list[str]:
    """Return the command of a watcher."""
    words = ["watch", "--stack", STACK, "--listen", "127.0.0.1:0", "--log-format", "json"]
    election = (
        ["--leader-elect", "--lease-namespace", PLATFORM] if elected else ["--no-leader-elect"]
    )
    return [str(project.python), "-m", "pic", *words, *election]


def child_pid(supervisor: int) -> int | None:
    """Return the pid of the child of a supervisor; None if the child has ended."""
    try:
        words = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    except OSError:
        return None
    return int(words[0]) if words else None


def count_runs(logs: Path) -> Counter[str]:
    """Count in the logs how many runs started, and how they ended."""
    counts: Counter[str] = Counter()
    for log in sorted(logs.glob("watch-*.log")):
        for line in log.read_text(errors="replace").splitlines():
            # The last line of a killed watcher may be incomplete.
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                counts.update(_run_events(entry.get("msg", ""), entry.get("exit_code")))
    return counts


def _run_events(message: str, code: object) -> Iterator[str]:
    if message.endswith("starting a run"):
        yield "started"
    elif message.startswith("Done: "):
        yield "done"
    elif code is not None:
        yield ENDINGS.get(code, f"exit code {code}") if isinstance(code, int) else "error"
