"""The watchers: started, killed, and started again."""

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

from dev.chaos.stage import HOME, STACK
from dev.workspace import SUPERVISOR, Workspace

DOWN_SECONDS = (0.2, 2.0)
END_SECONDS = 60.0
REFUSED = 3


@dataclass
class Replicas:
    """Some watchers of one stack.

    Attributes:
        elected: Whether they share a Lease; else there is one at a time.
        kills: How many signals ended one, by name.
        starts: How many times one was started.
    """

    project: Workspace
    logs: Path
    dice: random.Random
    elected: bool = True
    kills: Counter[str] = field(default_factory=Counter)
    starts: int = 0
    _running: dict[int, "subprocess.Popen[bytes]"] = field(default_factory=dict)
    _due: dict[int, float] = field(default_factory=dict)

    @contextmanager
    def running(self, count: int, *, elected: bool) -> Iterator[None]:
        """Start some, and end whatever runs when the block ends."""
        self.elected = elected
        for number in range(count):
            self._start(number)
        try:
            yield
        finally:
            self.end()

    def turn(self) -> None:
        """Start again what is down, once it has been for long enough."""
        for number, process in list(self._running.items()):
            if process.poll() is not None:
                self._fallen(number)
        for number, due in list(self._due.items()):
            if monotonic() >= due:
                del self._due[number]
                self._start(number)

    def kill(self) -> None:
        """End one of them: mostly at once, sometimes as Kubernetes does."""
        if not self._running:
            return
        number = self.dice.choice(sorted(self._running))
        wanted = signal.SIGTERM if self.dice.random() < 0.25 else signal.SIGKILL
        if pid := child_of(self._running[number].pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, wanted)
                self.kills[wanted.name] += 1

    def end(self) -> None:
        """End all of them, as Kubernetes does."""
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._running.clear()
        self._due.clear()

    def _fallen(self, number: int) -> None:
        self._running.pop(number).wait()
        self._due[number] = monotonic() + self.dice.uniform(*DOWN_SECONDS)

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
                start_new_session=True,  # Ctrl-C is for the owner, who ends what it started
            )


def command(project: Workspace, *, elected: bool) -> list[str]:
    """Return the command of a watcher."""
    words = ["watch", "--stack", STACK, "--listen", "127.0.0.1:0", "--log-format", "json"]
    election = ["--leader-elect", "--lease-namespace", HOME] if elected else ["--no-leader-elect"]
    return [str(project.python), "-m", "pic", *words, *election]


def child_of(supervisor: int) -> int | None:
    """Return the process that a supervisor has started, if it runs."""
    try:
        words = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
    except OSError:
        return None
    return int(words[0]) if words else None


def runs(logs: Path) -> Counter[str]:
    """Return what the watchers have logged of their runs: how many began, and how they ended."""
    found: Counter[str] = Counter()
    for log in sorted(logs.glob("watch-*.log")):
        for line in log.read_text(errors="replace").splitlines():
            # Of a watcher that was killed, the last line breaks off anywhere.
            with contextlib.suppress(ValueError):
                said = json.loads(line)
                found.update(_meaning(said.get("msg", ""), said.get("exit_code")))
    return found


def _meaning(words: str, code: object) -> Iterator[str]:
    if words.endswith("starting a run"):
        yield "started"
    elif words.startswith("Done: "):
        yield "done"
    elif code is not None:
        yield "refused" if code == REFUSED else f"exit code {code}"
