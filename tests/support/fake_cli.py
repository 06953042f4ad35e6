"""Provides a fake Pulumi CLI with prepared answers, and an engine that uses it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from semver import VersionInfo

from pic.core.command_result import CommandResult
from pic.core.errors import PicError
from pic.engine.engine import Engine
from pic.engine.pulumi_command import Command, OnOutput

INTERRUPTED = "interrupted: the engine has stopped and saved what was done. Run again to finish"


@dataclass(frozen=True)
class CliAnswer:
    """What one start of the CLI prints, and how it ends."""

    out: str = ""
    err: str = ""
    code: int = 0
    interrupted: bool = False


class FakeCli(Command):
    """A CLI with one prepared answer for each start. It records the command lines."""

    def __init__(self, *answers: CliAnswer, version: VersionInfo | None = None) -> None:
        self.answers = list(answers)
        self.interrupted = False
        self.code = 0
        self.version = version or VersionInfo(3, 274, 1)
        self.command_lines: list[str] = []
        self.environment: Mapping[str, str] = {}
        self.folder = ""

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        answer = self.answers.pop(0)
        self.command_lines.append(re.sub(r"127\.0\.0\.1:\d+", "HERE", " ".join(args)))
        self.environment, self.folder = additional_env, cwd
        self.code, self.interrupted = answer.code, answer.interrupted
        for on_line, text in ((on_output, answer.out), (on_error, answer.err)):
            for line in text.splitlines() if on_line else ():
                on_line(line)  # type: ignore[misc] # mypy does not narrow it in this loop
        return CommandResult(answer.code, answer.out, answer.err)


def make_engine(cli: FakeCli, environment: Mapping[str, str] | None = None) -> Engine:
    """Return the engine of the stack `prod` in the folder `/project`."""
    return Engine(Path("/project"), "prod", environment or {}, command=cli)


def error_of(action: Callable[[], object]) -> tuple[type[PicError], str]:
    """Return the class and the message of the error that an action raises."""
    with pytest.raises(PicError) as caught:
        action()
    return type(caught.value), str(caught.value)


def empty_program() -> None:
    """Declare nothing."""
