"""Makes a Pulumi project for one test, and reads what the engine prints."""

import json
import re
import shutil
import subprocess
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "PIC_TEST_PROJECT"


@dataclass(frozen=True)
class Project:
    """Represents a project with its own file backend; a variable marks all its processes."""

    root: Path
    environ: Mapping[str, str]

    def write(self, files: Mapping[str, str]) -> None:
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))

    def start(self, *words: str) -> subprocess.Popen[str]:
        # Popen would search the PATH of this process, not that of the environment it passes on.
        pulumi = shutil.which("pulumi", path=self.environ["PATH"])
        assert pulumi
        return subprocess.Popen(
            [pulumi, *words, "--non-interactive", "--color=never"],
            cwd=self.root,
            env=dict(self.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def pulumi(self, *words: str) -> tuple[int, str]:
        """Run a command and return its exit code and its output."""
        process = self.start(*words)
        printed, errors = process.communicate(timeout=120)
        return process.returncode, printed + errors

    def up(self, files: Mapping[str, str]) -> tuple[int, str]:
        self.write(files)
        assert self.pulumi("stack", "init", "dev")[0] == 0
        return self.pulumi("up", "--yes", "--skip-preview")

    def outputs(self) -> object:
        return json.loads(self.pulumi("stack", "output", "--json")[1])

    def processes(self) -> list[int]:
        """List the processes that have inherited the environment of this project."""
        mark = f"{MARK}={self.environ[MARK]}".encode()
        return [pid for pid in _pids() if mark in _environment(pid)]


def _pids() -> Iterator[int]:
    return (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())


def _environment(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has ended, or belongs to another user
        return []


def diagnostics(printed: str) -> str:
    """Return the section "Diagnostics" of the engine's output, without empty lines."""
    block = re.search(r"^Diagnostics:\n(.*?)^\S", printed, re.DOTALL | re.MULTILINE)
    assert block, printed
    lines = [line for line in block[1].splitlines() if line.strip()]
    return textwrap.dedent("\n".join(lines))
