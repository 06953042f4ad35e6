"""Holds what `pic doctor` examines, and runs the Pulumi CLI for it.

Each command of the CLI has a time limit and never prompts, so the doctor always ends.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pic.core.command_result import CommandResult
from pic.core.errors import EngineError


@dataclass(frozen=True, slots=True)
class DoctorContext:
    """A project on this host.

    Attributes:
        root: The folder of Pulumi.yaml.
        stack: The stack that the user named; None selects the only one.
        pairs: The settings of the `--config KEY=VALUE` flags.
        host: The name of this host, as locks contain it.
        now: The current time, with a time zone.
        seconds: How long a command of the CLI, or an answer of a server, may take.
    """

    root: Path
    stack: str | None
    pairs: Sequence[str]
    environment: Mapping[str, str]
    host: str
    now: datetime
    seconds: float = 20.0

    @property
    def pulumi(self) -> str | None:
        """The path of the Pulumi CLI on PATH; None without one."""
        return shutil.which("pulumi", path=self.environment.get("PATH", os.defpath))

    def flag(self, variable: str) -> bool:
        """Say whether a variable is set to a value that Pulumi reads as true."""
        return self.environment.get(variable, "").lower() in ("1", "t", "true")

    def run_pulumi(self, *arguments: str) -> CommandResult:
        """Run a command of the Pulumi CLI.

        Raises:
            EngineError: There is no CLI on PATH, or it does not end in time.
        """
        if not self.pulumi:
            raise EngineError("there is no pulumi on PATH")
        process = subprocess.Popen(  # noqa: S603 - the CLI on the user's PATH, without a shell
            [self.pulumi, *arguments, "--non-interactive"],
            cwd=self.root,
            env={**self.environment, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # The CLI starts plugins. Killing the process group ends them with it.
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            command = " ".join(("pulumi", *arguments[:2]))
            raise EngineError(f"`{command}` did not answer within {self.seconds:g} s") from error
        return CommandResult(process.returncode, stdout, stderr)
