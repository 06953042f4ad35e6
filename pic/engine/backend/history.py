"""Prunes the history of a stack if the backend keeps it as files.

Every run adds a history entry with a copy of the whole state, and a backup with another copy. The
engine never removes either.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from pic.core import yaml_text
from pic.core.errors import EngineError
from pic.engine.backend import stores

# Names as in pkg/backend/diy/state.go of pulumi/pulumi: addToHistory and backupStack. The number is
# the time in nanoseconds.
_HISTORY = r"{}-(\d+)\.(?:history|checkpoint)\.json(?:\.gz|\.zst)?"
_BACKUP = r"{}\.(\d+)\.json(?:\.gz|\.zst)?"


def prune(
    backend_url: str,
    project: str,
    stack: str,
    keep: int,
    tell: Callable[[str], None] = lambda _: None,
) -> int:
    """Remove all but the newest entries of a stack's history, and of its backups.

    An entry and its checkpoint go together. The state itself and its `.bak` are in another folder,
    where this removes nothing. If another run has removed a file already, that is no error.

    Args:
        backend_url: As the CLI knows it; a relative path counts from the working directory.
        project: The project of the stack.
        stack: The name of the stack, without its project.
        keep: How many history entries stay, and how many backups.
        tell: Gets one message if the backend cannot be pruned. That fails no run.

    Returns:
        How many files were removed.
    """
    kinds = {f"history/{project}/{stack}": _HISTORY, f"backups/{project}/{stack}": _BACKUP}
    try:
        with stores.open_store(backend_url) as store:
            return sum(
                store.remove(folder, expired(store.names(folder), pattern, stack, keep))
                for folder, pattern in kinds.items()
            )
    except EngineError as error:
        tell(f"the history of stack {stack} is not pruned: {error}")
        return 0


def expired(names: Iterable[str], pattern: str, stack: str, keep: int) -> list[str]:
    """Return the names of all but the newest entries; names of other files are ignored."""
    entries: dict[int, list[str]] = defaultdict(list)
    name_pattern = re.compile(pattern.format(re.escape(stack)))
    for name in names:
        if match := name_pattern.fullmatch(name):
            entries[int(match[1])].append(name)
    old = sorted(entries, reverse=True)[keep:]
    return sorted(name for time in old for name in entries[time])


def backend_url(root: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the backend that the CLI uses for a project; empty if none is configured.

    The order is that of GetCurrentCloudURL of pulumi/pulumi: the environment, the project file, the
    last login. A relative path counts from the project's folder, where pic runs the CLI.
    """
    url = (
        environment.get("PULUMI_BACKEND_URL")
        or _of_project(root / "Pulumi.yaml")
        or _of_login(_credentials(environment))
    )
    return stores.absolute(url, root)


def _credentials(environment: Mapping[str, str]) -> Path:
    folder = environment.get("PULUMI_CREDENTIALS_PATH") or environment.get("PULUMI_HOME")
    if folder:
        return Path(folder) / "credentials.json"
    return Path(environment.get("HOME") or Path.home()) / ".pulumi" / "credentials.json"


def _of_project(file: Path) -> str:
    try:
        project: Any = yaml_text.read(file)
        return str(project["backend"]["url"] or "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""  # the engine reports a file that it cannot read


def _of_login(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["current"] or "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
