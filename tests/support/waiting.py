"""Waits for conditions up to a deadline, so that no test has to sleep for a fixed time."""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

T = TypeVar("T")

_PAUSE, _LONGEST_PAUSE, _GROWTH = 0.01, 0.1, 1.1


def until(
    condition: Callable[[], object],
    what: str,
    deadline: float = 30.0,
    longest_pause: float = _LONGEST_PAUSE,
) -> None:
    """Wait for a condition.

    The pauses grow: a test that asks a server a hundred times a second for many seconds takes the
    processor from what it waits for.
    """
    end, pause = time.monotonic() + deadline, _PAUSE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"this did not happen within {deadline:.0f} s: {what}")
        time.sleep(pause)
        pause = min(pause * _GROWTH, longest_pause)


def until_moment(condition: Callable[[], object], what: str) -> None:
    """Wait for a moment that soon passes, so the pauses stay short."""
    until(condition, what, longest_pause=_PAUSE)


class Steady(Generic[T]):
    """Says whether a value has been the same for some time."""

    def __init__(self, read: Callable[[], T], seconds: float = 0.5) -> None:
        self._read, self._seconds = read, seconds
        self.last, self._since = read(), time.monotonic()

    def __call__(self) -> bool:
        value = self._read()
        if value != self.last:
            self.last, self._since = value, time.monotonic()
        return time.monotonic() - self._since >= self._seconds


def pid_in(file: Path) -> int:
    """Wait until a process has written its id to a file, and return the id."""
    until(lambda: file.exists() and file.read_text().endswith("\n"), f"a process id in {file}")
    return int(file.read_text())


def is_gone(pid: int) -> bool:
    """Say whether a process has ended; a zombie counts as ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    return True


def end(pid: int) -> None:
    """Kill a process, so that it does not outlive its test."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, 9)
