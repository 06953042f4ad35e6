"""The findings of the doctor's checks, as text and as JSON."""

import json
from collections.abc import Iterator

import pytest

from pic.core.errors import ClusterError, SettingsError
from pic.core.findings import (
    Finding,
    as_json,
    as_text,
    exit_code,
    failed,
    passed,
    run_check,
    skipped,
)

FINDINGS = [
    passed("plugin", "4.30.0", "some advice"),
    failed("cluster id", "one\ntwo", "a remedy"),
    skipped("x", "no"),
]


def test_each_finding_is_one_line_with_its_remedy() -> None:
    assert as_text(FINDINGS) == (
        "pass     plugin      4.30.0 → some advice\n"
        "fail     cluster id  one; two → a remedy\n"
        "skipped  x           no\n"
        "\n"
        "1 passed, 1 failed, 1 skipped"
    )


def test_the_json_has_each_finding_and_the_counts() -> None:
    assert json.loads(as_json(FINDINGS)) == {
        "version": 1,
        "counts": {"pass": 1, "fail": 1, "skipped": 1},
        "checks": [
            {"name": "plugin", "verdict": "pass", "message": "4.30.0", "remedy": "some advice"},
            {"name": "cluster id", "verdict": "fail", "message": "one\ntwo", "remedy": "a remedy"},
            {"name": "x", "verdict": "skipped", "message": "no", "remedy": ""},
        ],
    }


@pytest.mark.parametrize(
    ("findings", "code"),
    [
        ([], 0),
        ([passed("a", ""), skipped("b", "")], 0),
        ([passed("a", ""), failed("b", "")], 5),
        ([failed("a", ""), failed("b", "", "", 2)], 2),
    ],
)
def test_wrong_settings_decide_the_exit_code(findings: list[Finding], code: int) -> None:
    assert exit_code(findings) == code


@pytest.mark.parametrize(
    ("error", "finding"),
    [
        (ClusterError("away"), failed("b", "away", exit_code=5)),
        (SettingsError(["x", "y"]), failed("b", "x\ny", exit_code=2)),
        (ValueError("odd"), failed("b", "unexpected: ValueError: odd", exit_code=5)),
    ],
)
def test_an_error_in_a_check_is_a_finding_after_the_others(
    error: Exception, finding: Finding
) -> None:
    def check() -> Iterator[Finding]:
        yield passed("a", "fine")
        raise error

    assert run_check("b", check) == [passed("a", "fine"), finding]
