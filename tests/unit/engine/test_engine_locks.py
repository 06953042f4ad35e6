"""Tests the locks of a stack: those of the engine, and that of pic on one host."""

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pic.core import logs
from pic.core.errors import EngineError, InterruptedRunError, LockedError
from pic.engine.engine import Engine
from pic.engine.outcome import Outcome
from tests.support.deployed import A, urn
from tests.support.events import failure_event, step_event
from tests.support.fake_cli import (
    INTERRUPTED,
    CliAnswer,
    FakeCli,
    empty_program,
    error_of,
    make_engine,
)
from tests.support.processes import ended_process_id


def locked(*owners: tuple[str, int], since: str = "2100-01-01") -> CliAnswer:
    lines = [
        f"  file:///locks/{at}.json: created by me@{host} (pid {pid}) at {since}T00:00:00Z\n"
        for at, (host, pid) in enumerate(owners)
    ]
    return CliAnswer(
        err=f"error: the stack is currently locked by some lock(s)\n{''.join(lines)}", code=255
    )


UP = "up --yes --skip-preview --client=HERE --exec-kind auto.inline --stack prod"
HERE = socket.gethostname()
HELD = (
    "stack prod is locked by a live run of {}: wait for it to end. If that host is gone for good:"
    " pulumi cancel --stack prod"
)


def owner(host: str, pid: int) -> str:
    return f"me@{host} (pid {pid}) since 2100-01-01 00:00:00 UTC"


def test_a_lock_of_a_live_run_is_an_error() -> None:
    ended_pid, pid = ended_process_id(), os.getpid()
    cli = FakeCli(locked((HERE, ended_pid), (HERE, pid)), locked(("far", ended_pid)), locked())

    messages = [error_of(lambda: make_engine(cli).up(empty_program)) for _ in range(3)]

    assert messages == [
        (LockedError, HELD.format(f"{owner(HERE, ended_pid)}, {owner(HERE, pid)}")),
        (LockedError, HELD.format(owner("far", ended_pid))),
        (LockedError, HELD.format("an owner that it does not name")),
    ]


def test_locks_of_dead_runs_are_removed_and_the_run_starts_again() -> None:
    cli = FakeCli(
        locked((HERE, ended_process_id())), CliAnswer(), CliAnswer(step_event("create", urn(A)))
    )

    assert make_engine(cli).up(empty_program) == Outcome({"create": [urn(A)]})
    assert cli.command_lines == [UP, "cancel --yes --stack prod", UP]


def test_dead_locks_are_removed_only_once() -> None:
    ended_pid = ended_process_id()
    cli = FakeCli(locked((HERE, ended_pid)), CliAnswer(), locked((HERE, ended_pid)))
    stuck = FakeCli(locked((HERE, ended_pid)), CliAnswer(err="error: no access", code=255))

    kind, message = error_of(lambda: make_engine(cli).up(empty_program))

    assert (issubclass(kind, LockedError), message) == (True, HELD.format(owner(HERE, ended_pid)))
    assert error_of(lambda: make_engine(stuck).up(empty_program)) == (EngineError, "no access")


def test_an_abandoned_lock_of_another_host_is_removed_only_with_an_age_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = locked(("far", 7), (HERE, ended_process_id()), since="2000-01-01")
    stealing, cli = FakeCli(old, CliAnswer(), CliAnswer(step_event("create", urn(A)))), FakeCli(old)
    young = FakeCli(locked(("far", 7)))

    assert error_of(lambda: make_engine(cli).up(empty_program))[0] is LockedError
    logs.configure(None, logs.INFO)
    engine = replace(make_engine(stealing), steal_after=timedelta(minutes=30)).up(empty_program)

    assert engine == Outcome({"create": [urn(A)]})
    assert stealing.command_lines == [UP, "cancel --yes --stack prod", UP]
    assert capsys.readouterr().err == (
        "pic: removing the lock that was left by me@far (pid 7) since 2000-01-01 00:00:00 UTC\n"
    )
    waiting = replace(make_engine(young), steal_after=timedelta(minutes=30))
    assert error_of(lambda: waiting.up(empty_program)) == (
        LockedError,
        HELD.format(owner("far", 7)),
    )


def test_an_interrupted_run_is_reported_as_interrupted_however_the_engine_ended() -> None:
    cli = FakeCli(
        CliAnswer(
            step_event("create", urn(A)) + "\n" + failure_event(A), code=255, interrupted=True
        ),
        CliAnswer(code=-2, interrupted=True),
        CliAnswer("{}", interrupted=True),
    )

    errors = [
        error_of(action)
        for action in (lambda: make_engine(cli).up(empty_program), *[make_engine(cli).outputs] * 2)
    ]

    assert errors == [(InterruptedRunError, INTERRUPTED)] * 3


HOLD = """
import sys, fcntl
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print(sys.argv[2], end="", file=file, flush=True)
print("held", flush=True)
sys.stdin.read()
"""


def locking_engine(folder: Path, environment: Mapping[str, str] | None = None) -> Engine:
    return replace(make_engine(FakeCli(), environment), lock_folder=folder)


def test_only_one_of_two_runs_on_one_host_gets_the_stack(tmp_path: Path) -> None:
    ours = locking_engine(tmp_path)
    with ours.exclusive():
        [file] = tmp_path.iterdir()
        assert file.read_text() == f"{os.getpid()}\n"
        assert file.stat().st_mode & 0o777 == 0o600
    assert refused_by_another(ours, file, "4711") == "4711"
    assert refused_by_another(ours, file, "") == "unknown"
    with ours.exclusive():
        assert file.read_text() == f"{os.getpid()}\n"


def refused_by_another(ours: Engine, file: Path, pid: str) -> str:
    """Let another process lock the file, and return the owner that the error names."""
    command = [sys.executable, "-I", "-S", "-c", HOLD, str(file), pid]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        kind, message = error_of(ours.exclusive().__enter__)
        process.communicate()
    head, tail = (
        "another pic on this host (pid ",
        ") is deploying stack prod: wait for it to end",
    )
    assert kind is LockedError
    assert message.startswith(head)
    assert message.endswith(tail)
    return message.removeprefix(head).removesuffix(tail)


def test_other_stacks_projects_and_backends_can_be_deployed_at_the_same_time(
    tmp_path: Path,
) -> None:
    others = [
        replace(locking_engine(tmp_path), stack="dev"),
        replace(locking_engine(tmp_path), root=Path("/other")),
        locking_engine(tmp_path, {"PULUMI_BACKEND_URL": "file:///elsewhere"}),
    ]

    with (
        locking_engine(tmp_path).exclusive(),
        others[0].exclusive(),
        others[1].exclusive(),
        others[2].exclusive(),
    ):
        assert len(list(tmp_path.iterdir())) == 4
