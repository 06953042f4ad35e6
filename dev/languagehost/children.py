"""Starts the child processes of one language host, and ends them with their descendants."""

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO

_CHILD = str(Path(__file__).with_name("child.py"))


class Children:
    """Tracks the running children. It is thread-safe."""

    def __init__(self, grace: float = 2.0) -> None:
        self._grace = grace
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    @contextlib.contextmanager
    def start(
        self,
        python: str,
        arguments: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        output: int | IO[bytes] | None = None,
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start a child in its own process group; it ends with the block."""
        with self._lock:
            child = subprocess.Popen(
                [python, "-u", _CHILD, str(os.getpid()), *arguments],
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                process_group=0,
            )
            self._running.add(child)
        if self._closed:
            self.stop(child)
        try:
            yield child
        finally:
            self.stop(child)
            with self._lock:
                self._running.discard(child)
                self._stopped.discard(child)

    def stop(self, child: subprocess.Popen[bytes]) -> None:
        """Send SIGTERM to the process group of a child, and SIGKILL after the grace period."""
        if child.poll() is not None:
            return
        self._stopped.add(child)
        _signal_group(child, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(self._grace)
        _signal_group(child, signal.SIGKILL)
        child.wait()

    def was_stopped(self, child: subprocess.Popen[bytes]) -> bool:
        """Say whether this host has ended the child."""
        return child in self._stopped

    def stop_all(self) -> None:
        """End every running child."""
        with self._lock:
            running = tuple(self._running)
        for child in running:
            self.stop(child)

    def close(self) -> None:
        """End every child, also those that start later."""
        self._closed = True
        self.stop_all()


def _signal_group(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, number)
