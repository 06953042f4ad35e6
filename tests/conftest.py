"""Fails every test that prints a secret, and says where tests run and which ones measure coverage.

The secrets are those in tests/support/planted.py. The locks and records of runs are in a temporary
folder.
"""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from pic.core import private_folder
from tests.support.planted import leaks

HERE = Path(__file__).parent
# Tests of these folders cover every branch of pic/. Tracing any others would only slow them down.
MEASURED = ("unit", "scenarios", "program")
# The engine's tests take longest, so several workers begin with them. The short ones come last and
# fill the time of the workers that end early.
FIRST, LAST = ("engine", "toolchain"), MEASURED
# One worker runs the tests that share servers, so that no other has to start them.
TOGETHER = ("tests/cluster/", "tests/engine/test_backends.py", "tests/engine/test_preview.py")


class Scheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Hands tests out one by one, but those that share servers to one worker.

    The group marks of pytest-xdist 3.8 have no effect with pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return next((place for place in TOGETHER if nodeid.startswith(place)), nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling | None:
    return Scheduling(config, log) if config.getvalue("dist") == "loadgroup" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if not _is_measured(item):
            item.add_marker(pytest.mark.no_cover)
    if hasattr(config, "workerinput"):
        items.sort(key=_turn)


def _is_measured(item: pytest.Item) -> bool:
    """Say whether a test counts for the coverage; generated examples would make it random."""
    is_generated = is_hypothesis_test(getattr(item, "obj", None))
    return _folder(item) in MEASURED and not is_generated


def _folder(item: pytest.Item) -> str:
    return item.path.relative_to(HERE).parts[0]


def _turn(item: pytest.Item) -> int:
    """Return whether a test comes first, in the middle or last; the order stays otherwise."""
    folder = _folder(item)
    return (folder in LAST) - (folder in FIRST)


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
