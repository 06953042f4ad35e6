"""The supervisor, as a script and function by function.

The functions would wait for and end every child of the test process, so they get fake system calls.
"""

import ctypes
import json
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import pytest

from dev.workspace import ROOT
from pic.core import supervisor
from pic.core.supervisor import SystemCalls
from tests.support.waiting import end, is_gone, pid_in, until

SUPERVISOR = [sys.executable, "-I", "-S", supervisor.__file__]


def supervise(*words: str, parent: int = 0) -> subprocess.CompletedProcess[str]:
    command = [*SUPERVISOR, str(parent or os.getpid()), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_missing_program_and_an_ended_parent_are_errors() -> None:
    missing, orphan = supervise("/no/such/program"), supervise("true", parent=1)

    assert (missing.returncode, missing.stderr) == (
        127,
        "cannot run /no/such/program: No such file or directory\n",
    )
    assert (orphan.returncode, orphan.stderr) == (1, "the parent process has ended\n")


def test_the_death_of_the_parent_ends_every_process(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    inner = f"setsid sleep 20 & echo $! > {file}; wait"
    outer = f'{" ".join(SUPERVISOR)} $$ sh -c "$0"; true'
    with subprocess.Popen(["sh", "-c", outer, inner]) as parent:
        pid = pid_in(file)
        parent.kill()
    try:
        until(lambda: is_gone(pid), "the process that was left behind has ended")
    finally:
        end(pid)


class Exited(BaseException):
    """Stands for the end of a process."""


@dataclass
class FakeCalls(SystemCalls):
    """Fake children, of which the test process is the parent.

    Attributes:
        ends: The pid and the wait status of each child, in the order in which they end.
        generations: The children at each look; none after the last one.
        forked: What `fork` returns.
        signals: The signals that were sent.
    """

    ends: list[tuple[int, int]] = field(default_factory=list)
    masks: list[supervisor.Mask] = field(default_factory=list)
    generations: list[list[int]] = field(default_factory=list)
    forked: int = 42
    signals: list[tuple[int, int]] = field(default_factory=list)

    def set_option(self, option: int, value: int) -> None:
        """Leave the options of the test process as they are."""

    def fork(self) -> int:
        return self.forked

    def leave(self, status: int) -> NoReturn:
        raise Exited(status)

    def set_mask(self, signals: supervisor.Mask) -> supervisor.Mask:
        self.masks.append(signals)
        return ()

    def next_end(self) -> tuple[int, int]:
        return self.wait(-1, 0)

    def wait(self, pid: int, options: int, /) -> tuple[int, int]:
        assert (pid, options) == (-1, 0)
        if not self.ends:
            raise ChildProcessError
        return self.ends.pop(0)

    def kill(self, pid: int, number: int, /) -> None:
        self.signals.append((pid, number))

    def children(self) -> list[int]:
        return self.generations.pop(0) if self.generations else []


@pytest.fixture(autouse=True)
def _restored_signals() -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)
    handlers = {number: signal.getsignal(number) for number in numbers}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in handlers.items():
        signal.signal(number, handler)


def test_a_child_that_cannot_run_the_program_reports_why(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(Exited) as caught:
        supervisor.start(["/no/such/program"], FakeCalls(forked=0), ())

    assert caught.value.args == (127,)
    assert capfd.readouterr().err == "cannot run /no/such/program: No such file or directory\n"


def test_a_program_adds_its_process_to_the_record_of_its_run(tmp_path: Path) -> None:
    record = tmp_path / "record"
    record.write_text("{}\n")
    words = ["sh", "-c", 'echo $$; cut -d " " -f 22 /proc/$$/stat; echo "$PIC_RUN_RECORD"']
    environment = {**os.environ, "PIC_RUN_RECORD": str(record)}

    done = subprocess.run(
        [*SUPERVISOR, str(os.getpid()), *words],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )

    pid, start, inherited = done.stdout.splitlines()
    assert (record.read_text(), inherited) == (f'{{}}\n{{"pid": {pid}, "start": {start}}}\n', "")


def test_a_record_that_cannot_be_written_does_not_stop_the_program(tmp_path: Path) -> None:
    record, missing = tmp_path / "record", tmp_path / "missing" / "record"
    for path in (record, missing):
        with pytest.raises(Exited):
            supervisor.start(["/no/such/program"], FakeCalls(forked=0), (), str(path))

    assert json.loads(record.read_text()).keys() == {"pid", "start"}


def test_a_signal_that_arrives_before_the_wait_ends_the_supervisor() -> None:
    # With a handler alone, the signal would be handled only after the sleep has ended.
    code = """
import signal, subprocess
from pic.core import supervisor
calls = supervisor.SystemCalls()
calls.set_mask(supervisor.WAITED_FOR)
with subprocess.Popen(["sleep", "20"]) as process:
    signal.raise_signal(signal.SIGTERM)
    try:
        calls.next_end()
    finally:
        process.kill()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=15, check=False)

    assert done.returncode == 128 + signal.SIGTERM


def test_a_parent_that_ignores_the_end_of_children_is_no_obstacle() -> None:
    code = (
        "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN);"
        " os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = [sys.executable, "-c", code, *SUPERVISOR, str(os.getpid()), "sh", "-c", "exit 7"]

    assert subprocess.run(command, timeout=15, check=False).returncode == 7


def test_the_program_gets_the_signal_mask_of_the_parent() -> None:
    calls = FakeCalls(forked=0)

    with pytest.raises(Exited):
        supervisor.start(["/no/such/program"], calls, (signal.SIGUSR1,))

    assert calls.masks == [(signal.SIGUSR1,)]


class Waiting(SystemCalls):
    """Children that end one after the other; each end also sends SIGCHLD."""

    def __init__(self, *ends: tuple[int, int]) -> None:
        self.ends = list(ends)

    def wait(self, pid: int, options: int, /) -> tuple[int, int]:
        assert (pid, options) == (-1, os.WNOHANG)
        return self.ends.pop(0)


def test_a_child_that_has_not_ended_is_waited_for() -> None:
    calls = Waiting((0, 0), (42, 3 << 8))
    calls.set_mask(supervisor.WAITED_FOR)
    signal.raise_signal(signal.SIGCHLD)

    assert (calls.next_end(), calls.ends) == ((42, 3 << 8), [])


def test_a_pending_sigterm_ends_the_wait() -> None:
    calls = Waiting((0, 0))
    calls.set_mask(supervisor.WAITED_FOR)
    signal.raise_signal(signal.SIGTERM)

    with pytest.raises(SystemExit) as caught:
        calls.next_end()

    assert caught.value.code == 128 + signal.SIGTERM


def test_other_children_that_end_are_reaped() -> None:
    calls = FakeCalls(ends=[(7, 0), (42, 3 << 8), (8, 0)])

    child = supervisor.start(["true"], calls, ())

    assert (child, supervisor.wait_for(child, calls), calls.ends) == (42, 3 << 8, [(8, 0)])


def test_children_are_ended_generation_by_generation() -> None:
    calls = FakeCalls(ends=[(1, 9)] * 3, generations=[[1, 2], [2, 3], [3], []])

    supervisor.end_children(1, calls)

    assert calls.signals == [(1, signal.SIGKILL), (2, signal.SIGTERM), (3, signal.SIGTERM)]
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_children_that_do_not_end_in_time_are_killed() -> None:
    class Slow(FakeCalls):
        def wait(self, *_: int) -> tuple[int, int]:
            signal.raise_signal(signal.SIGALRM)
            raise ChildProcessError

    calls = Slow(generations=[[], [2, 3]])

    supervisor.end_children(1, calls)

    assert calls.signals == [(2, signal.SIGKILL), (3, signal.SIGKILL)]


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    stubborn = f"trap '' TERM; echo $$ > {file}; while :; do sleep 0.1; done"
    hasty = """
import sys
from pic.core import supervisor
supervisor.GRACE_SECONDS = 0.1
supervisor.main(sys.argv[1:], supervisor.SystemCalls())
"""
    waits = f'setsid sh -c "$0" & until [ -s {file} ]; do sleep 0.01; done'

    result = subprocess.run(
        [sys.executable, "-c", hasty, str(os.getpid()), "sh", "-c", waits, stubborn], check=False
    )

    assert (result.returncode, is_gone(pid_in(file))) == (0, True)


def test_children_are_found_by_their_parent() -> None:
    with subprocess.Popen(["sleep", "20"]) as child:
        relation = (child.pid in SystemCalls().children(), supervisor.parent_of(child.pid))
        child.kill()

    assert relation == (True, os.getpid())
    assert supervisor.parent_of(child.pid) == 0


def test_an_option_that_the_kernel_does_not_know_is_an_error() -> None:
    SystemCalls().set_option(supervisor.PR_SET_CHILD_SUBREAPER, 0)

    with pytest.raises(SystemExit, match=r"^prctl: Invalid argument$"):
        SystemCalls().set_option(10**6, 1)


def exit_code_of(calls: SystemCalls, program: Sequence[str] = ("true",)) -> object:
    """Run the supervisor in this process, and return how it exits."""
    with pytest.raises(SystemExit) as caught:
        supervisor.main([str(os.getppid()), *program], calls)
    return caught.value.code


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [("exit 0", 0, 0), ("exit 3", 3 << 8, 3), ("kill -9 $$", 9, 137)],
)
def test_the_supervisor_exits_with_the_exit_code_of_its_program(
    script: str, status: int, code: int
) -> None:
    assert exit_code_of(FakeCalls(ends=[(42, status)])) == code
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    assert supervise("sh", "-c", script).returncode == code


def test_the_supervisor_survives_sigint_and_ends_at_sigterm() -> None:
    class Signalled(FakeCalls):
        def wait(self, *_: int) -> tuple[int, int]:
            if not self.generations:
                raise ChildProcessError
            signal.raise_signal(signal.SIGINT)
            self.signals.append((0, signal.SIGINT))
            signal.raise_signal(signal.SIGTERM)
            return 42, 0

    calls = Signalled(generations=[[42]])

    assert exit_code_of(calls) == 143
    assert calls.signals == [(0, signal.SIGINT), (42, signal.SIGKILL)]


def test_without_its_parent_the_supervisor_runs_nothing() -> None:
    class Orphan(FakeCalls):
        def parent(self) -> int:
            return 2

        def fork(self) -> int:
            raise AssertionError("the program was started")

    assert exit_code_of(Orphan()) == "the parent process has ended"


def test_it_runs_as_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def prctl(self, *_: int) -> int:
            ctypes.set_errno(1)
            return -1

    monkeypatch.setattr(sys, "argv", ["supervisor.py", str(os.getppid()), "true"])
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Refusing())

    with pytest.raises(SystemExit, match=r"^prctl: Operation not permitted$"):
        runpy.run_path(supervisor.__file__, run_name="__main__")
