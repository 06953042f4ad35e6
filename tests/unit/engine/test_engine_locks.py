"""Who may work on a stack: locks of the engine, and of pic on one host."""

import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pic.core import logs
from pic.core.errors import EngineError, InterruptedRunError, LockedError
from pic.engine.engine import Engine
from pic.engine.outcome import Outcome
from tests.support.deployed import A, urn
from tests.unit.engine.backend.test_locks import ended
from tests.unit.engine.test_engine import (
    INTERRUPTED,
    Cli,
    Says,
    engine,
    nothing,
    refused,
)
from tests.unit.engine.test_outcome import begun, failed


def locked(*owners: tuple[str, int], since: str = "2100-01-01") -> Says:
    lines = [
        f"  file:///locks/{at}.json: created by me@{host} (pid {pid}) at {since}T00:00:00Z\n"
        for at, (host, pid) in enumerate(owners)
    ]
    return Says(
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


def test_a_live_run_is_waited_for_by_somebody_else() -> None:
    dead, pid = ended(), os.getpid()
    cli = Cli(locked((HERE, dead), (HERE, pid)), locked(("far", dead)), locked())

    messages = [refused(lambda: engine(cli).up(nothing)) for _ in range(3)]

    assert messages == [
        (LockedError, HELD.format(f"{owner(HERE, dead)}, {owner(HERE, pid)}")),
        (LockedError, HELD.format(owner("far", dead))),
        (LockedError, HELD.format("an owner that it does not name")),
    ]


def test_locks_of_dead_runs_are_taken_away_and_the_run_begins_again() -> None:
    cli = Cli(locked((HERE, ended())), Says(), Says(begun("create", urn(A))))

    assert engine(cli).up(nothing) == Outcome({"create": [urn(A)]})
    assert cli.asked == [UP, "cancel --yes --stack prod", UP]


def test_dead_locks_are_taken_away_only_once() -> None:
    dead = ended()
    cli = Cli(locked((HERE, dead)), Says(), locked((HERE, dead)))
    stuck = Cli(locked((HERE, dead)), Says(err="error: no access", code=255))

    kind, message = refused(lambda: engine(cli).up(nothing))

    assert (issubclass(kind, LockedError), message) == (True, HELD.format(owner(HERE, dead)))
    assert refused(lambda: engine(stuck).up(nothing)) == (EngineError, "no access")


def test_what_another_host_has_left_is_taken_away_only_where_it_is_asked_for_and_is_old_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    old = locked(("far", 7), (HERE, ended()), since="2000-01-01")
    stealing, cli = Cli(old, Says(), Says(begun("create", urn(A)))), Cli(old)
    young = Cli(locked(("far", 7)))

    assert refused(lambda: engine(cli).up(nothing))[0] is LockedError
    logs.configure(None, logs.INFO)
    made = replace(engine(stealing), left_after=timedelta(minutes=30)).up(nothing)

    assert made == Outcome({"create": [urn(A)]})
    assert stealing.asked == [UP, "cancel --yes --stack prod", UP]
    assert capsys.readouterr().err == (
        "pic: removing the lock that was left by me@far (pid 7) since 2000-01-01 00:00:00 UTC\n"
    )
    waiting = replace(engine(young), left_after=timedelta(minutes=30))
    assert refused(lambda: waiting.up(nothing)) == (LockedError, HELD.format(owner("far", 7)))


def test_an_interrupted_run_is_told_as_such_however_the_engine_ended() -> None:
    cli = Cli(
        Says(begun("create", urn(A)) + "\n" + failed(A), code=255, interrupted=True),
        Says(code=-2, interrupted=True),
        Says("{}", interrupted=True),
    )

    ends = [refused(act) for act in (lambda: engine(cli).up(nothing), *[engine(cli).outputs] * 2)]

    assert ends == [(InterruptedRunError, INTERRUPTED)] * 3


@pytest.fixture
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


HOLD = """
import sys, fcntl
file = open(sys.argv[1], "w")
fcntl.flock(file, fcntl.LOCK_EX)
print(sys.argv[2], end="", file=file, flush=True)
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.usefixtures("_temporary")
def test_of_two_runs_on_one_host_one_is_kept_out(tmp_path: Path) -> None:
    ours = engine(Cli())
    with ours.exclusive():
        [file] = tmp_path.iterdir()
        assert file.read_text() == f"{os.getpid()}\n"
        assert file.stat().st_mode & 0o777 == 0o600
    assert refused_by_another(ours, file, "4711") == "4711"
    assert refused_by_another(ours, file, "") == "unknown"
    with ours.exclusive():
        assert file.read_text() == f"{os.getpid()}\n"


def refused_by_another(ours: Engine, file: Path, told: str) -> str:
    """Let another process hold the file, and return who is said to do so."""
    words = [sys.executable, "-I", "-S", "-c", HOLD, str(file), told]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        kind, message = refused(ours.exclusive().__enter__)
        process.communicate()
    head, tail = (
        "another pic on this host (pid ",
        ") is deploying stack prod: wait for it to end",
    )
    assert kind is LockedError
    assert message.startswith(head)
    assert message.endswith(tail)
    return message.removeprefix(head).removesuffix(tail)


@pytest.mark.usefixtures("_temporary")
def test_other_stacks_projects_and_backends_are_deployed_at_the_same_time(tmp_path: Path) -> None:
    others = [
        Engine(Path("/project"), "dev", {}, command=Cli()),
        Engine(Path("/other"), "prod", {}, command=Cli()),
        engine(Cli(), {"PULUMI_BACKEND_URL": "file:///elsewhere"}),
    ]

    with (
        engine(Cli()).exclusive(),
        others[0].exclusive(),
        others[1].exclusive(),
        others[2].exclusive(),
    ):
        assert len(list(tmp_path.iterdir())) == 4
