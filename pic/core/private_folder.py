"""Names the folder in which the runs of one user on this machine keep their locks and records.

Every run of a user must look into the same folder, whatever starts it. So the folder does not
depend on a login session, as XDG_RUNTIME_DIR does: a cron job has none, and a logout removes it.
"""

import os
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pic.core.errors import SettingsError

VARIABLE = "PIC_RUNTIME_DIR"
_MODE = 0o700
_OTHERS = 0o077  # a bit such as setgid, which a volume passes on, opens it to no other user


def shared(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder that holds the private folders: that of PIC_RUNTIME_DIR, or a temporary."""
    return Path(environment.get(VARIABLE) or tempfile.gettempdir())


def path(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the private folder of this user, which may not exist yet."""
    return shared(environment) / f"pic-{os.getuid()}"


def prepare(folder: Path) -> Path:
    """Create the private folder if it does not exist, and return it.

    Raises:
        SettingsError: Others can write to it, or it cannot be created.
    """
    problem = "other users have access to it, or it is no folder"
    try:
        folder.mkdir(_MODE, parents=True, exist_ok=True)
    except OSError as error:
        problem = str(error.strerror)
    if not is_private(folder):
        raise SettingsError(
            [
                f"pic cannot keep its locks in {folder}: {problem}. Remove it, or set {VARIABLE} to"
                " another folder"
            ]
        )
    return folder


def is_private(folder: Path) -> bool:
    """Say whether a folder exists and only this user has access: others could forge its files."""
    try:
        status = folder.lstat()
    except OSError:
        return False
    return (
        stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.getuid()
        and not status.st_mode & _OTHERS
    )
