"""One run at a time: a child that is started, asked to end, ended, and whose report is read."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pic.core import logs
from pic.watch.run_report import RunReport
from pic.watch.runs import RunLimits, Runs
from pic.watch.wakeup import Wakeup
from tests.support.waiting import (
    end,
    is_gone,
    pid_in,
    until,
)

WRITES = """
import pathlib, sys
print("one line"); print("another ü", flush=True)
pathlib.Path(sys.argv[1]).write_text('{"exitCode": 0}')
"""
STAYS = """
import os, pathlib, signal, sys
def stop(*_):
    sys.exit(5)
signal.signal(signal.SIGINT, %s)
pathlib.Path("pid").write_text(f"{os.getpid()}\\n")
while True:
    signal.pause()
"""
HEEDS, HEEDS_NOT = STAYS % "stop", STAYS % "signal.SIG_IGN"


@dataclass
class Watched:
    runs: Runs
    bell: Wakeup
    said: list[tuple[int, str]] = field(default_factory=list)

    def tell(self, level: int, words: str) -> None:
        self.said.append((level, words))

    def report(self, now: float) -> RunReport:
        """Wait for the bell, and return the report."""
        found: list[RunReport] = []

        def ended() -> bool:
            self.bell.wait(0.1)
            report, _ = self.runs.check(now)
            found.extend([report] if report else [])
            return bool(found)

        until(ended, "the run has ended")
        return found[0]


@contextmanager
def runs(script: str) -> Iterator[Watched]:
    def command(report: Path) -> list[str]:
        return [sys.executable, "-c", script, str(report)]

    with Wakeup() as bell:
        limits = RunLimits(run=100.0, grace=10.0)
        made = Runs(command, os.environ, lambda *_: None, bell.ring, limits)
        watched = Watched(made, bell)
        made.tell = watched.tell
        yield watched


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_says_what_it_does_and_leaves_a_report() -> None:
    with runs(WRITES) as watched:
        watched.runs.start(0.0)
        going = watched.runs.going
        found = watched.report(1.0)

    assert (going, watched.runs.going) == (True, False)
    assert found == RunReport(0, raw={"exitCode": 0})
    assert watched.said == [(logs.INFO, "one line"), (logs.INFO, "another ü")]


def test_without_a_run_there_is_nothing_to_check_or_to_stop() -> None:
    with runs(WRITES) as watched:
        watched.runs.stop(0.0, "no reason")

        assert watched.runs.check(3.0) == (None, 3.0)
    assert watched.said == []


def test_a_run_without_a_report_ends_with_its_exit_code() -> None:
    with runs("raise SystemExit(4)") as watched:
        watched.runs.start(0.0)
        found = watched.report(1.0)

    assert (found.exit_code, found.temporary) == (4, True)


def test_a_run_that_takes_too_long_is_asked_to_end(folder: Path) -> None:
    with runs(HEEDS) as watched:
        watched.runs.start(0.0)
        pid = pid_in(folder / "pid")
        early = watched.runs.check(99.0)
        late = watched.runs.check(100.0)
        watched.runs.stop(101.0, "once is enough")
        found = watched.report(102.0)

    assert (early, late) == ((None, 100.0), (None, 110.0))
    assert (found.exit_code, is_gone(pid)) == (5, True)
    assert watched.said == [(logs.WARN, "stopping the run: it takes longer than 100 s")]


def test_a_run_that_does_not_end_is_ended(folder: Path) -> None:
    with runs(HEEDS_NOT) as watched:
        watched.runs.start(0.0)
        pid = pid_in(folder / "pid")
        try:
            watched.runs.stop(50.0, "the lease is lost")
            waited = watched.runs.check(59.0)
            watched.runs.check(60.0)
            found = watched.report(61.0)
        finally:
            end(pid)

    assert waited == (None, 60.0)
    assert found.temporary
    assert watched.said == [
        (logs.WARN, "stopping the run: the lease is lost"),
        (logs.ERROR, "ending the run: it took more than 10 s to end"),
    ]


def test_a_bell_that_has_rung_ends_the_next_wait() -> None:
    with Wakeup() as bell:
        for _ in range(70_000):
            bell.ring()
        bell.wait(1000.0)
        bell.wait(0.01)
        bell.wait(-1.0)
