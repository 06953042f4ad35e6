"""Puts a `pulumi` on PATH that records its calls and the events of the engine."""

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
    """Reads what the recording `pulumi` in a folder has recorded."""

    folder: Path

    @property
    def calls(self) -> list[str]:
        """The first two words of each command."""
        path = self.folder / "calls"
        lines = path.read_text().splitlines() if path.exists() else []
        return [" ".join(line.removeprefix("--non-interactive ").split()[:2]) for line in lines]

    def steps(self) -> list[tuple[str, str]]:
        """Return the operations of the engine with their hosts since the last call."""
        path = self.folder / "events"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        (self.folder / "calls").unlink(missing_ok=True)
        events = (json.loads(line) for line in lines if '"resourcePreEvent"' in line[:60])
        steps = (event["resourcePreEvent"]["metadata"] for event in events)
        return sorted(
            (step["op"], step["urn"].rpartition("::")[2])
            for step in steps
            if "PangolinResource" in step["type"]
        )


def record(folder: Path, tools: Toolchain) -> tuple[Recorder, str]:
    """Put the recording `pulumi` into a folder; return its recorder and a PATH with it first."""
    recorder = Recorder(folder)
    script = folder / "pulumi"
    quoted = {name: shlex.quote(str(folder / name)) for name in ("calls", "events")}
    script.write_text(SCRIPT.format(pulumi=shlex.quote(str(tools.pulumi)), **quoted))
    script.chmod(0o755)
    return recorder, f"{folder}:{tools.environment()['PATH']}"
