"""What can go wrong on purpose: one small tree, each leaf with its exit code.

PicError
├── SettingsError     2  settings or usage
│   └── ManifestError 2  a file that cannot be read
├── RefusedError      3  a guard said no; nothing was changed
└── ClusterError      5  cluster unreachable or incomplete
"""

from collections.abc import Sequence


class PicError(Exception):
    """An expected error: its text is all a person needs to see.

    Attributes:
        exit_code: What the process exits with.
    """

    exit_code = 1


class SettingsError(PicError):
    """Settings or usage that cannot be right; every problem is named at once."""

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class ManifestError(SettingsError):
    """A manifest that cannot be read; names file and line."""

    def __init__(self, where: str, problem: str) -> None:
        super().__init__([f"{where}: {problem}"])


class RefusedError(PicError):
    """A guard's no. Nothing was registered, nothing was changed.

    Attributes:
        digest: Names exactly the refused changes, for an acknowledgement; empty where none helps.
    """

    exit_code = 3

    def __init__(self, message: str, *, digest: str = "") -> None:
        self.digest = digest
        super().__init__(message)


class ClusterError(PicError):
    """The cluster could not be read, or not wholly; names scope and remedy."""

    exit_code = 5
