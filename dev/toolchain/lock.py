"""Lets one process at a time build something, while the others wait for it."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from dev.toolchain.model import Echo


@contextlib.contextmanager
def one_at_a_time(directory: Path, what: str, echo: Echo) -> Iterator[None]:
    """Hold the lock of a directory; create the directory if it does not exist.

    The kernel releases the lock when its holder ends, even if SIGKILL ends it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            echo(f"{what}: waiting for another process that is making it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
