"""Tests that runs are started one at a time, stopped, killed, and that their reports are read."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pic.core import logs
from pic.watch.run_report import RunReport
from pic.watch.runs import RunLimits, Runs
from pic.watch.wakeup import Wakeup
from tests.support.waiting import end, is_gone, pid_in, until

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
pathlib.Path(sys.argv[2]).write_text(f"{os.getpid()}\\n")
while True:
    signal.pause()
"""
STOPS, IGNORES = STAYS % "stop", STAYS % "signal.SIG_IGN"


@dataclass
class Watched:
    runs: Runs
    wakeup: Wakeup
    lines: list[tuple[int, str]] = field(default_factory=list)

    def log(self, level: int, message: str) -> None:
        self.lines.append((level, message))

    def report(self, now: float) -> RunReport:
        """Wait until the run wakes the loop, and return its report."""
        reports: list[RunReport] = []

        def ended() -> bool:
            self.wakeup.wait(0.1)
            report, _ = self.runs.check(now)
            reports.extend([report] if report else [])
            return bool(reports)

        until(ended, "the run has ended")
        return reports[0]


@contextmanager
def runs(script: str, pid_file: Path = Path(os.devnull)) -> Iterator[Watched]:
    def command(report: Path) -> list[str]:
        return [sys.executable, "-c", script, str(report), str(pid_file)]

    with Wakeup() as wakeup:
        limits = RunLimits(run=100.0, grace=10.0)
        subject = Runs(command, os.environ, lambda *_: None, wakeup.wake, limits)
        watched = Watched(subject, wakeup)
        subject.log = watched.log
        yield watched


def test_the_output_of_a_run_is_logged_and_its_report_read() -> None:
    with runs(WRITES) as watched:
        watched.runs.start(0.0)
        running = watched.runs.running
        report = watched.report(1.0)

    assert (running, watched.runs.running) == (True, False)
    assert report == RunReport(0, raw={"exitCode": 0})
    assert watched.lines == [(logs.INFO, "one line"), (logs.INFO, "another ü")]


def test_check_and_stop_do_nothing_without_a_run() -> None:
    with runs(WRITES) as watched:
        watched.runs.stop(0.0, "no reason")

        assert watched.runs.check(3.0) == (None, 3.0)
    assert watched.lines == []


def test_a_run_without_a_report_ends_with_its_exit_code() -> None:
    with runs("raise SystemExit(4)") as watched:
        watched.runs.start(0.0)
        report = watched.report(1.0)

    assert (report.exit_code, report.temporary) == (4, True)


def test_a_run_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    with runs(STOPS, tmp_path / "pid") as watched:
        watched.runs.start(0.0)
        pid = pid_in(tmp_path / "pid")
        early = watched.runs.check(99.0)
        late = watched.runs.check(100.0)
        watched.runs.stop(101.0, "once is enough")
        report = watched.report(102.0)

    assert (early, late) == ((None, 100.0), (None, 110.0))
    assert (report.exit_code, is_gone(pid)) == (5, True)
    assert watched.lines == [(logs.WARN, "stopping the run: it takes longer than 100 s")]


def test_a_run_that_does_not_stop_is_killed(tmp_path: Path) -> None:
    with runs(IGNORES, tmp_path / "pid") as watched:
        watched.runs.start(0.0)
        pid = pid_in(tmp_path / "pid")
        try:
            watched.runs.stop(50.0, "the Lease is lost")
            waited = watched.runs.check(59.0)
            watched.runs.check(60.0)
            report = watched.report(61.0)
        finally:
            end(pid)

    assert waited == (None, 60.0)
    assert report.temporary
    assert watched.lines == [
        (logs.WARN, "stopping the run: the Lease is lost"),
        (logs.ERROR, "killing the run: it did not stop within 10 s"),
    ]


def test_a_wakeup_ends_the_next_wait() -> None:
    with Wakeup() as wakeup:
        for _ in range(70_000):
            wakeup.wake()
        wakeup.wait(1000.0)
        wakeup.wait(0.01)
        wakeup.wait(-1.0)
