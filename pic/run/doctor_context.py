"""What the doctor looks at, and how it asks the Pulumi CLI: bounded in time, never prompting."""

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
        stack: As named by the user; None takes the only one.
        pairs: Settings given as `KEY=VALUE`.
        host: The name of this host, as locks have it.
        now: With a time zone.
        seconds: How long a command or an answer of the cluster may take.
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
        """The Pulumi CLI on PATH."""
        return shutil.which("pulumi", path=self.environment.get("PATH", os.defpath))

    def flag(self, variable: str) -> bool:
        """Say whether a variable is set to something that Pulumi takes for true."""
        return self.environment.get(variable, "").lower() in ("1", "t", "true")

    def ask(self, *arguments: str) -> CommandResult:
        """Ask the Pulumi CLI.

        Raises:
            EngineError: There is none, or it does not answer in time.
        """
        if not self.pulumi:
            raise EngineError("there is no pulumi on PATH")
        process = subprocess.Popen(  # noqa: S603 - the CLI of the user's own PATH, without a shell
            [self.pulumi, *arguments, "--non-interactive"],
            cwd=self.root,
            env={**self.environment, "PULUMI_SKIP_UPDATE_CHECK": "true"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,  # so that it can be ended with all that it started
        )
        try:
            out, err = process.communicate(timeout=self.seconds)
        except subprocess.TimeoutExpired as error:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            words = " ".join(("pulumi", *arguments[:2]))
            raise EngineError(f"`{words}` gave no answer in {self.seconds:g} s") from error
        return CommandResult(process.returncode, out, err)
