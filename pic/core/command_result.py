"""Holds what a command of the Pulumi CLI printed and ended with."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What a command printed and ended with, under the names that the Automation API reads.

    Attributes:
        code: The exit code.
        stdout: Standard output.
        stderr: Standard error.
    """

    code: int
    stdout: str
    stderr: str

    @property
    def reason(self) -> str:
        """The last line of the error, without its prefix."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1].removeprefix("error: ") if lines else f"it ended with {self.code}"
