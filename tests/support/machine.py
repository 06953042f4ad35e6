"""Provides a made-up machine: what /proc tells about its boot, its pid namespace and processes."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class FakeMachine:
    """A folder that looks like /proc."""

    proc: Path

    def boot(self, boot: str = "boot", namespace: str = "pid:[1]") -> None:
        """Let the machine be in this boot, and this process in this pid namespace."""
        file, link = self.proc / "sys/kernel/random/boot_id", self.proc / "self/ns/pid"
        for path in (file, link):
            path.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{boot}\n")
        link.unlink(missing_ok=True)
        link.symlink_to(namespace)

    def start(
        self,
        pid: int,
        start: int = 100,
        *,
        name: str = "pulumi",
        parent: int = 0,
        arguments: Sequence[str] = ("up",),
    ) -> None:
        """Let a process run since a number of clock ticks after the boot."""
        folder = self.proc / str(pid)
        folder.mkdir(parents=True, exist_ok=True)
        fields = ("S", str(parent), *["0"] * 17, str(start), "0")
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")
        (folder / "comm").write_text(f"{name[:15]}\n")
        (folder / "cmdline").write_text("\0".join((name, *arguments, "")))

    def leave_zombie(self, pid: int) -> None:
        """Let a process end for which its parent does not wait."""
        stat = self.proc / str(pid) / "stat"
        stat.write_text(stat.read_text().replace(") S ", ") Z "))

    def end(self, pid: int) -> None:
        """Let a process end."""
        shutil.rmtree(self.proc / str(pid))
