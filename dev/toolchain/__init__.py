"""Finds, downloads or builds the development tools: a Pulumi engine and a control plane."""

from dev.toolchain.choice import resolve, resolve_controlplane
from dev.toolchain.errors import ToolchainError
from dev.toolchain.model import ControlPlaneBinaries, Engine, Toolchain

__all__ = [
    "ControlPlaneBinaries",
    "Engine",
    "Toolchain",
    "ToolchainError",
    "resolve",
    "resolve_controlplane",
]
