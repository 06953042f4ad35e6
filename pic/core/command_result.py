"""Holds the output and the exit code of a command of the Pulumi CLI."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The output and the exit code of a command, under the names that the Automation API reads.

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
        # Standard error also has warnings and progress. The CLI prints the error last.
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1].removeprefix("error: ") if lines else f"it ended with {self.code}"
