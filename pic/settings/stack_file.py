"""The stack file `stacks/Pulumi.<stack>.yaml`: read for its settings, written by `pic init`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from pic.core.errors import SettingsError

FOLDER = "stacks"
PROJECT = "pic"
_PREFIX = f"{PROJECT}:"
_STACK_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class StackFile:
    """The stack file of one stack below a project's folder."""

    root: Path
    stack: str

    def __post_init__(self) -> None:
        if not _STACK_NAME.fullmatch(self.stack):
            raise SettingsError(
                [f"{self.stack!r} is no name of a stack: letters, digits, -, _ and . may be in it"]
            )

    @property
    def path(self) -> Path:
        """Where it is, or would be."""
        return self.root / FOLDER / f"Pulumi.{self.stack}.yaml"

    def settings(self) -> dict[str, object]:
        """Return its `pic:*` settings, without the prefix.

        Raises:
            SettingsError: There is no such file, or it cannot be read.
        """
        config = self._config(self._content())
        found = {
            key.removeprefix(_PREFIX): value
            for key, value in config.items()
            if key.startswith(_PREFIX)
        }
        secret = [key for key, value in found.items() if _is_secret(value)]
        if secret:
            raise SettingsError(
                [
                    f"{self.shown}: {_PREFIX}{key} is encrypted, and no setting is a secret: set it"
                    " in the clear"
                    for key in secret
                ]
            )
        return found

    def merge(self, values: Mapping[str, object]) -> None:
        """Write settings into the file, keeping what else is there.

        Raises:
            SettingsError: The file there cannot be read, or not be written.
        """
        content = self._content() if self.path.exists() else {}
        there = self._config(content)
        config = {**there, **{f"{_PREFIX}{key}": values[key] for key in values}}
        if config != there:
            # Only then, since comments do not survive it.
            self._write({**content, "config": config})

    def _write(self, content: Mapping[str, object]) -> None:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        try:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SettingsError([f"{self.shown} cannot be written: {error.strerror}"]) from error

    def _content(self) -> dict[str, object]:
        try:
            found = yaml.safe_load(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise SettingsError([f"there is no {self.shown}: {self._known()}"]) from error
        except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
            problem = " ".join(str(error).split())
            raise SettingsError([f"{self.shown} cannot be read: {problem}"]) from error
        if not isinstance(found, dict | None):
            raise SettingsError([f"{self.shown} is not a map"])
        return found or {}

    def _config(self, content: Mapping[str, object]) -> dict[str, object]:
        config = content.get("config")
        if not isinstance(config, dict | None):
            raise SettingsError([f"{self.shown}: config is not a map"])
        return {str(key): value for key, value in (config or {}).items()}

    def _known(self) -> str:
        found = stacks(self.root)
        if found:
            return f"the stacks are {', '.join(found)}"
        return f"pic init --stack {self.stack} writes it"

    @property
    def shown(self) -> str:
        """The path as people know it."""
        return f"{FOLDER}/{self.path.name}"


def stacks(root: Path) -> list[str]:
    """Return the stacks that have a file, by name."""
    found = (root / FOLDER).glob("Pulumi.*.yaml")
    return sorted(path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in found)


def _is_secret(value: object) -> bool:
    return isinstance(value, dict) and set(value) == {"secure"}
