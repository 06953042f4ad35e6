"""Runs one command and shows its progress; an interrupt ends the whole process group."""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from dev.toolchain.errors import ToolchainError
from dev.toolchain.progress import Progress

_GRACE = 5.0
_TAIL_LINES = 20


@dataclass(frozen=True)
class Result:
    """Holds the exit code of a command, and the last lines of its output."""

    code: int
    tail: str


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    progress: Progress,
    limit: float = float("inf"),
) -> Result:
    """Run a command in its own process group, and show the elapsed time meanwhile.

    Args:
        command: The program and its arguments.
        env: Its whole environment.
        cwd: Its working directory.
        progress: Shows the elapsed time.
        limit: The longest time, in seconds.

    Raises:
        ToolchainError: The command takes longer than the limit.
    """
    with tempfile.TemporaryFile() as log, _terminable():
        process = subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            process_group=0,
        )
        try:
            _wait(process, progress, limit)
        finally:
            progress.clear()
            _end(process)
        log.seek(0)
        lines = log.read().decode(errors="replace").strip().splitlines()
    return Result(process.returncode, "\n".join(lines[-_TAIL_LINES:]))


def _wait(process: subprocess.Popen[bytes], progress: Progress, limit: float) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=progress.pause)
            return
        if progress.seconds > limit:
            raise ToolchainError(f"it did not end within {limit:.0f} s")
        progress.tick()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the whole process group, unless the command has ended."""
    if process.poll() is not None:
        return
    _signal_group(process, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=_GRACE)
    _signal_group(process, signal.SIGKILL)
    process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)


@contextlib.contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM unwind the stack as Ctrl-C does; only the main thread can set that up."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
