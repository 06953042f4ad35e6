"""Tests who has locked a stack, and whether that process still runs."""

import os
import socket
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pic.engine.backend import locks
from pic.engine.backend.locks import Lock
from tests.support.processes import ended_process_id

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ONE = Lock("me", "here", 7, NOW)
MESSAGE = """error: the stack is currently locked by 2 lock(s). Either wait for the other \
process(es) to end or delete the lock file with `pulumi cancel`.
  file:///state/.pulumi/locks/organization/pic/prod/1.json: created by me@here (pid 7) at \
2026-01-01T12:00:00Z
  file:///state/.pulumi/locks/organization/pic/prod/2.json: created by DOM\\a b@there.org (pid 12) \
at 2026-01-01T13:00:00+01:00
"""


def test_all_locks_in_the_message_of_the_cli_are_read() -> None:
    assert locks.parse(MESSAGE) == (ONE, Lock("DOM\\a b", "there.org", 12, NOW))


def test_a_time_without_a_zone_is_utc() -> None:
    assert locks.parse(MESSAGE.replace("00Z", "00").replace("+01:00", "Z")) == (
        ONE,
        Lock("DOM\\a b", "there.org", 12, NOW + timedelta(hours=1)),
    )


def test_a_lock_without_an_owner_differs_from_another_error() -> None:
    assert locks.parse("error: the stack is currently locked by a stranger") == ()
    assert locks.parse("error: no stack named 'prod' found") is None


def test_a_lock_is_shown_with_its_owner_and_its_time() -> None:
    assert str(ONE) == "me@here (pid 7) since 2026-01-01 12:00:00 UTC"


@pytest.mark.parametrize(
    ("this_host", "started", "dead"),
    [
        ("elsewhere", None, False),
        ("here", None, True),
        ("here", NOW - timedelta(days=1), False),
        ("here", NOW + timedelta(seconds=2), False),
        ("here", NOW + timedelta(seconds=3), True),
    ],
)
def test_an_owner_is_dead_if_its_process_on_this_host_is_missing_or_newer_than_the_lock(
    this_host: str, started: datetime | None, *, dead: bool
) -> None:
    assert locks.is_dead(ONE, this_host, lambda _: started) is dead


def test_a_stack_is_free_only_if_all_owners_are_dead() -> None:
    live = Lock("me", socket.gethostname(), os.getpid(), datetime.now(UTC))
    dead = Lock("me", socket.gethostname(), ended_process_id(), datetime.now(UTC))

    assert locks.all_dead([dead, dead])
    assert not locks.all_dead([dead, live])
    assert not locks.all_dead([])


def test_a_lock_of_another_host_is_abandoned_if_it_is_older_than_the_limit() -> None:
    old, young = Lock("me", "far", 7, NOW), Lock("me", "far", 7, NOW + timedelta(minutes=1))
    dead = Lock("me", socket.gethostname(), ended_process_id(), NOW)
    live = Lock("me", socket.gethostname(), os.getpid(), datetime.now(UTC))
    limit = NOW + timedelta(seconds=30)

    assert not locks.all_dead([old])
    assert locks.all_dead([old], limit)
    assert locks.all_dead([old, dead], limit)
    assert not locks.all_dead([old, young], limit)
    assert not locks.all_dead([live], datetime.now(UTC) + timedelta(days=1))
    assert locks.of_other_hosts([dead, old, live]) == (old,)


def test_only_a_running_process_has_a_start_time() -> None:
    ours, first = locks.process_start(os.getpid()), locks.process_start(1)

    assert ours is not None
    assert first is not None
    assert first <= ours <= datetime.now(UTC) + timedelta(seconds=1)
    assert locks.process_start(ended_process_id()) is None


def test_a_zombie_has_no_start_time() -> None:
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)

        assert locks.process_start(process.pid) is None


def test_without_proc_a_process_counts_as_old(tmp_path: Path) -> None:
    assert locks.process_start(os.getpid(), tmp_path) == datetime(1970, 1, 1, tzinfo=UTC)
