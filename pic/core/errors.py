"""Defines the errors that pic expects, as one tree, and their exit codes.

PicError
├── SettingsError     2  settings or usage
│   └── ManifestError 2  a file that cannot be read
├── RefusedError      3  a guard refused the changes; nothing was changed
├── LockedError       4  another run holds the stack
├── ClusterError      5  cluster unreachable or incomplete
├── TargetError       5  a target cannot be reached, or refuses
│   ├── PiholeError   5  Pi-hole cannot be reached, or refuses
│   └── PangolinError 5  Pangolin's Integration API cannot be reached, or refuses
├── EngineError       5  engine or state backend unreachable or unsuitable
├── FailedError       6  some resources failed; the others are deployed
└── InterruptedRunError 1  a signal ended the run; what was done is saved
"""

from collections.abc import Sequence
from enum import Enum


class FailureClass(Enum):
    """Says whether to retry after a failure, and when.

    The values are public: they appear in messages, in the JSON of `pic up` and in logs.

    Attributes:
        INVALID: A retry fails again until someone changes the object or a setting.
        AUTH: A retry fails again until the credentials or permissions change.
        TEMPORARY: Retry soon.
        RATE_LIMITED: Retry after a pause.
    """

    INVALID = "invalid"
    AUTH = "auth"
    TEMPORARY = "temporary"
    RATE_LIMITED = "rateLimited"


# What each exit code means, as --help and the documentation list them. Pipelines act on the codes,
# so the meaning of a code never changes.
EXIT_CODES = {
    0: "done",
    1: "unexpected error, or a signal stopped up, destroy or a running engine",
    2: "settings or command line are wrong",
    3: "a guard refused",
    4: "a live run holds the lock of the stack",
    5: "cluster, target, engine or backend unreachable or incomplete",
    6: "some resources failed",
    7: "there are changes, with --expect-no-changes",
    8: "done, but some changes wait for an acknowledgement",
    # Shells return 128 and the number of the signal for a program that SIGINT has ended.
    130: "Ctrl-C stopped any other verb",
}
HELD = 8
INTERRUPTED = 130


class PicError(Exception):
    """An expected error: its text says what is wrong and what to do, without a traceback.

    Attributes:
        exit_code: The exit code of the process.
    """

    exit_code = 1


class SettingsError(PicError):
    """Invalid settings or usage.

    Attributes:
        problems: One line for each problem, all of them at once.
    """

    exit_code = 2

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(self.problems))


class ManifestError(SettingsError):
    """A manifest file that cannot be read; the text names the file and the line.

    Attributes:
        where: The file and the line, such as `web.yaml:12`.
        problem: What is wrong there.
    """

    def __init__(self, where: str, problem: str) -> None:
        self.where, self.problem = where, problem
        super().__init__([f"{where}: {problem}"])


class RefusedError(PicError):
    """A guard refused the changes. Nothing was registered or changed.

    Attributes:
        digest: Identifies the refused changes, for an acknowledgement; empty if none helps.
    """

    exit_code = 3

    def __init__(self, message: str, *, digest: str = "") -> None:
        self.digest = digest
        super().__init__(message)


class ClusterError(PicError):
    """The cluster could not be read completely; the text names the scope and a remedy."""

    exit_code = 5


class TargetError(PicError):
    """A target cannot be reached, or refuses; the text names a remedy.

    Attributes:
        kind: Whether to retry.
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


class PangolinError(TargetError):
    """The Integration API of Pangolin cannot be reached, or refuses."""


class LockedError(PicError):
    """Another run holds the stack; the text names its owner."""

    exit_code = 4


class EngineError(PicError):
    """The engine or its state backend cannot work; the text quotes the engine."""

    exit_code = 5


class FailedError(PicError):
    """Some resources failed; the others are deployed as planned."""

    exit_code = 6


class InterruptedRunError(PicError):
    """A signal ended the run; the engine has saved what it had done."""


def with_class(error: PicError) -> str:
    """Return the text of an error followed by its class, such as `… [auth]`.

    The engine passes on nothing but the text of a failure. `pic.engine.outcome` reads the class
    from its end.
    """
    if not isinstance(error, TargetError):
        return f"{error} [{FailureClass.INVALID.value}]"
    after = f", retry after {error.retry_after} s" if error.retry_after else ""
    return f"{error} [{error.kind.value}{after}]"
