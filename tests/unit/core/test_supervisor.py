"""The supervisor, as a script and function by function.

Functions that would end or wait for every child of the test process get fake children instead.
"""

import ctypes
import os
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pic.core import supervisor
from tests.support.waiting import (
    end,
    is_gone,
    pid_in,
    until,
)

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


def test_a_child_that_cannot_run_the_program_reports_why(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def leave(code: int) -> None:
        raise Exited(code)

    monkeypatch.setattr(os, "fork", lambda: 0)
    monkeypatch.setattr(os, "_exit", leave)

    with pytest.raises(Exited) as caught:
        supervisor.start(["/no/such/program"])

    assert caught.value.args == (127,)
    assert capfd.readouterr().err == "cannot run /no/such/program: No such file or directory\n"


def test_other_children_that_end_are_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [(7, 0), (42, 3 << 8), (8, 0)]
    monkeypatch.setattr(os, "fork", lambda: 42)
    monkeypatch.setattr(os, "waitpid", lambda *_: ends.pop(0))

    child = supervisor.start(["true"])

    assert (child, supervisor.wait_for(child), ends) == (42, 3 << 8, [(8, 0)])


def test_children_are_ended_generation_by_generation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generations, signals = [[1, 2], [2, 3], [3], []], list[tuple[int, int]]()

    def waitpid(*_: int) -> tuple[int, int]:
        if not generations:
            raise ChildProcessError
        return 1, 9

    monkeypatch.setattr(supervisor, "children", lambda: generations.pop(0))
    monkeypatch.setattr(os, "kill", lambda *call: signals.append(call))
    monkeypatch.setattr(os, "waitpid", waitpid)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(signal, "setitimer", lambda *_: None)

    supervisor.end_children(1)

    assert signals == [(1, signal.SIGKILL), (2, signal.SIGTERM), (3, signal.SIGTERM)]


def test_children_that_do_not_end_in_time_are_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(supervisor, "children", lambda: [2, 3])
    monkeypatch.setattr(os, "kill", lambda *call: signals.append(call))

    supervisor.kill_children(signal.SIGALRM, None)

    assert signals == [(2, signal.SIGKILL), (3, signal.SIGKILL)]


def test_a_process_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    stubborn = f"trap '' TERM; echo $$ > {file}; while :; do sleep 0.1; done"
    hasty = "from pic.core import supervisor; supervisor.GRACE_SECONDS = 0.1; supervisor.main()"
    waits = f'setsid sh -c "$0" & until [ -s {file} ]; do sleep 0.01; done'

    result = subprocess.run(
        [sys.executable, "-c", hasty, str(os.getpid()), "sh", "-c", waits, stubborn], check=False
    )

    assert (result.returncode, is_gone(pid_in(file))) == (0, True)


def test_children_are_found_by_their_parent() -> None:
    with subprocess.Popen(["sleep", "20"]) as child:
        relation = (child.pid in supervisor.children(), supervisor.parent_of(child.pid))
        child.kill()

    assert relation == (True, os.getpid())
    assert supervisor.parent_of(child.pid) == 0


def test_an_option_that_the_kernel_does_not_know_is_an_error() -> None:
    supervisor.ask_kernel(supervisor.PR_SET_CHILD_SUBREAPER, 0)

    with pytest.raises(SystemExit, match=r"^prctl: Invalid argument$"):
        supervisor.ask_kernel(10**6, 1)


Handler = Callable[..., object]


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Handler]:
    """Let the test process be a supervisor without effect; return its signal handlers."""
    installed: dict[int, Handler] = {}
    monkeypatch.setattr(signal, "signal", installed.__setitem__)
    monkeypatch.setattr(supervisor, "ask_kernel", lambda *_: None)
    monkeypatch.setattr(supervisor, "start", lambda _: 42)
    monkeypatch.setattr(supervisor, "end_children", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["supervisor.py", str(os.getppid()), "true"])
    return installed


@pytest.mark.parametrize(("status", "code"), [(0, 0), (3 << 8, 3), (9, 137)])
def test_the_supervisor_exits_with_the_exit_code_of_its_program(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Handler], status: int, code: int
) -> None:
    programs: list[list[str]] = []

    def start(program: list[str]) -> int:
        programs.append(program)
        return 42

    monkeypatch.setattr(supervisor, "start", start)
    monkeypatch.setattr(supervisor, "wait_for", {42: status}.__getitem__)

    with pytest.raises(SystemExit) as caught:
        supervisor.main()

    assert (caught.value.code, programs) == (code, [["true"]])
    assert not callable(handlers[signal.SIGTERM])


def test_the_supervisor_survives_sigint_and_ends_at_sigterm(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Handler]
) -> None:
    def receive_signals(_: int) -> int:
        handlers[signal.SIGINT](signal.SIGINT, None)
        handlers[signal.SIGTERM](signal.SIGTERM, None)
        return 0

    monkeypatch.setattr(supervisor, "wait_for", receive_signals)

    with pytest.raises(SystemExit) as caught:
        supervisor.main()

    assert caught.value.code == 143


@pytest.mark.usefixtures("handlers")
def test_without_its_parent_the_supervisor_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["supervisor.py", "1", "true"])
    monkeypatch.setattr(os, "getppid", lambda: 2)

    with pytest.raises(SystemExit, match=r"^the parent process has ended$"):
        supervisor.main()


@pytest.mark.usefixtures("handlers")
def test_it_runs_as_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def prctl(self, *_: int) -> int:
            ctypes.set_errno(1)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Refusing())

    with pytest.raises(SystemExit, match=r"^prctl: Operation not permitted$"):
        runpy.run_path(supervisor.__file__, run_name="__main__")
