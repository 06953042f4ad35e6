"""Who holds a stack's lock, and whether that is a process which still lives."""

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pic.engine.backend import locks
from pic.engine.backend.locks import Lock

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ONE = Lock("me", "here", 7, NOW)
REFUSAL = """error: the stack is currently locked by 2 lock(s). Either wait for the other \
process(es) to end or delete the lock file with `pulumi cancel`.
  file:///state/.pulumi/locks/organization/pic/prod/1.json: created by me@here (pid 7) at \
2026-01-01T12:00:00Z
  file:///state/.pulumi/locks/organization/pic/prod/2.json: created by DOM\\a b@there.org (pid 12) \
at 2026-01-01T13:00:00+01:00
"""


def test_a_refusal_names_everybody_who_holds_the_stack() -> None:
    assert locks.parse(REFUSAL) == (ONE, Lock("DOM\\a b", "there.org", 12, NOW))


def test_a_time_without_a_zone_is_utc() -> None:
    assert locks.parse(REFUSAL.replace("00Z", "00").replace("+01:00", "Z")) == (
        ONE,
        Lock("DOM\\a b", "there.org", 12, NOW + timedelta(hours=1)),
    )


def test_a_refusal_that_names_nobody_and_other_words() -> None:
    assert locks.parse("error: the stack is currently locked by a stranger") == ()
    assert locks.parse("error: no stack named 'prod' found") is None


def test_a_lock_reads_as_its_owner_and_since_when() -> None:
    assert str(ONE) == "me@here (pid 7) since 2026-01-01 12:00:00 UTC"


@pytest.mark.parametrize(
    ("here", "started", "dead"),
    [
        ("elsewhere", None, False),
        ("here", None, True),
        ("here", NOW - timedelta(days=1), False),
        ("here", NOW + timedelta(seconds=2), False),
        ("here", NOW + timedelta(seconds=3), True),
    ],
)
def test_an_owner_is_dead_when_its_process_is_gone_from_this_host_or_another_one(
    here: str, started: datetime | None, *, dead: bool
) -> None:
    assert locks.is_dead(ONE, here, lambda _: started) is dead


def test_only_when_all_owners_are_dead_nobody_holds_the_stack() -> None:
    mine = Lock("me", socket.gethostname(), os.getpid(), datetime.now(UTC))
    gone = Lock("me", socket.gethostname(), ended(), datetime.now(UTC))

    assert locks.all_dead([gone, gone])
    assert not locks.all_dead([gone, mine])
    assert not locks.all_dead([])


def test_a_lock_of_another_host_is_left_behind_where_it_is_older_than_allowed() -> None:
    old, young = Lock("me", "far", 7, NOW), Lock("me", "far", 7, NOW + timedelta(minutes=1))
    gone = Lock("me", socket.gethostname(), ended(), NOW)
    mine = Lock("me", socket.gethostname(), os.getpid(), datetime.now(UTC))
    before = NOW + timedelta(seconds=30)

    assert not locks.all_dead([old])
    assert locks.all_dead([old], before)
    assert locks.all_dead([old, gone], before)
    assert not locks.all_dead([old, young], before)
    assert not locks.all_dead([mine], datetime.now(UTC) + timedelta(days=1))
    assert locks.of_others([gone, old, mine]) == (old,)


def ended() -> int:
    """The id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        process.kill()
    return process.pid


def test_a_process_has_a_start_and_one_that_ended_has_none() -> None:
    ours, first = locks.process_start(os.getpid()), locks.process_start(1)

    assert ours is not None
    assert first is not None
    assert first <= ours <= datetime.now(UTC) + timedelta(seconds=1)
    assert locks.process_start(ended()) is None


def test_a_process_that_ended_unasked_is_none() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert locks.process_start(process.pid) is None


def test_where_the_system_does_not_tell_a_process_counts_as_old(tmp_path: Path) -> None:
    assert locks.process_start(os.getpid(), tmp_path) == datetime(1970, 1, 1, tzinfo=UTC)
