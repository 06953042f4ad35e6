"""Reads the report that `pic up --report` has written: what is deployed, and when to retry. No I/O.

The exit code alone is not enough: a run can fail for one reason that a retry fixes and for another
one that only a user can fix.
"""

import json
from dataclasses import dataclass, field

from pic.core.errors import FailedError, RefusedError, SettingsError
from pic.core.json_values import MalformedError, Raw, integer, mapping, sequence, text

RATE_LIMITED, INVALID = "rateLimited", "invalid"


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run ended.

    Attributes:
        exit_code: The exit code of the process.
        retry_after: The seconds to wait before the next request to a target that limits requests;
            None if no target does.
        temporary: Something failed, and a later run may succeed without a change.
        deployed: Digest and means of what is deployed now; None if the run failed.
        raw: The report as it was written.
    """

    exit_code: int
    retry_after: int | None = None
    temporary: bool = False
    deployed: Raw | None = None
    raw: Raw = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        """The guard refused the changes."""
        return self.exit_code == RefusedError.exit_code


def read(content: str, exit_code: int) -> RunReport:
    """Read a report; if it is missing or malformed, only the exit code of the process counts."""
    try:
        raw = mapping(json.loads(content), "the report")
        return _parse(raw, exit_code)
    except (ValueError, MalformedError):
        raw = {"version": 1, "exitCode": exit_code, "error": "the run ended without a report"}
        return _parse(raw, exit_code)


def _parse(raw: Raw, exit_code: int) -> RunReport:
    failures = [
        mapping(failure, "failures[]") for failure in sequence(raw.get("failures"), "failures")
    ]
    classes = {text(failure.get("class")) for failure in failures}
    waits = [integer(failure.get("retryAfter")) or 0 for failure in _rate_limited(failures)]
    return RunReport(
        exit_code,
        retry_after=max(waits, default=None),
        temporary=_is_temporary(exit_code, classes),
        deployed=mapping(raw.get("deployed"), "deployed") or None if exit_code == 0 else None,
        raw=raw,
    )


def _rate_limited(failures: list[Raw]) -> list[Raw]:
    return [failure for failure in failures if failure.get("class") == RATE_LIMITED]


def _is_temporary(exit_code: int, classes: set[str]) -> bool:
    match exit_code:
        case RefusedError.exit_code | SettingsError.exit_code:
            return False
        case 0:
            # The deployment succeeded, but a target may not have answered when pic read it.
            return bool(classes - {INVALID})
        case FailedError.exit_code if classes:
            return bool(classes - {INVALID})
        case _:
            # Without details, such as after a kill, a retry does less harm than a wait for a user.
            return True
