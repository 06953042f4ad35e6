"""Reads who has locked a stack, and says whether that process still runs.

A state backend that is a folder or a bucket keeps locks as files. A killed engine leaves its lock
behind. A lock of this host is dead if no process has its id, or if the process with that id started
after the lock was written.
"""

import contextlib
import os
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

# The CLI has one exit code for all these failures, so only its message names a lock.
_OWNER = re.compile(
    r"created by (?P<user>.*)@(?P<host>[^@\s]+) \(pid (?P<pid>\d+)\) at (?P<time>\S+)"
)
_LOCKED = "the stack is currently locked by"
# The clock of a lock has whole seconds, that of a process hundredths.
_SLACK = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock, and the process that made it."""

    user: str
    host: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"{self.user}@{self.host} (pid {self.pid}) since {self.since:%Y-%m-%d %H:%M:%S} UTC"


def parse(message: str) -> tuple[Lock, ...] | None:
    """Return the locks that a message of the CLI names; None if it is about something else."""
    if _LOCKED not in message:
        return None
    return tuple(
        Lock(match["user"], match["host"], int(match["pid"]), _time(match["time"]))
        for match in _OWNER.finditer(message)
    )


def is_dead(
    lock: Lock,
    this_host: str | None = None,
    started: Callable[[int], datetime | None] | None = None,
) -> bool:
    """Say whether the owner of a lock has certainly ended: it ran on this host and is gone.

    A process with the same id that started after the lock was written is a different process.
    """
    if lock.host != (this_host or socket.gethostname()):
        return False
    since = (started or process_start)(lock.pid)
    return since is None or since > lock.since + _SLACK


def all_dead(locks: Sequence[Lock], abandoned_before: datetime | None = None) -> bool:
    """Say whether every process that has locked a stack has ended.

    Args:
        locks: All locks of the stack.
        abandoned_before: Locks of other hosts that are older than this count as abandoned. With
            None no lock of another host does: this host cannot see whether its owner runs.
    """
    return bool(locks) and all(
        is_dead(lock) or _is_abandoned(lock, abandoned_before) for lock in locks
    )


def of_other_hosts(locks: Sequence[Lock]) -> tuple[Lock, ...]:
    """Return the locks of other hosts."""
    return tuple(lock for lock in locks if lock.host != socket.gethostname())


def _is_abandoned(lock: Lock, before: datetime | None) -> bool:
    # A lock of this host is judged by its process.
    return before is not None and lock.since < before and lock in of_other_hosts([lock])


def process_start(pid: int, proc: Path = Path("/proc")) -> datetime | None:
    """Return when a process of this host started; None if it does not exist.

    A system without /proc does not say it. There every process counts as an old one.
    """
    try:
        with contextlib.suppress(PermissionError):  # the process runs as another user
            os.kill(pid, 0)
    except ProcessLookupError:
        return None
    try:
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        booted = _boot_time((proc / "stat").read_text())
    except OSError:
        return datetime.fromtimestamp(0, UTC)
    if fields[0] == "Z":  # the process has ended, but its parent has not waited for it
        return None
    return datetime.fromtimestamp(booted + int(fields[19]) / os.sysconf("SC_CLK_TCK"), UTC)


def _boot_time(stat: str) -> int:
    return next(int(line.split()[1]) for line in stat.splitlines() if line.startswith("btime"))


def _time(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
