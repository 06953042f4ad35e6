"""Holds what the checks of `pic doctor` find, and shows it as text or JSON. No I/O."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.errors import EngineError, PicError, SettingsError

# Of the JSON: it changes when readers have to change.
VERSION = 1
USAGE = SettingsError.exit_code
UNREACHABLE = EngineError.exit_code


class CheckStatus(StrEnum):
    """The result of a check. A check is skipped if it could not run."""

    PASS = "pass"  # noqa: S105 - not a password
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor.

    Attributes:
        remedy: What to do if the check failed; advice if it passed.
        exit_code: The exit code of a run that fails for this reason; 0 if the check did not fail.
    """

    name: str
    verdict: CheckStatus
    message: str
    remedy: str = ""
    exit_code: int = 0


def passed(name: str, message: str, advice: str = "") -> Finding:
    """Return the finding of a check that passed."""
    return Finding(name, CheckStatus.PASS, message, advice)


def failed(name: str, message: str, remedy: str = "", exit_code: int = UNREACHABLE) -> Finding:
    """Return the finding of a check that failed."""
    return Finding(name, CheckStatus.FAIL, message, remedy, exit_code)


def skipped(name: str, message: str) -> Finding:
    """Return the finding of a check that could not run."""
    return Finding(name, CheckStatus.SKIPPED, message)


def run_check(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Run one check. An error in it becomes a finding, so that the other checks still run."""
    # A check yields its findings one by one, so those before an error are not lost.
    findings: list[Finding] = []
    try:
        findings.extend(check())
    except PicError as error:
        findings.append(failed(name, str(error), exit_code=error.exit_code))
    except Exception as error:  # noqa: BLE001 - one broken check must not stop the others
        findings.append(failed(name, f"unexpected: {type(error).__name__}: {error}"))
    return findings


def exit_code(findings: Sequence[Finding]) -> int:
    """Return 0 if nothing failed, 2 if settings have to change, and 5 for any other failure."""
    codes = {finding.exit_code for finding in findings if finding.verdict is CheckStatus.FAIL}
    # Wrong settings often cause the other failures, so the user should fix them first.
    return USAGE if USAGE in codes else UNREACHABLE if codes else 0


def as_text(findings: Sequence[Finding]) -> str:
    """Return a line for each finding, and a last line with their counts."""
    width = max((len(finding.name) for finding in findings), default=0)
    return "\n".join([*(_line(finding, width) for finding in findings), "", _counts(findings)])


def _line(finding: Finding, width: int) -> str:
    arrow = f" → {finding.remedy}" if finding.remedy else ""
    message = "; ".join(finding.message.splitlines())
    return f"{finding.verdict.value:<7}  {finding.name:<{width}}  {message}{arrow}"


def _counts(findings: Sequence[Finding]) -> str:
    counts = Counter(finding.verdict for finding in findings)
    words = {CheckStatus.PASS: "passed", CheckStatus.FAIL: "failed", CheckStatus.SKIPPED: "skipped"}
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items())


def as_json(findings: Sequence[Finding]) -> str:
    """Return the findings and their counts as JSON; `version` changes when readers have to."""
    counts = Counter(finding.verdict for finding in findings)
    checks = [
        {
            "name": finding.name,
            "verdict": finding.verdict.value,
            "message": finding.message,
            "remedy": finding.remedy,
        }
        for finding in findings
    ]
    totals = {verdict.value: counts[verdict] for verdict in CheckStatus}
    return json.dumps(
        {"version": VERSION, "counts": totals, "checks": checks}, indent=2, ensure_ascii=False
    )
