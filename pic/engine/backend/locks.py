"""Who holds the lock of a stack, and whether that process still lives (DESIGN 9.16).

A state backend that is a folder or a bucket keeps locks as files, which a killed engine leaves
behind.
"""

import contextlib
import os
import re
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

# The CLI has an exit code of 1 for everything here, so its words are all there is.
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


def told(message: str) -> tuple[Lock, ...] | None:
    """Read the CLI's refusal to run a locked stack; None when it says something else."""
    if _LOCKED not in message:
        return None
    return tuple(
        Lock(each["user"], each["host"], int(each["pid"]), _time(each["time"]))
        for each in _OWNER.finditer(message)
    )


def is_dead(
    lock: Lock,
    here: str | None = None,
    started: Callable[[int], datetime | None] | None = None,
) -> bool:
    """Say whether the owner of a lock is certainly gone: it ran on this host, and is no more.

    A process of the same id that started after the lock was made is another one.
    """
    if lock.host != (here or socket.gethostname()):
        return False
    since = (started or process_start)(lock.pid)
    return since is None or since > lock.since + _SLACK


def all_dead(locks: Sequence[Lock], left_before: datetime | None = None) -> bool:
    """Say whether nobody holds a stack that is locked.

    Args:
        locks: All that there are.
        left_before: Locks of other hosts that are older count as left behind; None has none count,
            since nobody can see from here whether their owners live.
    """
    return bool(locks) and all(is_dead(lock) or _is_left(lock, left_before) for lock in locks)


def of_others(locks: Sequence[Lock]) -> tuple[Lock, ...]:
    """Return the locks of other hosts."""
    return tuple(lock for lock in locks if lock.host != socket.gethostname())


def _is_left(lock: Lock, before: datetime | None) -> bool:
    # On this host the process itself tells.
    return before is not None and lock.since < before and lock in of_others([lock])


def process_start(pid: int, proc: Path = Path("/proc")) -> datetime | None:
    """Return when a process of this host started; None where there is none.

    Where the system does not tell (it has no /proc) a living process is taken for an old one.
    """
    try:
        with contextlib.suppress(PermissionError):  # it lives, and is somebody else's
            os.kill(pid, 0)
    except ProcessLookupError:
        return None
    try:
        fields = (proc / str(pid) / "stat").read_text().rpartition(")")[2].split()
        booted = _boot_time((proc / "stat").read_text())
    except OSError:
        return datetime.fromtimestamp(0, UTC)
    if fields[0] == "Z":  # it has ended, and nobody has asked how
        return None
    return datetime.fromtimestamp(booted + int(fields[19]) / os.sysconf("SC_CLK_TCK"), UTC)


def _boot_time(stat: str) -> int:
    return next(int(line.split()[1]) for line in stat.splitlines() if line.startswith("btime"))


def _time(written: str) -> datetime:
    found = datetime.fromisoformat(written)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
