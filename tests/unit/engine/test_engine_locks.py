"""Tests the locks of a stack: those of the engine, and that of pic on one host."""

import contextlib
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pic.core import logs, private_folder
from pic.core.errors import EngineError, InterruptedRunError, LockedError
from pic.engine.backend import place, processes
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


def locked(*owners: tuple[str, int], since: str = "2100-01-01") -> CliAnswer:
    lines = [
        f"  file:///locks/{at}.json: created by me@{host} (pid {pid}) at {since}T00:00:00Z\n"
        for at, (host, pid) in enumerate(owners)
    ]
    return CliAnswer(
        err=f"error: the stack is currently locked by some lock(s)\n{''.join(lines)}", code=255
    )


UP = "up --yes --skip-preview --client=HERE --exec-kind auto.inline --stack prod"
HERE, ENDED = socket.gethostname(), 2**22 + 1  # no process has this id
HELD = (
    "stack prod is locked by a live run of {}: wait for it to end. If that run is gone for good:"
    " pulumi cancel --stack prod"
)
CREATED = CliAnswer(step_event("create", urn(A)))
# pic does not reach the locks in such a backend.
ELSEWHERE = "azblob://states"


def owner(host: str, pid: int) -> str:
    return f"me@{host} (pid {pid}) since 2100-01-01 00:00:00 UTC"


@pytest.fixture
def runtime(tmp_path: Path) -> Path:
    """Provide the private folder, with a record of a process that has ended."""
    return record_ended(tmp_path, ELSEWHERE, "2100-01-01")


def record_ended(tmp_path: Path, url: str, day: str) -> Path:
    """Write a record of a process that has ended: it may have made a lock on a day."""
    machine = processes.this_machine()
    assert machine is not None
    moment = datetime.fromisoformat(f"{day}T00:00:00Z").timestamp()
    fields = {
        "boot": machine.boot,
        "namespace": machine.namespace,
        "host": HERE,
        "pid": ENDED,
        "start": 1,
        "since": moment,
        "until": moment + 1,
    }
    folder = private_folder.prepare(tmp_path / "pic")
    (folder / "runs").mkdir(exist_ok=True)
    (folder / "runs" / f"{place.key(url, 'prod')}-a.json").write_text(json.dumps(fields))
    return folder


def engine_of(cli: FakeCli, runtime: Path, url: str = ELSEWHERE) -> Engine:
    return replace(make_engine(cli, {"PULUMI_BACKEND_URL": url}), runtime_folder=runtime)


def test_a_lock_of_a_live_or_unknown_run_is_an_error(runtime: Path) -> None:
    here, pid = HERE, os.getpid()
    cli = FakeCli(
        locked((here, ENDED), (here, pid)), locked(("far", ENDED)), locked((here, 7)), locked()
    )

    messages = [error_of(lambda: engine_of(cli, runtime).up(empty_program)) for _ in range(4)]

    assert messages == [
        (LockedError, HELD.format(f"{owner(here, ENDED)}, {owner(here, pid)}")),
        (LockedError, HELD.format(owner("far", ENDED))),
        (LockedError, HELD.format(owner(here, 7))),
        (LockedError, HELD.format("an owner that it does not name")),
    ]


def test_where_pic_reaches_no_locks_all_must_be_dead_and_the_cli_removes_them(
    runtime: Path,
) -> None:
    cli = FakeCli(locked((HERE, ENDED)), CliAnswer(), CREATED)

    assert engine_of(cli, runtime).up(empty_program) == Outcome({"create": [urn(A)]})
    assert cli.command_lines == [UP, "cancel --yes --stack prod", UP]


def test_dead_locks_are_removed_only_once(runtime: Path) -> None:
    cli = FakeCli(locked((HERE, ENDED)), CliAnswer(), locked((HERE, ENDED)))
    stuck = FakeCli(locked((HERE, ENDED)), CliAnswer(err="error: no access", code=255))

    kind, message = error_of(lambda: engine_of(cli, runtime).up(empty_program))

    assert (issubclass(kind, LockedError), message) == (True, HELD.format(owner(HERE, ENDED)))
    assert error_of(lambda: engine_of(stuck, runtime).up(empty_program)) == (
        EngineError,
        "no access",
    )


def test_10_only_the_dead_lock_goes_where_pic_reaches_the_locks(tmp_path: Path) -> None:
    url = f"file://{tmp_path}"
    runtime = record_ended(tmp_path, url, "2100-01-01")
    folder = tmp_path / ".pulumi/locks/organization/pic/prod"
    folder.mkdir(parents=True)
    for pid in (ENDED, 7):
        lock = {"pid": pid, "username": "me", "hostname": HERE, "timestamp": "2100-01-01T00:00:00Z"}
        (folder / f"{pid}.json").write_text(json.dumps(lock))
    cli = FakeCli(locked((HERE, ENDED), (HERE, 7)), locked((HERE, 7)))

    error = error_of(lambda: engine_of(cli, runtime, url).up(empty_program))

    assert error == (LockedError, HELD.format(owner(HERE, 7)))
    assert [path.name for path in folder.iterdir()] == ["7.json"]
    assert cli.command_lines == [UP, UP]


def test_an_abandoned_lock_of_an_unknown_run_is_removed_only_with_an_age_limit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime = record_ended(tmp_path, ELSEWHERE, "2000-01-01")
    old = locked(("far", 7), (HERE, ENDED), since="2000-01-01")
    stealing, cli = FakeCli(old, CliAnswer(), CREATED), FakeCli(old)
    young = FakeCli(locked(("far", 7)))

    assert issubclass(error_of(lambda: engine_of(cli, runtime).up(empty_program))[0], LockedError)
    logs.configure(None, logs.INFO)
    thief = replace(engine_of(stealing, runtime), steal_after=timedelta(minutes=30))

    assert thief.up(empty_program) == Outcome({"create": [urn(A)]})
    assert stealing.command_lines == [UP, "cancel --yes --stack prod", UP]
    assert capsys.readouterr().err == (
        "pic: removing the lock that was left by me@far (pid 7) since 2000-01-01 00:00:00 UTC\n"
    )
    waiting = replace(engine_of(young, runtime), steal_after=timedelta(minutes=30))
    assert error_of(lambda: waiting.up(empty_program)) == (
        LockedError,
        HELD.format(owner("far", 7)),
    )


@pytest.mark.parametrize(("code", "left"), [(0, 0), (255, 1)])
def test_a_record_goes_with_a_run_that_succeeds(tmp_path: Path, code: int, left: int) -> None:
    cli = FakeCli(CliAnswer(step_event("create", urn(A)), code=code))
    folder = private_folder.prepare(tmp_path / "pic")

    with contextlib.suppress(EngineError):
        engine_of(cli, folder).up(empty_program)

    assert len(list((folder / "runs").iterdir())) == left
    assert Path(cli.environment["PIC_RUN_RECORD"]).parent == folder / "runs"


def test_a_preview_has_no_record(tmp_path: Path) -> None:
    cli = FakeCli(CliAnswer(step_event("create", urn(A))))

    with contextlib.suppress(EngineError):
        engine_of(cli, tmp_path / "pic").preview(empty_program)

    assert ("PIC_RUN_RECORD" in cli.environment, (tmp_path / "pic").exists()) == (False, False)


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
    return replace(make_engine(FakeCli(), environment), runtime_folder=folder / "pic")


def test_only_one_of_two_runs_on_one_host_gets_the_stack(tmp_path: Path) -> None:
    ours = locking_engine(tmp_path)
    with ours.exclusive():
        [file] = (tmp_path / "pic").iterdir()
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


def test_11_two_checkouts_of_one_stack_have_one_lock(tmp_path: Path) -> None:
    """The CLI gets its backend from the environment or from the project file."""
    url = f"file://{tmp_path}/state"
    (tmp_path / "Pulumi.yaml").write_text(f"name: pic\nbackend: {{url: '{url}/'}}\n")
    one = locking_engine(tmp_path, {"PULUMI_BACKEND_URL": url})
    other = replace(locking_engine(tmp_path), root=tmp_path, stack="organization/pic/prod")

    with one.exclusive():
        assert error_of(other.exclusive().__enter__)[0] is LockedError


def test_other_stacks_and_backends_can_be_deployed_at_the_same_time(tmp_path: Path) -> None:
    others = [
        replace(locking_engine(tmp_path), stack="dev"),
        locking_engine(tmp_path, {"PULUMI_BACKEND_URL": "file:///elsewhere"}),
    ]

    with locking_engine(tmp_path).exclusive(), others[0].exclusive(), others[1].exclusive():
        assert len(list((tmp_path / "pic").iterdir())) == 3
