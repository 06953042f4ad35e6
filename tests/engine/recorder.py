"""A `pulumi` on PATH that keeps what the engine says in its events."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

from dev.toolchain import Toolchain

SCRIPT = """#!/bin/bash
echo "$@" >> {calls}
{pulumi} "$@" | tee -a {events}
exit ${{PIPESTATUS[0]}}
"""


@dataclass(frozen=True)
class Recorder:
    """Where a recording `pulumi` is, and what it has kept."""

    folder: Path

    @property
    def calls(self) -> list[str]:
        """The first words of each command."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [" ".join(line.removeprefix("--non-interactive ").split()[:2]) for line in lines]

    def steps(self) -> list[tuple[str, str]]:
        """What the engine has done, as operation and host, since the last call."""
        path = self.folder / "events"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        (self.folder / "calls").unlink(missing_ok=True)
        found = (json.loads(line) for line in lines if '"resourcePreEvent"' in line[:60])
        steps = (event["resourcePreEvent"]["metadata"] for event in found)
        return sorted(
            (step["op"], step["urn"].rpartition("::")[2])
            for step in steps
            if "PangolinResource" in step["type"]
        )


def record(folder: Path, tools: Toolchain) -> tuple[Recorder, str]:
    """Put the recorder into a folder; return it, and the PATH that has it first."""
    made = Recorder(folder)
    script = folder / "pulumi"
    quoted = {name: shlex.quote(str(folder / name)) for name in ("calls", "events")}
    script.write_text(SCRIPT.format(pulumi=shlex.quote(str(tools.pulumi)), **quoted))
    script.chmod(0o755)
    return made, f"{folder}:{tools.environment()['PATH']}"
