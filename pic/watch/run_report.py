"""What `pic up --report` has written, read for what it means for the next run. No I/O."""

import json
from dataclasses import dataclass, field

from pic.core.errors import FailedError, RefusedError, SettingsError
from pic.core.json_values import (
    MalformedError,
    Raw,
    integer,
    mapping,
    sequence,
    text,
)

RATE_LIMITED, INVALID = "rateLimited", "invalid"


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run ended.

    Attributes:
        exit_code: That of the process.
        limited: After how many seconds a target wants to be asked again; None where none says so.
        temporary: It failed in a way that time may heal.
        deployed: Digest and means of what is deployed since; None where the run did not succeed.
        raw: The report as it was written.
    """

    exit_code: int
    limited: int | None = None
    temporary: bool = False
    deployed: Raw | None = None
    raw: Raw = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """The guard said no."""
        return self.exit_code == RefusedError.exit_code


def read(words: str, exit_code: int) -> RunReport:
    """Read a report; one that is missing or broken leaves the exit code of the process."""
    try:
        raw = mapping(json.loads(words), "the report")
        return _understood(raw, exit_code)
    except (ValueError, MalformedError):
        raw = {"version": 1, "exitCode": exit_code, "error": "the run ended without a report"}
        return _understood(raw, exit_code)


def _understood(raw: Raw, exit_code: int) -> RunReport:
    failures = [mapping(each, "failures[]") for each in sequence(raw.get("failures"), "failures")]
    kinds = {text(each.get("class")) for each in failures}
    waits = [integer(each.get("retryAfter")) or 0 for each in _limited(failures)]
    return RunReport(
        exit_code,
        limited=max(waits, default=None),
        temporary=_is_temporary(exit_code, kinds),
        deployed=mapping(raw.get("deployed"), "deployed") or None if exit_code == 0 else None,
        raw=raw,
    )


def _limited(failures: list[Raw]) -> list[Raw]:
    return [each for each in failures if each.get("class") == RATE_LIMITED]


def _is_temporary(exit_code: int, kinds: set[str]) -> bool:
    match exit_code:
        case RefusedError.exit_code | SettingsError.exit_code:
            return False
        case 0:
            return bool(kinds - {INVALID})
        case FailedError.exit_code if kinds:
            return bool(kinds - {INVALID})
        case _:
            return True
