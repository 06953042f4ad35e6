"""Which Python runs a program, in what environment, and which packages it sees."""

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

_ASK = "import json, platform, sys; print(json.dumps([platform.python_version(), sys.path]))"


class InterpreterError(Exception):
    """The project names a virtual environment that is not there."""


@dataclass(frozen=True)
class Plugin:
    """The engine plugin that an installed Python package needs."""

    name: str
    version: str
    server: str


@dataclass(frozen=True)
class Interpreter:
    """A Python command, and the virtual environment it belongs to when the project names one."""

    command: str
    virtualenv: Path | None = None

    @classmethod
    def of(cls, options: Mapping[str, object], root: str) -> "Interpreter":
        """Choose what the runtime options of a project say, or the one that runs this host.

        Raises:
            InterpreterError: when the virtual environment has no Python.
        """
        named = str(options.get("virtualenv") or "")
        if not named:
            return cls(sys.executable)
        virtualenv = Path(root, named)
        command = virtualenv / "bin" / "python"
        if not os.access(command, os.X_OK):
            raise InterpreterError(
                f"the virtualenv of Pulumi.yaml is {virtualenv}, and there is no bin/python in it: "
                "make it, or name another"
            )
        return cls(str(command), virtualenv)

    def environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """Give an environment in which the virtual environment is activated."""
        active = {name: value for name, value in environ.items() if name != "PYTHONHOME"}
        if self.virtualenv:
            active["VIRTUAL_ENV"] = str(self.virtualenv)
            active["PATH"] = os.pathsep.join(
                [str(self.virtualenv / "bin"), environ.get("PATH", os.defpath)]
            )
        return active

    @property
    def version(self) -> str:
        """Give the version of this Python."""
        return _told(self.command)[0]

    def plugins(self) -> list[Plugin]:
        """List the engine plugins of all installed packages, sorted by name."""
        found = {plugin.name: plugin for plugin in self._plugins()}
        return [found[name] for name in sorted(found)]

    def packages(self, *, transitive: bool) -> list[tuple[str, str]]:
        """List installed packages with their versions; without the ones only others need."""
        installed = {_normal(dist.name): dist for dist in self._distributions()}
        needed = {name for dist in installed.values() for name in _requirements(dist)}
        shown = installed.keys() if transitive else installed.keys() - needed
        return [(installed[name].name, installed[name].version) for name in sorted(shown)]

    def _plugins(self) -> Iterator[Plugin]:
        # Earlier entries of the path win, as in an import.
        for directory in reversed(self._path()):
            for file in Path(directory).glob("*/pulumi-plugin.json"):
                told = json.loads(file.read_text())
                if told.get("resource"):
                    version = told.get("version") or self._version_of(file.parent.name)
                    name = told.get("name") or file.parent.name.removeprefix("pulumi_")
                    yield Plugin(name, f"v{version.removeprefix('v')}", told.get("server", ""))

    def _version_of(self, module: str) -> str:
        return next(d.version for d in self._distributions() if _normal(d.name) == _normal(module))

    def _distributions(self) -> Iterable[metadata.Distribution]:
        return metadata.distributions(path=self._path())

    def _path(self) -> list[str]:
        return [directory for directory in _told(self.command)[1] if Path(directory).is_dir()]


@cache
def _told(command: str) -> tuple[str, list[str]]:
    """Ask a Python for its version and its path; the one that runs this needs no start."""
    if _is_this_one(Path(command)):
        return platform.python_version(), sys.path[1:]  # the first entry is this repository
    answer = subprocess.run([command, "-c", _ASK], capture_output=True, text=True, check=True)
    version, path = json.loads(answer.stdout)
    return version, [directory for directory in path if directory]


def _is_this_one(command: Path) -> bool:
    own = Path(sys.executable)
    # A virtual environment is told by where its Python lies; the Python itself is often a link.
    return command.parent.samefile(own.parent) and command.samefile(own)


def _requirements(dist: metadata.Distribution) -> Iterator[str]:
    for line in dist.requires or ():
        found = re.match(r"[A-Za-z0-9._-]+", line)
        if found and "extra ==" not in line:
            yield _normal(found[0])


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
