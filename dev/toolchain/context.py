"""Holds what the resolver knows about the machine, as one value that a test can build."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dev.toolchain.model import Echo

CHECKOUT = Path(__file__).parents[2]


def free_bytes(directory: Path) -> int:
    """Return the free bytes on the disk of a directory, which need not exist yet.

    Raises:
        OSError: The file system does not answer.
    """
    existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
    return shutil.disk_usage(existing).free


@dataclass(frozen=True)
class Context:
    """Holds the environment, the checkout, the free disk space and where messages go."""

    echo: Echo = print
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    checkout: Path = CHECKOUT
    modules: Path = Path(__file__).parent
    python: str = sys.executable
    free: Callable[[Path], int] = free_bytes
    line_every: float = 30.0  # seconds between progress lines without a terminal

    @property
    def cache(self) -> Path:
        """The cache directory that all checkouts of this user share."""
        if cache := self.environ.get("PIC_CACHE"):
            return Path(cache).absolute()
        base = self.environ.get("XDG_CACHE_HOME") or self._home / ".cache"
        return Path(base) / "pic"

    @property
    def pulumi_home(self) -> Path:
        """The PULUMI_HOME of the user's own CLI."""
        return Path(self.environ.get("PULUMI_HOME") or self._home / ".pulumi").absolute()

    def which(self, program: str) -> Path | None:
        """Find a program on PATH."""
        path = shutil.which(program, path=self.environ.get("PATH", os.defpath))
        return Path(path).absolute() if path else None

    @property
    def _home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())
