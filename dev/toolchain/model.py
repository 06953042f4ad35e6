"""Describes a resolved toolchain, and the environment that it needs."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from dev.toolchain import versions

Echo = Callable[[str], None]


@dataclass(frozen=True)
class ControlPlaneBinaries:
    """Holds the command of each part of a control plane, without its flags."""

    etcd: tuple[str, ...]
    apiserver: tuple[str, ...]
    controller_manager: tuple[str, ...] | None
    kubectl: tuple[str, ...]


@dataclass(frozen=True)
class Engine:
    """Names the directory of a Pulumi CLI and its language host, and a home with the plugin."""

    bin: Path
    home: Path


@dataclass(frozen=True)
class Toolchain:
    """Holds everything that a development program starts: an engine and a control plane."""

    engine: Engine
    controlplane: ControlPlaneBinaries

    @property
    def bin(self) -> Path:
        """The directory that comes first on PATH."""
        return self.engine.bin

    @property
    def pulumi(self) -> Path:
        """The path of the CLI."""
        return self.engine.bin / "pulumi"

    @property
    def pulumi_home(self) -> Path:
        """The value of PULUMI_HOME: the plugin cache, and the files of the CLI."""
        return self.engine.home

    def environment(self, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the variables that a run of `pulumi` needs in addition to a base environment."""
        return {
            "PATH": os.pathsep.join([str(self.bin), base.get("PATH", os.defpath)]),
            "PULUMI_HOME": str(self.pulumi_home),
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            # With the default, engine and plugin spend a third of their time on garbage collection.
            "GOGC": base.get("GOGC", "800"),
        }


def plugin_binary(home: Path) -> Path:
    """Return the path in a PULUMI_HOME at which the engine looks for the Kubernetes plugin."""
    directory = f"resource-kubernetes-v{versions.KUBERNETES_PLUGIN}"
    return home / "plugins" / directory / "pulumi-resource-kubernetes"


def has_plugin(home: Path) -> bool:
    """Say whether the engine finds the plugin; it ignores one with a `.partial` file next to it."""
    binary = plugin_binary(home)
    partial = binary.parent.with_name(f"{binary.parent.name}.partial")
    return binary.exists() and not partial.exists()
