"""Reads the stack file `stacks/Pulumi.<stack>.yaml`, and writes it for `pic init`.

Pulumi reads and writes the same file. The settings of pic are the keys of `config` with the prefix
`pic:`. Everything else in the file belongs to Pulumi or to other programs, and stays as it is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from pic.core import yaml_text
from pic.core.errors import SettingsError
from pic.core.yaml_text import YamlError

FOLDER = "stacks"
# Pulumi puts the name of the project before the keys of its settings.
PROJECT = "pic"
# stacks/Pulumi.example.yaml explains the settings to readers. It is in every checkout, so it must
# not count when a verb looks for the only stack.
EXAMPLE = "example"
_PREFIX = f"{PROJECT}:"
# Pulumi's rule for the names of stacks. Without a slash, a name cannot lead out of the folder.
_STACK_NAME = re.compile(r"[A-Za-z0-9_.-]{1,100}")


@dataclass(frozen=True, slots=True)
class StackFile:
    """The stack file of one stack.

    Attributes:
        root: The folder of the project, which contains `stacks/`.
        stack: The name of the stack.

    Raises:
        SettingsError: The name is not a valid stack name, or it is the name of the example.
    """

    root: Path
    stack: str

    def __post_init__(self) -> None:
        if not _STACK_NAME.fullmatch(self.stack):
            raise SettingsError(
                [
                    f"{self.stack!r} is not a valid stack name: use up to 100 letters, digits,"
                    " hyphens, underscores and dots"
                ]
            )
        if self.stack == EXAMPLE:
            raise SettingsError(
                [
                    f"{EXAMPLE!r} cannot be a stack: {self.display_path} only explains the"
                    " settings. Choose another name, for example: pic init --stack prod"
                ]
            )

    @property
    def path(self) -> Path:
        """The path of the file, which need not exist."""
        return self.root / FOLDER / f"Pulumi.{self.stack}.yaml"

    @property
    def display_path(self) -> str:
        """The path relative to the project, for messages."""
        return f"{FOLDER}/{self.path.name}"

    def settings(self) -> dict[str, object]:
        """Return the `pic:*` settings, without the prefix.

        Raises:
            SettingsError: The file does not exist or cannot be read, or a setting is encrypted.
        """
        config = self._config(self._content())
        settings = {
            key.removeprefix(_PREFIX): value
            for key, value in config.items()
            if key.startswith(_PREFIX)
        }
        # pic reads the file without Pulumi, so it cannot decrypt anything.
        if problems := [
            f"{self.display_path}: {_PREFIX}{key} is encrypted, but pic settings cannot be secrets:"
            " set it as plain text"
            for key, value in settings.items()
            if _is_secret(value)
        ]:
            raise SettingsError(problems)
        return settings

    def merge(self, settings: Mapping[str, object]) -> None:
        """Add settings to the file, and keep everything else in it.

        Raises:
            SettingsError: The existing file cannot be read, or the file cannot be written.
        """
        content = self._content() if self.path.exists() else {}
        old = self._config(content)
        new = {**old, **{f"{_PREFIX}{key}": settings[key] for key in settings}}
        # Writing loses the comments in the file, so pic writes only if something changes.
        if new != old:
            self._write({**content, "config": new})

    def _write(self, content: Mapping[str, object]) -> None:
        text = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
        try:
            self.path.parent.mkdir(exist_ok=True)
            self.path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise SettingsError(
                [f"{self.display_path} cannot be written: {error.strerror}"]
            ) from error

    def _content(self) -> dict[str, object]:
        try:
            content = yaml_text.read(self.path)
        except FileNotFoundError as error:
            raise SettingsError([f"{self.display_path} does not exist: {self._hint()}"]) from error
        except OSError as error:
            raise SettingsError(
                [f"{self.display_path} cannot be read: {error.strerror}"]
            ) from error
        except YamlError as error:
            raise SettingsError([f"{self.display_path} cannot be read: {error}"]) from error
        if not isinstance(content, dict | None):
            raise SettingsError([f"{self.display_path} must contain a YAML map"])
        return content or {}

    def _config(self, content: Mapping[str, object]) -> dict[str, object]:
        config = content.get("config")
        if not isinstance(config, dict | None):
            raise SettingsError([f"{self.display_path}: config must be a map of settings"])
        return {str(key): value for key, value in (config or {}).items()}

    def _hint(self) -> str:
        if names := stacks(self.root):
            return f"use one of the stacks {', '.join(names)}, or run pic init --stack {self.stack}"
        return f"run pic init --stack {self.stack} to create it"


def stacks(root: Path) -> list[str]:
    """Return the names of the stacks that have a file, sorted, without the example."""
    files = (root / FOLDER).glob("Pulumi.*.yaml")
    names = {path.name.removeprefix("Pulumi.").removesuffix(".yaml") for path in files}
    return sorted(names - {EXAMPLE})


def _is_secret(value: object) -> bool:
    """Return whether `pulumi config set --secret` wrote a value."""
    return isinstance(value, dict) and set(value) == {"secure"}
