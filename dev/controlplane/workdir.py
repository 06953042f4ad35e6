"""Makes temporary directories, and removes those whose owner has died."""

import fcntl
import os
import shutil
import tempfile
from pathlib import Path

PREFIX = "pic-controlplane-"
LOCK = "owner.lock"


class WorkDir:
    """Makes a directory with a lock file that its owner keeps locked.

    The kernel frees the lock when the owner ends, so a directory whose lock is free is a leftover.
    """

    def __init__(self, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        _remove_leftovers(parent)
        hidden = Path(tempfile.mkdtemp(prefix=f".{PREFIX}", dir=parent))
        self._lock = os.open(hidden / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # The search for leftovers skips hidden names. Renaming it only now, when it is locked,
        # keeps another process from removing it.
        self.path = hidden.rename(parent / hidden.name.removeprefix("."))

    def remove(self) -> None:
        """Remove the directory with its contents."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def _remove_leftovers(parent: Path) -> None:
    for lock in parent.glob(f"{PREFIX}*/{LOCK}"):
        try:
            handle = os.open(lock, os.O_RDWR)
        except OSError:  # it belongs to another user, or is being removed
            continue
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)
        except BlockingIOError:
            continue  # its owner still runs
        finally:
            os.close(handle)
