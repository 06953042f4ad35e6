"""Fails every test that prints one of the secrets in tests/support/planted.py."""

from collections.abc import Generator

import pytest

from tests.support.planted import leaks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    secrets = leaks("".join(text for _, text in report.sections))
    if secrets and report.passed:
        report.outcome = "failed"
        report.longrepr = f"the test printed or logged a secret: {secrets}"
    return report


@pytest.fixture
def capsys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> pytest.CaptureFixture[str]:
    """Check the output that a test reads itself, too: the report does not contain it."""
    read = capsys.readouterr

    def checked() -> object:
        printed = read()
        assert leaks(printed.out + printed.err) == []
        return printed

    monkeypatch.setattr(capsys, "readouterr", checked)
    return capsys
