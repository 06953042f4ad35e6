"""Chooses the Python that runs a program, its environment, and the packages it sees."""

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import metadata
from pathlib import Path

_DESCRIBE = "import json, platform, sys; print(json.dumps([platform.python_version(), sys.path]))"


class InterpreterError(Exception):
    """Says that the virtual environment of a project does not exist."""


@dataclass(frozen=True)
class Plugin:
    """Describes the engine plugin that an installed Python package needs."""

    name: str
    version: str
    server: str


@dataclass(frozen=True)
class Interpreter:
    """Holds a Python command, and its virtual environment if the project names one."""

    command: str
    virtualenv: Path | None = None

    @classmethod
    def of(cls, options: Mapping[str, object], root: str) -> "Interpreter":
        """Choose the Python of the runtime options, or else the one that runs this host.

        Raises:
            InterpreterError: The virtual environment has no Python.
        """
        name = str(options.get("virtualenv") or "")
        if not name:
            return cls(sys.executable)
        virtualenv = Path(root, name)
        command = virtualenv / "bin" / "python"
        if not os.access(command, os.X_OK):
            raise InterpreterError(
                f"the virtualenv in Pulumi.yaml is {virtualenv}, but it has no bin/python: "
                "create it, or name another one"
            )
        return cls(str(command), virtualenv)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Return an environment in which the virtual environment is active."""
        active = {name: value for name, value in environ.items() if name != "PYTHONHOME"}
        if self.virtualenv:
            active["VIRTUAL_ENV"] = str(self.virtualenv)
            active["PATH"] = os.pathsep.join(
                [str(self.virtualenv / "bin"), environ.get("PATH", os.defpath)]
            )
        return active

    @property
    def version(self) -> str:
        """The version of this Python."""
        return _version_and_path(self.command)[0]

    def plugins(self) -> list[Plugin]:
        """List the engine plugins of all installed packages, sorted by name."""
        plugins = {plugin.name: plugin for plugin in self._plugins()}
        return [plugins[name] for name in sorted(plugins)]

    def packages(self, *, transitive: bool) -> list[tuple[str, str]]:
        """List installed packages with versions; dependencies of others only if transitive."""
        installed = {_normal(dist.name): dist for dist in self._distributions()}
        needed = {name for dist in installed.values() for name in _requirements(dist)}
        names = installed.keys() if transitive else installed.keys() - needed
        return [(installed[name].name, installed[name].version) for name in sorted(names)]

    def _plugins(self) -> Iterator[Plugin]:
        # Reversed, because earlier entries of the path win, as in an import.
        for directory in reversed(self._path()):
            for file in Path(directory).glob("*/pulumi-plugin.json"):
                description = json.loads(file.read_text())
                if description.get("resource"):
                    version = description.get("version") or self._version_of(file.parent.name)
                    name = description.get("name") or file.parent.name.removeprefix("pulumi_")
                    server = description.get("server", "")
                    yield Plugin(name, f"v{version.removeprefix('v')}", server)

    def _version_of(self, module: str) -> str:
        return next(d.version for d in self._distributions() if _normal(d.name) == _normal(module))

    def _distributions(self) -> Iterable[metadata.Distribution]:
        return metadata.distributions(path=self._path())

    def _path(self) -> list[str]:
        return [
            directory
            for directory in _version_and_path(self.command)[1]
            if Path(directory).is_dir()
        ]


@cache
def _version_and_path(command: str) -> tuple[str, list[str]]:
    """Return the version and path of a Python; start it only if it is not that of this host."""
    if _is_own(Path(command)):
        return platform.python_version(), sys.path[1:]  # the first entry is this repository
    answer = subprocess.run([command, "-c", _DESCRIBE], capture_output=True, text=True, check=True)
    version, path = json.loads(answer.stdout)
    return version, [directory for directory in path if directory]


def _is_own(command: Path) -> bool:
    own = Path(sys.executable)
    # The directory counts, because the Pythons of two virtual environments are often links to one.
    return command.parent.samefile(own.parent) and command.samefile(own)


def _requirements(dist: metadata.Distribution) -> Iterator[str]:
    for line in dist.requires or ():
        match = re.match(r"[A-Za-z0-9._-]+", line)
        if match and "extra ==" not in line:
            yield _normal(match[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
