"""Runs a real control plane on this machine, without Docker, for tests and benchmarks."""

from dev.controlplane.errors import ControlPlaneError
from dev.controlplane.plane import ControlPlane

__all__ = ["ControlPlane", "ControlPlaneError"]
