"""What a resolved toolchain is. No I/O but reading the environment of this process."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from dev.toolchain import versions

Echo = Callable[[str], None]


@dataclass(frozen=True)
class ControlPlaneBinaries:
    """How to start each part of a control plane: the first words of its command."""

    etcd: tuple[str, ...]
    apiserver: tuple[str, ...]
    controller_manager: tuple[str, ...] | None
    kubectl: tuple[str, ...]


@dataclass(frozen=True)
class Engine:
    """A Pulumi CLI with its Python language host beside it, and a home that holds the plugin."""

    bin: Path
    home: Path


@dataclass(frozen=True)
class Toolchain:
    """Everything a development program starts: the Pulumi engine and a control plane."""

    engine: Engine
    controlplane: ControlPlaneBinaries

    @property
    def bin(self) -> Path:
        """Give the directory that comes first on PATH."""
        return self.engine.bin

    @property
    def pulumi(self) -> Path:
        """Give the path of the CLI."""
        return self.engine.bin / "pulumi"

    @property
    def pulumi_home(self) -> Path:
        """Give the value of PULUMI_HOME: the plugin cache, and the CLI's own files."""
        return self.engine.home

    def environment(self) -> dict[str, str]:
        """Give what a run of `pulumi` needs on top of the environment of this process."""
        return {
            "PATH": os.pathsep.join([str(self.bin), os.environ.get("PATH", os.defpath)]),
            "PULUMI_HOME": str(self.pulumi_home),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # The engine and the plugin spend a third of their time on collecting garbage otherwise.
            "GOGC": os.environ.get("GOGC", "800"),
            # Steps wait for the API server, not for a processor.
            "PULUMI_PARALLEL": os.environ.get("PULUMI_PARALLEL", "32"),
        }


def plugin_binary(home: Path) -> Path:
    """Say where in a PULUMI_HOME the engine looks for the Kubernetes plugin."""
    directory = f"resource-kubernetes-v{versions.KUBERNETES_PLUGIN}"
    return home / "plugins" / directory / "pulumi-resource-kubernetes"


def has_plugin(home: Path) -> bool:
    """Say whether the engine finds the plugin: a mark beside it hides one that is half there."""
    binary = plugin_binary(home)
    partial = binary.parent.with_name(f"{binary.parent.name}.partial")
    return binary.exists() and not partial.exists()
