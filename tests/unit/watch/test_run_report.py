"""Tests what the report of a run means for the next one."""

import json

import pytest

from pic.watch import run_report
from pic.watch.run_report import RunReport

DEPLOYED = {"digest": "d", "deployed": {"pic": "1"}, "told": []}


def read(exit_code: int, *pairs: tuple[str, int | None], deployed: object = None) -> RunReport:
    failures = [{"class": name, "retryAfter": wait} for name, wait in pairs]
    body = {"exitCode": exit_code, "failures": failures, "deployed": deployed}
    report = run_report.read(json.dumps(body), exit_code)
    assert report.raw == body
    return RunReport(report.exit_code, report.retry_after, report.temporary, report.deployed)


def test_a_successful_run_reports_what_is_deployed() -> None:
    assert read(0, deployed=DEPLOYED) == RunReport(0, deployed=DEPLOYED)
    assert read(0) == RunReport(0)


def test_after_a_failed_run_it_is_not_known_what_is_deployed() -> None:
    assert read(5, deployed=DEPLOYED) == RunReport(5, temporary=True)


@pytest.mark.parametrize(
    ("exit_code", "temporary"), [(1, True), (2, False), (3, False), (4, True), (5, True), (6, True)]
)
def test_every_failure_is_temporary_but_wrong_settings_and_refusals(
    exit_code: int,
    temporary: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    assert read(exit_code) == RunReport(exit_code, temporary=temporary)
    assert read(exit_code).refused == (exit_code == 3)


@pytest.mark.parametrize("failure_class", ["temporary", "auth"])
def test_one_failure_that_can_be_retried_makes_the_run_temporary(failure_class: str) -> None:
    assert read(6, ("invalid", None), (failure_class, None)) == RunReport(6, temporary=True)


def test_invalid_objects_alone_are_not_retried() -> None:
    assert read(6, ("invalid", None), ("invalid", None)) == RunReport(6)


def test_the_longest_retry_after_of_a_target_counts() -> None:
    report = read(6, ("rateLimited", 60), ("rateLimited", None), ("invalid", None))

    assert report == RunReport(6, retry_after=60, temporary=True)


def test_a_temporary_failure_in_a_successful_run_is_retried() -> None:
    assert read(0, ("temporary", None), deployed=DEPLOYED) == RunReport(
        0, temporary=True, deployed=DEPLOYED
    )


@pytest.mark.parametrize("content", ["", "{", "[]", '{"failures": 3}'])
def test_without_a_readable_report_the_exit_code_counts(content: str) -> None:
    assert run_report.read(content, 143) == RunReport(
        143,
        temporary=True,
        raw={"version": 1, "exitCode": 143, "error": "the run ended without a report"},
    )
