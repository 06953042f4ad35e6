"""Temporary directories that say whether their owner is still alive."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "pic-controlplane-"
LOCK = "owner.lock"


class WorkDir:
    """A directory whose owner holds a lock in it.

    The kernel frees the lock when the owner dies, so a directory that can be locked is left over.
    """

    def __init__(self, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        _remove_leftovers(parent)
        hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=parent))
        self._lock = os.open(hidden / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # It gets the name that leftovers are looked for under only when it is locked.
        self.path = hidden.rename(parent / hidden.name.removeprefix("."))

    def remove(self) -> None:
        """Remove the directory and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_leftovers(parent: Path) -> None:
    for lock in parent.glob(f"{PREFIX}*/{LOCK}"):
        try:
            handle = os.open(lock, os.O_RDWR)
        except OSError:  # another user's, or being removed
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
        except BlockingIOError:
            continue  # its owner lives
        finally:
            os.close(handle)
