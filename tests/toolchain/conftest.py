"""Provides a made-up machine for the resolver, and a project for each test of the engine."""

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from dev import toolchain
from dev.toolchain import layout, versions
from dev.toolchain.context import Context
from tests.support.waiting import end
from tests.toolchain.projects import MARK, Project

PLENTY = 10**12
_SHELL = "#!/bin/sh\nPATH=/usr/bin:/bin\n"
_GO = """
case "$1" in
  env) cat {env} ;;
  build)
    echo "$PWD" >> {builds}
    while [ "$1" != -o ]; do shift; done
    {build}
    ;;
esac
"""


@dataclass
class Machine:
    """Simulates a machine in one directory: a PATH, a cache, a home and checkouts."""

    root: Path
    environ: dict[str, str] = field(default_factory=dict)
    free: int = PLENTY
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.root / "path").mkdir()
        self.environ |= {
            "PATH": str(self.root / "path"),
            "HOME": str(self.root / "home"),
            "PIC_CACHE": str(self.root / "cache"),
        }

    def context(self, checkout: str = "clone") -> Context:
        return Context(
            echo=self.lines.append,
            environ=self.environ,
            checkout=self.root / checkout,
            modules=self.root / checkout / "modules",
            python=str(self.root / "path" / "python"),
            free=lambda _: self.free,
        )

    def program(self, name: str, script: str, directory: str = "path") -> Path:
        path = self.root / directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_SHELL + script)
        path.chmod(0o755)
        return path

    def go(self, version: str = "go1.26.8", build: str = 'echo built > "$2"') -> None:
        """Put a Go on PATH whose build runs a line of shell; $2 is the file to write."""
        variables = {
            "GOVERSION": version,
            "GOOS": "linux",
            "GOARCH": "amd64",
            "GOCACHE": str(self.root / "gocache"),
            "GOMODCACHE": str(self.root / "gomodcache"),
        }
        (self.root / "go.json").write_text(json.dumps(variables))
        self.program(
            "go", _GO.format(env=self.root / "go.json", builds=self.root / "builds", build=build)
        )

    def clone(self, name: str = "clone", sources: Mapping[str, str] | None = None) -> None:
        """Make a checkout with the three modules."""
        for module in ("pulumi-cli", "kubernetes-plugin", "controlplane"):
            directory = self.root / name / "modules" / module
            directory.mkdir(parents=True)
            files = {"go.mod": f"module {module}\n\ngo 1.26.6\n", "go.sum": ""} | dict(
                sources or {}
            )
            for file, text in files.items():
                (directory / file).write_text(text)

    def builds(self) -> list[str]:
        """List the modules that were built, in order."""
        record = self.root / "builds"
        return [Path(line).name for line in record.read_text().split()] if record.exists() else []

    def official(self, version: str = f"v{versions.PULUMI}", directory: str = "path") -> None:
        """Put an official CLI with its language host into a directory."""
        self.program("pulumi", f"echo {version}", directory)
        self.program("pulumi-language-python", "", directory)

    def plugin(self, home: str = "home/.pulumi") -> Path:
        """Put the Kubernetes plugin into a PULUMI_HOME."""
        directory = f"{home}/plugins/resource-kubernetes-v{versions.KUBERNETES_PLUGIN}"
        return self.program("pulumi-resource-kubernetes", "", directory)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path)
    machine.clone()
    return machine


@pytest.fixture(scope="session")
def engine_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return an environment with the engine of the toolchain and our own language host."""
    tools = toolchain.resolve(echo=lambda _: None)
    bin_ = tmp_path_factory.mktemp("bin")
    layout.link_or_copy(tools.pulumi.resolve(), bin_ / "pulumi")
    layout.write_host(Context(), bin_ / "pulumi-language-python")
    environ = {**os.environ, **tools.environment()}
    return environ | {"PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}


@pytest.fixture
def project(tmp_path: Path, engine_environment: dict[str, str]) -> Iterator[Project]:
    (tmp_path / "state").mkdir()
    environ = engine_environment | {
        "PULUMI_BACKEND_URL": f"file://{tmp_path}/state",
        "PULUMI_CONFIG_PASSPHRASE": "test",
        MARK: uuid.uuid4().hex,
    }
    project = Project(tmp_path / "project", environ)
    project.write({"Pulumi.yaml": "name: tried\nruntime: python\n"})
    yield project
    remaining = project.processes()
    for pid in remaining:
        end(pid)
    assert remaining == [], "a test leaves no process behind"
