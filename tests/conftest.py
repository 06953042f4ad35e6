"""No test prints a secret that was planted: one that does fails."""

from collections.abc import Generator

import pytest

from tests.support.planted import leaks


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    found = leaks("".join(text for _, text in report.sections))
    if found and report.passed:
        report.outcome = "failed"
        report.longrepr = f"printed or logged, and a secret: {found}"
    return report


@pytest.fixture
def capsys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> pytest.CaptureFixture[str]:
    """What a test reads itself is looked through as well."""
    read = capsys.readouterr

    def looked_through() -> object:
        said = read()
        assert leaks(said.out + said.err) == []
        return said

    monkeypatch.setattr(capsys, "readouterr", looked_through)
    return capsys
