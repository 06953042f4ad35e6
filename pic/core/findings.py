"""What a check finds, and how it is read. No I/O."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.errors import EngineError, PicError, SettingsError

VERSION = 1
USAGE = SettingsError.exit_code
UNREACHABLE = EngineError.exit_code


class CheckStatus(StrEnum):
    """How a check ended; what could not be asked is skipped."""

    PASS = "pass"  # noqa: S105 - it is no password
    FAIL = "fail"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor.

    Attributes:
        remedy: What to do; with a check that passed, advice.
        exit_code: What a run exits with for this reason.
    """

    name: str
    verdict: CheckStatus
    message: str
    remedy: str = ""
    exit_code: int = 0


def passed(name: str, message: str, advice: str = "") -> Finding:
    """Return a finding that all is well."""
    return Finding(name, CheckStatus.PASS, message, advice)


def failed(name: str, message: str, remedy: str = "", exit_code: int = UNREACHABLE) -> Finding:
    """Return a finding that something is wrong."""
    return Finding(name, CheckStatus.FAIL, message, remedy, exit_code)


def skipped(name: str, message: str) -> Finding:
    """Return a finding that a check could not be made."""
    return Finding(name, CheckStatus.SKIPPED, message)


def run_check(name: str, check: Callable[[], Iterable[Finding]]) -> list[Finding]:
    """Make one check; whatever goes wrong in it is a finding too, so the others are still made."""
    found: list[Finding] = []
    try:
        found.extend(check())
    except PicError as error:
        found.append(failed(name, str(error), exit_code=error.exit_code))
    except Exception as error:  # noqa: BLE001 - a doctor that falls over its context helps nobody
        found.append(failed(name, f"unexpected: {type(error).__name__}: {error}"))
    return found


def exit_code(findings: Sequence[Finding]) -> int:
    """Return 0 when nothing failed, else 2 for settings before 5 for all that depends on them."""
    codes = {each.exit_code for each in findings if each.verdict is CheckStatus.FAIL}
    return USAGE if USAGE in codes else UNREACHABLE if codes else 0


def as_text(findings: Sequence[Finding]) -> str:
    """Return a line for each finding, and their counts."""
    width = max((len(each.name) for each in findings), default=0)
    return "\n".join([*(_line(each, width) for each in findings), "", _counts(findings)])


def _line(finding: Finding, width: int) -> str:
    arrow = f" → {finding.remedy}" if finding.remedy else ""
    message = "; ".join(finding.message.splitlines())
    return f"{finding.verdict.value:<7}  {finding.name:<{width}}  {message}{arrow}"


def _counts(findings: Sequence[Finding]) -> str:
    counts = Counter(each.verdict for each in findings)
    words = {CheckStatus.PASS: "passed", CheckStatus.FAIL: "failed", CheckStatus.SKIPPED: "skipped"}
    return ", ".join(f"{counts[verdict]} {word}" for verdict, word in words.items())


def as_json(findings: Sequence[Finding]) -> str:
    """Return the same as JSON."""
    counts = Counter(each.verdict for each in findings)
    checks = [
        {
            "name": each.name,
            "verdict": each.verdict.value,
            "message": each.message,
            "remedy": each.remedy,
        }
        for each in findings
    ]
    totals = {verdict.value: counts[verdict] for verdict in CheckStatus}
    return json.dumps(
        {"version": VERSION, "counts": totals, "checks": checks}, indent=2, ensure_ascii=False
    )
