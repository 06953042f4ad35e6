"""Writes the kubeconfig of one run of the engine where only this user can read it.

The file ends with the run. A run that is killed leaves it behind, and the next run of this user
removes it: the folder of a living run is locked, and the kernel unlocks it when the run ends.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "pic-kubeconfig"
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def written(text: str, parent: Path | None = None) -> Iterator[Path]:
    """Write a kubeconfig for the time of a block.

    Args:
        text: The content of the file.
        parent: The folder for temporary files; None takes that of this machine.
    """
    folder, lock = _locked_folder(_parent(parent))
    try:
        path = folder / "config"
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        yield path
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_abandoned(parent: Path | None = None) -> None:
    """Remove what killed runs of this user have left."""
    for folder in _parent(parent).glob(f"{_name()}*"):
        # What is no folder, belongs to others or has just gone stays as it is.
        with contextlib.suppress(OSError), _opened(folder) as lock:
            if os.fstat(lock).st_uid == os.getuid() and _lock(lock):
                shutil.rmtree(folder, ignore_errors=True)


def _locked_folder(parent: Path) -> tuple[Path, int]:
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_name(), dir=parent))  # with mode 0700
        # Another run may take the folder for an abandoned one before it is locked.
        with contextlib.suppress(FileNotFoundError):
            lock = os.open(folder, _FLAGS)
            if _lock(lock) and folder.exists():
                return folder, lock
            os.close(lock)


def _lock(folder: int) -> bool:
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    number = os.open(folder, _FLAGS)
    try:
        yield number
    finally:
        os.close(number)


def _parent(parent: Path | None) -> Path:
    return parent or Path(tempfile.gettempdir())


def _name() -> str:
    return f"{_PREFIX}-{os.getuid()}-"
