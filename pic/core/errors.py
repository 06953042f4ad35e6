"""What can go wrong on purpose: one small tree, each leaf with its exit code.

PicError
├── SettingsError     2  settings or usage
│   └── ManifestError 2  a file that cannot be read
├── RefusedError      3  a guard said no; nothing was changed
├── LockedError       4  a live run holds the stack
├── ClusterError      5  cluster unreachable or incomplete
├── TargetError       5  a target cannot be reached, or refuses
│   └── PiholeError   5
├── EngineError       5  engine or state backend unreachable, or not as needed
├── FailedError       6  some resources failed; the others are done
└── InterruptedRunError 1  a signal ended the run; what was done is saved
"""

from collections.abc import Sequence
from enum import Enum


class FailureClass(Enum):
    """Whether a retry makes sense, and when.

    The values are public: they appear in messages, in the JSON of `pic up` and in logs.
    """

    INVALID = "invalid"
    AUTH = "auth"
    TEMPORARY = "temporary"
    RATE_LIMITED = "rateLimited"


# What each exit code means, as --help and the documentation list them.
EXIT_CODES = {
    0: "done",
    1: "unexpected error, or a signal stopped up, destroy or a running engine",
    2: "settings or command line are wrong",
    3: "a guard refused",
    4: "a live run holds the lock of the stack",
    5: "cluster, target, engine or backend unreachable or incomplete",
    6: "some resources failed",
    7: "there are changes, with --expect-no-changes",
    # As shells report a program that SIGINT ended: 128 and the number of the signal.
    130: "Ctrl-C stopped any other verb",
}
INTERRUPTED = 130


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


class TargetError(PicError):
    """A target cannot be reached, or refuses; the text names the remedy.

    Attributes:
        kind: Whether a retry makes sense.
        retry_after: Seconds to wait before a retry; None if unknown.
    """

    exit_code = 5

    def __init__(
        self,
        message: str,
        *,
        kind: FailureClass = FailureClass.TEMPORARY,
        retry_after: int | None = None,
    ) -> None:
        self.kind = kind
        self.retry_after = retry_after
        super().__init__(message)


class PiholeError(TargetError):
    """Pi-hole cannot be reached, or refuses."""


class LockedError(PicError):
    """Another run holds the stack; names its owner."""

    exit_code = 4


class EngineError(PicError):
    """The engine or its state backend cannot do its work; in the engine's own words."""

    exit_code = 5


class FailedError(PicError):
    """Some resources failed; the others are as planned."""

    exit_code = 6


class InterruptedRunError(PicError):
    """A signal ended the run; the engine has saved what was done."""


def with_class(error: PicError) -> str:
    """Return the text of an error for a failure that it causes, with its class.

    So the class survives the way through the engine.
    """
    if not isinstance(error, TargetError):
        return f"{error} [{FailureClass.INVALID.value}]"
    after = f", retry after {error.retry_after} s" if error.retry_after else ""
    return f"{error} [{error.kind.value}{after}]"
