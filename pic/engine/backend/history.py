"""Prunes the history of a stack where the engine keeps it as files.

Every run adds an entry with a whole copy of the state, and a backup with another copy. The engine
never removes either.
"""

import json
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import yaml

from pic.core.errors import EngineError
from pic.engine.backend import stores

# Names as in pkg/backend/diy/state.go of pulumi/pulumi: addToHistory and backupStack. The number
# is the nanosecond in which an entry was made.
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

    An entry and the checkpoint that belongs to it go together. The state itself and its `.bak` are
    in another folder, where nothing is removed. A file that another run removes is no error.

    Args:
        backend_url: As the CLI knows it; a relative path counts from the working directory.
        project: The project of the stack.
        stack: The name of the stack, without its project.
        keep: How many entries stay, of either kind.
        tell: Gets one message where nothing could be removed. That fails no run.

    Returns:
        How many files were removed.
    """
    kinds = {f"history/{project}/{stack}": _HISTORY, f"backups/{project}/{stack}": _BACKUP}
    try:
        with stores.opened(backend_url) as store:
            return sum(
                store.remove(folder, expired(store.names(folder), pattern, stack, keep))
                for folder, pattern in kinds.items()
            )
    except EngineError as error:
        tell(f"the history of stack {stack} is not pruned: {error}")
        return 0


def expired(names: Iterable[str], pattern: str, stack: str, keep: int) -> list[str]:
    """Return the names that belong to all but the newest entries; other names never do."""
    entries: dict[int, list[str]] = defaultdict(list)
    whole = re.compile(pattern.format(re.escape(stack)))
    for name in names:
        if match := whole.fullmatch(name):
            entries[int(match[1])].append(name)
    old = sorted(entries, reverse=True)[keep:]
    return sorted(name for moment in old for name in entries[moment])


def backend_url(root: Path, environment: Mapping[str, str] = os.environ) -> str:
    """Return the URL of the backend that the CLI uses for a project; empty when none is chosen.

    As GetCurrentCloudURL of pulumi/pulumi: the environment, the project file, the last login. A
    relative path counts from the project's folder, where the CLI is run.
    """
    chosen = (
        environment.get("PULUMI_BACKEND_URL")
        or _of_project(root / "Pulumi.yaml")
        or _of_login(_credentials(environment))
    )
    return stores.absolute(chosen, root)


def _credentials(environment: Mapping[str, str]) -> Path:
    folder = environment.get("PULUMI_CREDENTIALS_PATH") or environment.get("PULUMI_HOME")
    return (Path(folder) if folder else Path.home() / ".pulumi") / "credentials.json"


def _of_project(file: Path) -> str:
    try:
        project = yaml.safe_load(file.read_text(encoding="utf-8"))
        return str(project["backend"]["url"] or "")
    except (OSError, ValueError, KeyError, TypeError, yaml.YAMLError):
        return ""  # the engine reports a file that it cannot read


def _of_login(file: Path) -> str:
    try:
        return str(json.loads(file.read_text(encoding="utf-8"))["current"] or "")
    except (OSError, ValueError, KeyError, TypeError):
        return ""
