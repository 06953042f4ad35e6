"""Starts child processes that end with their parent, even if SIGKILL ends it."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import monotonic, sleep

from dev.controlplane.errors import ControlPlaneError

LEASH = Path(__file__).with_name("leash.py")
TAIL_LINES = 12
# With the default of Go, the API server takes an eighth longer for garbage collection. The limit
# keeps several control planes within the memory of a small machine.
ENVIRONMENT = {"GOGC": "400", "GOMEMLIMIT": "500MiB"}


class Spawner:
    """Starts children from one thread that lives until `close`.

    The kernel sends the parent-death signal when the *thread* that started the child ends, so the
    child of a short-lived worker thread would die with that thread.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="controlplane-spawner")

    def start(self, name: str, argv: Sequence[str], log: Path) -> "Child":
        """Start a program with its output in a file."""
        return self._thread.submit(Child, name, argv, log).result()

    def close(self) -> None:
        """End the thread, and with it every child that still runs."""
        self._thread.shutdown()


class Child:
    """Represents one running program."""

    def __init__(self, name: str, argv: Sequence[str], log: Path) -> None:
        self.name = name
        self._log = log
        leash = [sys.executable, "-I", "-S", str(LEASH), str(os.getpid())]
        with log.open("ab") as output:
            self.process = subprocess.Popen(
                [*leash, *argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env=ENVIRONMENT | os.environ,
                start_new_session=True,  # Ctrl-C reaches only the owner, which ends its children
            )  # fmt: skip

    @property
    def pid(self) -> int:
        """The process id."""
        return self.process.pid

    @property
    def ended(self) -> bool:
        """Whether the program has ended."""
        return self.process.poll() is not None

    def last_output(self) -> str:
        """Return the last lines of its log."""
        lines = self._log.read_text(errors="replace").splitlines()
        return "\n".join(f"  {self.name}: {line}" for line in lines[-TAIL_LINES:])


def kill(*children: Child) -> None:
    """Kill children without a grace period: their data is in etcd or in a temporary directory."""
    for child in children:
        child.process.send_signal(signal.SIGKILL)
    for child in children:
        child.process.wait()


class Deadline:
    """Limits how long the caller waits."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = monotonic() + seconds

    def until(
        self, condition: Callable[[], bool], what: str, watched: Sequence[Child] = ()
    ) -> None:
        """Wait for a condition.

        Raises:
            ControlPlaneError: The time is up, or a watched child has ended.
        """
        while not condition():
            for child in watched:
                if child.ended:
                    raise ControlPlaneError(
                        f"{child.name} ended while waiting for {what}:\n{child.last_output()}"
                    )
            if monotonic() > self._end:
                logs = "\n".join(child.last_output() for child in watched)
                raise ControlPlaneError(f"no {what} within {self._seconds:g} s\n{logs}".rstrip())
            sleep(0.02)
