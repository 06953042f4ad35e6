"""Run one command to its end, visibly, and leave nothing of it behind when interrupted."""

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
class Ended:
    """How a command ended, and the end of what it printed."""

    code: int
    tail: str


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path,
    progress: Progress,
    limit: float = float("inf"),
) -> Ended:
    """Run a command in a process group of its own and tell the time meanwhile.

    Raises:
        ToolchainError: when it takes longer than the limit, in seconds.
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
        printed = log.read().decode(errors="replace").strip().splitlines()
    return Ended(process.returncode, "\n".join(printed[-_TAIL_LINES:]))


def _wait(process: subprocess.Popen[bytes], progress: Progress, limit: float) -> None:
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=progress.pause)
            return
        if progress.seconds > limit:
            raise ToolchainError(f"no end after {limit:.0f} s")
        progress.tick()


def _end(process: subprocess.Popen[bytes]) -> None:
    """Stop the whole process group, unless the command has ended by itself."""
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
    """Let SIGTERM unwind the stack like Ctrl-C does; only the main thread can arrange that."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _leave(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
