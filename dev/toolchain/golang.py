"""Checks whether the Go on PATH can build a part, and computes the cache key of a build."""

import hashlib
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from dev.toolchain.context import Context
from dev.toolchain.errors import ToolchainError
from dev.toolchain.parts import Part

_NEXT_STEP = "put a newer Go first on PATH, or use the official pulumi (PIC_TOOLCHAIN=path)"
_VARIABLES = ("GOVERSION", "GOOS", "GOARCH", "GOCACHE", "GOMODCACHE")


@dataclass(frozen=True)
class Go:
    """Represents a Go command that is new enough for one part."""

    command: Path
    version: str
    platform: str
    caches: tuple[Path, ...]  # the directories that a build fills

    def key(self, part: Part, modules: Path) -> str:
        """Return a digest of everything that affects the result of a build."""
        digest = hashlib.sha256()
        for word in (self.version, self.platform, part.package, *part.flags):
            digest.update(word.encode() + b"\0")
        for source in _sources(part.directory(modules)):
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
        return digest.hexdigest()[:16]


def find(context: Context, part: Part) -> Go:
    """Find the Go that builds a part.

    Raises:
        ToolchainError: Go is missing or too old.
    """
    command = context.which("go")
    needed = _needed(part.directory(context.modules))
    if command is None:
        raise ToolchainError(
            f"no go on PATH, but {part.binary} needs Go {needed} or newer: {_NEXT_STEP}"
        )
    variables = _environment(command, context, part, needed)
    if _numbers(variables["GOVERSION"]) < _numbers(f"go{needed}"):
        raise ToolchainError(_too_old(part, needed, variables["GOVERSION"]))
    return Go(
        command=command,
        version=variables["GOVERSION"],
        platform=f"{variables['GOOS']}/{variables['GOARCH']}",
        caches=(Path(variables["GOCACHE"]), Path(variables["GOMODCACHE"])),
    )


def _environment(command: Path, context: Context, part: Part, needed: str) -> dict[str, str]:
    # In the directory of the module, because Go may switch to the toolchain that go.mod names.
    answer = subprocess.run(
        [command, "env", "-json", *_VARIABLES],
        cwd=part.directory(context.modules),
        env={**context.environ, "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode:
        message = answer.stderr.strip().rpartition("\n")[2] or "no answer"
        raise ToolchainError(_too_old(part, needed, message))
    variables: dict[str, str] = json.loads(answer.stdout)
    return variables


def _too_old(part: Part, needed: str, actual: str) -> str:
    return f"{part.binary} needs Go {needed} or newer, but PATH has {actual}: {_NEXT_STEP}"


def _needed(module: Path) -> str:
    directive = re.search(r"^go (\S+)$", (module / "go.mod").read_text(), re.MULTILINE)
    return directive[1] if directive else "1.26"


def _numbers(version: str) -> tuple[int, ...]:
    """Parse "go1.26.8", "go1.27rc1" or "devel go1.27-abc" into numbers that can be compared."""
    match = re.search(r"go(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(number or 0) for number in match.groups()) if match else (0,)


def _sources(directory: Path) -> list[Path]:
    return sorted([directory / "go.mod", directory / "go.sum", *directory.glob("*.go")])
