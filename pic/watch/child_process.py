"""Runs pic as a child process and logs what it prints.

The child writes its log lines to the standard error of this process, in the same form. This process
logs the standard output of the child line by line. A supervisor starts the child and ends every
process that the child leaves behind, even when this process is killed.

The main thread must start the child. The supervisor asks the kernel for a signal when its parent
ends, and for Linux the parent is the thread that started it.
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
from pic.core.logs import Log

SUPERVISOR = str(Path(supervisor.__file__))


class ChildProcess:
    """One child process.

    Args:
        command: The program and its arguments.
        environment: The environment of the child.
        log: Logs the standard output of the child.
        wake: Called once the child has ended.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Log,
        wake: Callable[[], None],
    ) -> None:
        self._log, self._wake = log, wake
        self._process = subprocess.Popen(
            # The supervisor needs no packages, so Python starts without them.
            [sys.executable, "-I", "-S", SUPERVISOR, str(os.getpid()), *command],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # A signal to the process group of the watcher, such as Ctrl-C, must not reach the run.
            # `Runs` decides when to stop it.
            start_new_session=True,
        )
        self._exit_code: int | None = None
        self._reader = threading.Thread(target=self._log_output, args=(self._process.stdout,))
        self._reader.start()

    @property
    def exit_code(self) -> int | None:
        """The exit code; None while the child runs."""
        return self._exit_code

    def interrupt(self) -> None:
        """Ask the child to stop; an engine then saves what it has done so far."""
        # The signal goes to the whole group, because the supervisor does not pass SIGINT on.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGINT)

    def terminate(self) -> int:
        """End the child and all that it started, and return its exit code."""
        self._process.terminate()
        return self.wait()

    def wait(self) -> int:
        """Wait until the child has ended, and return its exit code."""
        self._reader.join()
        return self._process.wait()

    def _log_output(self, output: IO[str]) -> None:
        with output:
            for line in output:
                self._log(logs.INFO, line.rstrip("\n"))
        # Only now, so that all output of a run is in the log before its end.
        self._exit_code = self._process.wait()
        self._wake()
