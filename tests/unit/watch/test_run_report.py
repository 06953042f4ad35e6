"""What the report of a run means for the next one."""

import json

import pytest

from pic.watch import run_report
from pic.watch.run_report import RunReport

DEPLOYED = {"digest": "d", "deployed": {"pic": "1"}, "told": []}


def read(exit_code: int, *kinds: tuple[str, int | None], deployed: object = None) -> RunReport:
    failures = [{"class": kind, "retryAfter": wait} for kind, wait in kinds]
    body = {"exitCode": exit_code, "failures": failures, "deployed": deployed}
    found = run_report.read(json.dumps(body), exit_code)
    assert found.raw == body
    return RunReport(found.exit_code, found.limited, found.temporary, found.deployed)


def test_success_says_what_is_deployed() -> None:
    assert read(0, deployed=DEPLOYED) == RunReport(0, deployed=DEPLOYED)
    assert read(0) == RunReport(0)


def test_a_run_that_failed_leaves_open_what_is_deployed() -> None:
    assert read(5, deployed=DEPLOYED) == RunReport(5, temporary=True)


@pytest.mark.parametrize(
    ("exit_code", "temporary"), [(1, True), (2, False), (3, False), (4, True), (5, True), (6, True)]
)
def test_time_may_heal_what_is_not_the_settings_and_no_refusal(
    exit_code: int,
    temporary: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert read(exit_code) == RunReport(exit_code, temporary=temporary)
    assert read(exit_code).refused == (exit_code == 3)


@pytest.mark.parametrize("kind", ["temporary", "auth"])
def test_the_worst_failure_that_can_be_tried_again_counts(kind: str) -> None:
    assert read(6, ("invalid", None), (kind, None)) == RunReport(6, temporary=True)


def test_what_is_invalid_alone_is_not_tried_again() -> None:
    assert read(6, ("invalid", None), ("invalid", None)) == RunReport(6)


def test_a_target_that_is_asked_too_often_says_for_how_long() -> None:
    found = read(6, ("rateLimited", 60), ("rateLimited", None), ("invalid", None))

    assert found == RunReport(6, limited=60, temporary=True)


def test_what_failed_beside_a_success_is_tried_again() -> None:
    assert read(0, ("temporary", None), deployed=DEPLOYED) == RunReport(
        0, temporary=True, deployed=DEPLOYED
    )


@pytest.mark.parametrize("words", ["", "{", "[]", '{"failures": 3}'])
def test_a_report_that_is_missing_leaves_the_exit_code(words: str) -> None:
    assert run_report.read(words, 143) == RunReport(
        143,
        temporary=True,
        raw={"version": 1, "exitCode": 143, "error": "the run ended without a report"},
    )
