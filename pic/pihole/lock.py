"""Keeps other runs of pic on this machine away from a Pi-hole while one works with it.

The lock is on an empty file, which is never written: so it may be shared by all users of the
machine, and nobody gains anything by putting another file there. The kernel gives it back when its
holder dies.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pic.core.errors import PiholeError

_READING = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MODE = 0o644  # another user may lock what he may read


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long to wait for others, and how often to look, in seconds.

    Attributes:
        table: The kernel's list of locks; only Linux has one.
    """

    most: float = 60.0
    pause: float = 0.05
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    table: Path = Path("/proc/locks")


@contextlib.contextmanager
def alone(url: str, waiting: Waiting | None = None) -> Iterator[None]:
    """Hold the lock of a Pi-hole.

    Args:
        url: Where it is, normalised: another spelling is another Pi-hole.
        waiting: How long for.

    Raises:
        PiholeError: Somebody else holds it for too long, or there can be no such file.
    """
    path = lock_path(url)
    waiting = waiting or Waiting()
    try:
        handle = _opened(path)
    except OSError as error:
        raise PiholeError(
            f"the lock file {path} cannot be opened: {error.strerror}. Remove what is there"
        ) from error
    try:
        _take(handle, url, waiting)
        yield
    finally:
        os.close(handle)


def lock_path(url: str) -> Path:
    """Return the lock file of a Pi-hole; it is the same for all users of this machine."""
    name = hashlib.sha256(url.encode()).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"pic-pihole-{name}.lock"


def holder(table: str, inode: int) -> int | None:
    """Return the process that holds the lock of a file.

    Args:
        table: The kernel's list of locks, as in /proc/locks.
        inode: Of the file.
    """
    found = re.search(rf"^[0-9]+: FLOCK\s.*\sWRITE ([0-9]+) \S+:{inode} ", table, re.MULTILINE)
    return int(found[1]) if found else None


def _opened(path: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, _READING)
    handle = os.open(path, _READING | os.O_CREAT, _MODE)
    os.fchmod(handle, _MODE)  # the umask may have taken away what others need
    return handle


def _take(handle: int, url: str, waiting: Waiting) -> None:
    end = waiting.clock() + waiting.most
    while not _taken(handle):
        if waiting.clock() >= end:
            other = f"another pic on this machine{_named(handle, waiting.table)}"
            raise PiholeError(
                f"{other} works with {url}, for more than {waiting.most:g} s: wait for it to end",
                retry_after=int(waiting.most),
            )
        waiting.sleep(waiting.pause)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _named(handle: int, table: Path) -> str:
    pid = None
    with contextlib.suppress(OSError):
        pid = holder(table.read_text(), os.fstat(handle).st_ino)
    return f" (pid {pid})" if pid else ""
