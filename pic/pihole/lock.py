"""Locks a Pi-hole against other runs of pic on this machine.

The lock is a `flock` on an empty file that pic never writes. So all users of the machine can share
the file, and another user gains nothing by putting a file in its place. So it is not in the private
folder of one user. The kernel releases the lock when its holder dies.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pic.core import private_folder
from pic.core.errors import PiholeError

# NOFOLLOW and NONBLOCK: the folder is world-writable, so a link or a FIFO may wait at the path.
_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MODE = 0o644  # a user may lock a file as soon as they may read it


@dataclass(frozen=True, slots=True)
class LockTimeouts:
    """How long to wait for the lock, in seconds.

    Attributes:
        limit: The longest wait.
        interval: The time between two attempts.
        table: The kernel's list of locks, which only Linux has.
    """

    limit: float = 60.0
    interval: float = 0.05
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    table: Path = Path("/proc/locks")


@contextlib.contextmanager
def hold_lock(url: str, timeouts: LockTimeouts | None = None) -> Iterator[None]:
    """Hold the lock of a Pi-hole for a block.

    Args:
        url: The normalised URL: two spellings are two locks.
        timeouts: How long to wait.

    Raises:
        PiholeError: Another run holds the lock for too long, or the lock file cannot be opened.
    """
    path = lock_path(url)
    timeouts = timeouts or LockTimeouts()
    try:
        handle = _open(path)
    except OSError as error:
        raise PiholeError(
            f"pic cannot open its lock file {path}: {error.strerror}. Remove whatever is at that"
            " path"
        ) from error
    try:
        _acquire(handle, url, timeouts)
        yield
    finally:
        os.close(handle)


def lock_path(url: str) -> Path:
    """Return the lock file of a Pi-hole, which is the same for all users of this machine."""
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return private_folder.shared() / f"pic-pihole-{name}.lock"


def holder(table: str, inode: int) -> int | None:
    """Return the pid of the process that holds the lock of a file; None if the table has no lock.

    Args:
        table: The kernel's list of locks, in the format of /proc/locks.
        inode: The inode of the file.
    """
    # A line is like `1: FLOCK  ADVISORY  WRITE 1234 08:01:4711 0 EOF`.
    match = re.search(rf"^[0-9]+: FLOCK\s.*\sWRITE ([0-9]+) \S+:{inode} ", table, re.MULTILINE)
    return int(match[1]) if match else None


def _open(path: Path) -> int:
    # Without O_CREAT at first: in a world-writable folder, Linux may refuse O_CREAT for a file of
    # another user, even if the file exists (fs.protected_regular in proc(5)).
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, _READING)
    handle = os.open(path, _READING | os.O_CREAT, _MODE)
    os.fchmod(handle, _MODE)  # undoes a umask that would keep other users from reading the file
    return handle


def _acquire(handle: int, url: str, timeouts: LockTimeouts) -> None:
    # This polls, because a blocking flock has no time limit.
    end = timeouts.clock() + timeouts.limit
    while not _try_lock(handle):
        if timeouts.clock() >= end:
            other = f"another pic on this machine{_pid_note(handle, timeouts.table)}"
            raise PiholeError(
                f"{other} has worked with {url} for more than {timeouts.limit:g} s: wait until it"
                " ends, then run pic again",
                retry_after=int(timeouts.limit),
            )
        timeouts.sleep(timeouts.interval)


def _try_lock(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _pid_note(handle: int, table: Path) -> str:
    pid = None
    with contextlib.suppress(OSError):
        pid = holder(table.read_text(), os.fstat(handle).st_ino)
    return f" (pid {pid})" if pid else ""
