"""The Go on PATH: whether it can build a part, and the key under which its result is kept."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.toolchain.errors import ToolchainError
from dev.toolchain.parts import Part
from dev.toolchain.surroundings import Surroundings

_NEXT_STEP = "put a newer Go first on PATH, or use the official pulumi (PIC_TOOLCHAIN=path)"
_ASKED = ("GOVERSION", "GOOS", "GOARCH", "GOCACHE", "GOMODCACHE")


@dataclass(frozen=True)
class Go:
    """A Go command that is new enough for one part."""

    command: Path
    version: str
    platform: str
    caches: tuple[Path, ...]  # what a build fills

    def key(self, part: Part, modules: Path) -> str:
        """Name the result of a build by everything that goes into it."""
        digest = hashlib.sha256()
        for word in (self.version, self.platform, part.package, *part.flags):
            digest.update(word.encode() + b"\0")
        for source in _sources(part.directory(modules)):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
        return digest.hexdigest()[:16]


def find(around: Surroundings, part: Part) -> Go:
    """Find the Go that builds a part.

    Raises:
        ToolchainError: when there is none, or it is too old.
    """
    command = around.which("go")
    needed = _needed(part.directory(around.modules))
    if command is None:
        raise ToolchainError(
            f"no go on PATH: {part.binary} needs Go {needed} or newer; {_NEXT_STEP}"
        )
    told = _ask(command, around, part, needed)
    if _numbers(told["GOVERSION"]) < _numbers(f"go{needed}"):
        raise ToolchainError(_too_old(part, needed, told["GOVERSION"]))
    return Go(
        command=command,
        version=told["GOVERSION"],
        platform=f"{told['GOOS']}/{told['GOARCH']}",
        caches=(Path(told["GOCACHE"]), Path(told["GOMODCACHE"])),
    )


def _ask(command: Path, around: Surroundings, part: Part, needed: str) -> dict[str, str]:
    # Inside the module: a Go that may fetch the toolchain named in go.mod answers as that one.
    answer = subprocess.run(
        [command, "env", "-json", *_ASKED],
        cwd=part.directory(around.modules),
        env={**around.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        said = answer.stderr.strip().rpartition("\n")[2] or "no answer"
        raise ToolchainError(_too_old(part, needed, said))
    told: dict[str, str] = json.loads(answer.stdout)
    return told


def _too_old(part: Part, needed: str, seen: str) -> str:
    return f"{part.binary} needs Go {needed} or newer, PATH has: {seen}; {_NEXT_STEP}"


def _needed(module: Path) -> str:
    directive = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)
    return directive[1] if directive else "1.26"


def _numbers(version: str) -> tuple[int, ...]:
    """Read "go1.26.8", "go1.27rc1" or "devel go1.27-abc" as numbers that compare."""
    found = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(number or 0) for number in found.groups()) if found else (0,)


def _sources(directory: Path) -> list[Path]:
    return sorted([directory / "go.mod", directory / "go.sum", *directory.glob("*.go")])
