"""What runs a program and ends all that it leaves behind: as a script, and step by step.

A step that would end or wait for every child of this process works on made-up children here.
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


def kept(*words: str, parent: int = 0) -> subprocess.CompletedProcess[str]:
    command = [*SUPERVISOR, str(parent or os.getpid()), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_program_that_cannot_be_run_and_a_parent_that_is_gone_are_told() -> None:
    missing, orphan = kept("/no/such/program"), kept("true", parent=1)

    assert (missing.returncode, missing.stderr) == (
        127,
        "cannot run /no/such/program: No such file or directory\n",
    )
    assert (orphan.returncode, orphan.stderr) == (1, "the parent is gone\n")


def test_a_parent_that_is_killed_takes_everything_with_it(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    inner = f"setsid sleep 20 & echo $! > {file}; wait"
    outer = f'{" ".join(SUPERVISOR)} $$ sh -c "$0"; true'
    with subprocess.Popen(["sh", "-c", outer, inner]) as parent:
        pid = pid_in(file)
        parent.kill()
    try:
        until(lambda: is_gone(pid), "what was left behind is ended")
    finally:
        end(pid)


class Exited(BaseException):
    """Stands for the end of a process."""


def test_the_child_becomes_the_program_or_says_why_not(
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


def test_whoever_else_ends_is_noticed_and_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    ends = [(7, 0), (42, 3 << 8), (8, 0)]
    monkeypatch.setattr(os, "fork", lambda: 42)
    monkeypatch.setattr(os, "waitpid", lambda *_: ends.pop(0))

    child = supervisor.start(["true"])

    assert (child, supervisor.status_of(child), ends) == (42, 3 << 8, [(8, 0)])


def test_children_are_ended_one_generation_after_the_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generations, ended = [[1, 2], [2, 3], [3], []], list[tuple[int, int]]()

    def waitpid(*_: int) -> tuple[int, int]:
        if not generations:
            raise ChildProcessError
        return 1, 9

    monkeypatch.setattr(supervisor, "children", lambda: generations.pop(0))
    monkeypatch.setattr(os, "kill", lambda *each: ended.append(each))
    monkeypatch.setattr(os, "waitpid", waitpid)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(signal, "setitimer", lambda *_: None)

    supervisor.end_children(1)

    assert ended == [(1, signal.SIGKILL), (2, signal.SIGTERM), (3, signal.SIGTERM)]


def test_what_has_had_its_moment_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[tuple[int, int]] = []
    monkeypatch.setattr(supervisor, "children", lambda: [2, 3])
    monkeypatch.setattr(os, "kill", lambda *each: ended.append(each))

    supervisor.kill_children(signal.SIGALRM, None)

    assert ended == [(2, signal.SIGKILL), (3, signal.SIGKILL)]


def test_what_does_not_end_when_asked_is_ended(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    deaf = f"trap '' TERM; echo $$ > {file}; while :; do sleep 0.1; done"
    hasty = "from pic.core import supervisor; supervisor.GRACE_SECONDS = 0.1; supervisor.main()"
    waits = f'setsid sh -c "$0" & until [ -s {file} ]; do sleep 0.01; done'

    done = subprocess.run(
        [sys.executable, "-c", hasty, str(os.getpid()), "sh", "-c", waits, deaf], check=False
    )

    assert (done.returncode, is_gone(pid_in(file))) == (0, True)


def test_children_are_found_by_their_parent() -> None:
    with subprocess.Popen(["sleep", "20"]) as child:
        found = (child.pid in supervisor.children(), supervisor.parent_of(child.pid))
        child.kill()

    assert found == (True, os.getpid())
    assert supervisor.parent_of(child.pid) == 0


def test_what_the_kernel_does_not_know_is_told() -> None:
    supervisor.ask_kernel(supervisor.PR_SET_CHILD_SUBREAPER, 0)

    with pytest.raises(SystemExit, match=r"^prctl: Invalid argument$"):
        supervisor.ask_kernel(10**6, 1)


Handler = Callable[..., object]


@pytest.fixture
def handlers(monkeypatch: pytest.MonkeyPatch) -> dict[int, Handler]:
    """Let a supervisor be this process, which stays as it is; its handlers of signals are here."""
    found: dict[int, Handler] = {}
    monkeypatch.setattr(signal, "signal", found.__setitem__)
    monkeypatch.setattr(supervisor, "ask_kernel", lambda *_: None)
    monkeypatch.setattr(supervisor, "start", lambda _: 42)
    monkeypatch.setattr(supervisor, "end_children", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["supervisor.py", str(os.getppid()), "true"])
    return found


@pytest.mark.parametrize(("status", "code"), [(0, 0), (3 << 8, 3), (9, 137)])
def test_a_keeper_exits_as_its_program_did(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Handler], status: int, code: int
) -> None:
    asked: list[list[str]] = []

    def start(program: list[str]) -> int:
        asked.append(program)
        return 42

    monkeypatch.setattr(supervisor, "start", start)
    monkeypatch.setattr(supervisor, "status_of", {42: status}.__getitem__)

    with pytest.raises(SystemExit) as caught:
        supervisor.main()

    assert (caught.value.code, asked) == (code, [["true"]])
    assert not callable(handlers[signal.SIGTERM])


def test_a_keeper_passes_over_sigint_and_ends_at_sigterm(
    monkeypatch: pytest.MonkeyPatch, handlers: dict[int, Handler]
) -> None:
    def signalled(_: int) -> int:
        handlers[signal.SIGINT](signal.SIGINT, None)
        handlers[signal.SIGTERM](signal.SIGTERM, None)
        return 0

    monkeypatch.setattr(supervisor, "status_of", signalled)

    with pytest.raises(SystemExit) as caught:
        supervisor.main()

    assert caught.value.code == 143


@pytest.mark.usefixtures("handlers")
def test_a_keeper_whose_parent_is_gone_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["supervisor.py", "1", "true"])
    monkeypatch.setattr(os, "getppid", lambda: 2)

    with pytest.raises(SystemExit, match=r"^the parent is gone$"):
        supervisor.main()


@pytest.mark.usefixtures("handlers")
def test_it_is_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refusing:
        def prctl(self, *_: int) -> int:
            ctypes.set_errno(1)
            return -1

    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: Refusing())

    with pytest.raises(SystemExit, match=r"^prctl: Operation not permitted$"):
        runpy.run_path(supervisor.__file__, run_name="__main__")
