"""Wait until something is so, up to a deadline: no test of a process sleeps and hopes."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

_PAUSE = 0.01


def until(condition: Callable[[], object], what: str, deadline: float = 30.0) -> None:
    end = time.monotonic() + deadline
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline:.0f} s: {what}")
        time.sleep(_PAUSE)


class Steady(Generic[T]):
    """Says whether what is looked at has been the same for a moment."""

    def __init__(self, look: Callable[[], T], seconds: float = 0.5) -> None:
        self._look, self._seconds = look, seconds
        self.last, self._since = look(), time.monotonic()

    def __call__(self) -> bool:
        found = self._look()
        if found != self.last:
            self.last, self._since = found, time.monotonic()
        return time.monotonic() - self._since >= self._seconds


def pid_in(file: Path) -> int:
    """Wait for a process to write its id into a file."""
    until(lambda: file.exists() and file.read_text().endswith("\n"), f"a process id in {file}")
    return int(file.read_text())


def is_gone(pid: int) -> bool:
    """Say whether a process has ended, be it that nobody has waited for it yet."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def end(pid: int) -> None:
    """Make sure that a process does not outlive its test."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)
