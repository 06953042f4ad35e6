"""Runs pic as a child process, and passes on what it says.

Its standard error is that of this process, whose lines look the same; what it prints is logged.
A supervisor starts the child. It ends whatever the child leaves, also when this process is killed.
It has to be started by the main thread: the kernel takes the end of the thread that started it for
the end of the process.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

from pic.core import logs, supervisor
from pic.watch.protocols import Log

SUPERVISOR = str(Path(supervisor.__file__))


class ChildProcess:
    """One run.

    Args:
        command: The program and its arguments.
        environment: That of the child.
        tell: Logs what the child says.
        ring: Called once it has ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        tell: Log,
        ring: Callable[[], None],
    ) -> None:
        self._tell, self._ring = tell, ring
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", SUPERVISOR, str(os.getpid()), *command],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # A signal for the watcher is passed on in its own time.
            start_new_session=True,
        )
        self._code: int | None = None
        self._reader = threading.Thread(target=self._pass_on, args=(self._process.stdout,))
        self._reader.start()

    @property
    def code(self) -> int | None:
        """The exit code; None while it runs."""
        return self._code

    def interrupt(self) -> None:
        """Ask it to end with what it is about: an engine saves what was done."""
        # To the whole group: the supervisor does not heed it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)

    def end(self) -> int:
        """End it and all that it started, and return its exit code."""
        self._process.terminate()
        return self.wait()

    def wait(self) -> int:
        """Wait for its end and return its exit code."""
        self._reader.join()
        return self._process.wait()

    def _pass_on(self, said: IO[str]) -> None:
        with said:
            for line in said:
                self._tell(logs.INFO, line.rstrip("\n"))
        self._code = self._process.wait()
        self._ring()
