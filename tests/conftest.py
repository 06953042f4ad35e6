"""Fails every test that prints one of the secrets in tests/support/planted.py.

The locks and records of runs are in a temporary folder.
"""

from collections.abc import Generator, Iterator

import pytest

from pic.core import private_folder
from tests.support.planted import leaks


@pytest.fixture(scope="session", autouse=True)
def _runtime_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("runtime")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(private_folder.VARIABLE, str(folder))
        yield


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
