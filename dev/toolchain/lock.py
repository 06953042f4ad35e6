"""Let one process at a time make something, and the others wait for it."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from dev.toolchain.model import Echo


@contextlib.contextmanager
def one_at_a_time(directory: Path, what: str, echo: Echo) -> Iterator[None]:
    """Hold the lock of a directory, which is made when it is not there.

    The kernel lets go of it when its holder ends, however that comes about.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / ".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            echo(f"{what}: another process is making it, waiting for that")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
