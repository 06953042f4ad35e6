"""What the resolver sees of the machine, as one value that a test can make up."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dev.toolchain.model import Echo

CHECKOUT = Path(__file__).parents[2]


def free_bytes(directory: Path) -> int:
    """Say how much room is left where a directory lives, or would live.

    Raises:
        OSError: when the file system does not answer.
    """
    existing = next(parent for parent in (directory, *directory.parents) if parent.exists())
    return shutil.disk_usage(existing).free


@dataclass(frozen=True)
class Surroundings:
    """The environment variables, the checkout, the free disk and the pace of progress lines."""

    echo: Echo = print
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    checkout: Path = CHECKOUT
    modules: Path = Path(__file__).parent
    python: str = sys.executable
    free: Callable[[Path], int] = free_bytes
    line_every: float = 30.0  # seconds between progress lines where there is no terminal

    @property
    def cache(self) -> Path:
        """Give the directory that all clones of this user share."""
        if own := self.environ.get("PIC_CACHE"):
            return Path(own).absolute()
        base = self.environ.get("XDG_CACHE_HOME") or self._home / ".cache"
        return Path(base) / "pic"

    @property
    def pulumi_home(self) -> Path:
        """Give the PULUMI_HOME of the user's own CLI."""
        return Path(self.environ.get("PULUMI_HOME") or self._home / ".pulumi").absolute()

    def which(self, program: str) -> Path | None:
        """Find a program on PATH."""
        found = shutil.which(program, path=self.environ.get("PATH", os.defpath))
        return Path(found).absolute() if found else None

    @property
    def _home(self) -> Path:
        return Path(self.environ.get("HOME") or Path.home())
