"""Tests who has locked a stack, and which locks are dead."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pic.engine.backend import locks
from pic.engine.backend.locks import Judge, Lock, Owner
from pic.engine.backend.processes import Machine, Process
from pic.engine.backend.run_records import RunRecord
from pic.engine.backend.stores import FolderStore
from tests.support.machine import FakeMachine

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
ONE = Lock("me", "here", 7, NOW)
MESSAGE = """error: the stack is currently locked by 2 lock(s). Either wait for the other \
process(es) to end or delete the lock file with `pulumi cancel`.
  file:///state/.pulumi/locks/organization/pic/prod/1.json: created by me@here (pid 7) at \
2026-01-01T12:00:00Z
  file:///state/.pulumi/locks/organization/pic/prod/2.json: created by DOM\\a b@there.org (pid 12) \
at 2026-01-01T13:00:00+01:00
"""
# The run that made the lock: it began within the second of the lock, which has whole seconds only.
OURS = RunRecord(
    Process(Machine("boot", "pid:[1]"), 7, 100), "here", NOW.timestamp() + 0.5, NOW.timestamp() + 2
)


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    machine = FakeMachine(tmp_path / "proc")
    machine.boot()
    return machine


@pytest.fixture
def owner(machine: FakeMachine) -> Callable[..., Owner]:
    """Return a function that judges a lock by records, on this machine with the name `here`."""

    def judge(lock: Lock, *records: RunRecord) -> Owner:
        return Judge(records, host="here", proc=machine.proc).owner(lock)

    return judge


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


def test_the_owner_of_a_lock_runs_until_its_process_ends(
    machine: FakeMachine, owner: Callable[..., Owner]
) -> None:
    machine.start(7, 100)
    assert owner(ONE, OURS) is Owner.RUNNING

    machine.end(7)
    assert owner(ONE, OURS) is Owner.ENDED


def test_10_the_lock_of_a_container_with_the_same_host_name_is_not_dead(
    owner: Callable[..., Owner],
) -> None:
    """No process here has the id of that lock, but another pid namespace has one."""
    assert owner(ONE) is Owner.UNKNOWN
    inside = replace(OURS, process=Process(Machine("boot", "pid:[2]"), 7, 100))
    assert owner(ONE, inside) is Owner.UNKNOWN
    assert owner(ONE, OURS, inside) is Owner.UNKNOWN


def test_10_the_lock_of_another_boot_is_not_dead(owner: Callable[..., Owner]) -> None:
    """Two machines may share a host name and the folder of the records."""
    other = replace(OURS, process=Process(Machine("other boot", "pid:[1]"), 7, 100))

    assert owner(ONE, other) is Owner.UNKNOWN


def test_10_the_record_of_an_ended_run_says_nothing_about_a_later_lock(
    owner: Callable[..., Owner],
) -> None:
    """A container with the same host name has made a lock with the same process id."""
    later, earlier = timedelta(seconds=3), timedelta(seconds=-1)

    assert owner(replace(ONE, since=NOW + later), OURS) is Owner.UNKNOWN
    assert owner(replace(ONE, since=NOW + earlier), OURS) is Owner.UNKNOWN
    assert owner(replace(ONE, host="there"), OURS) is Owner.UNKNOWN
    assert owner(replace(ONE, pid=8), OURS) is Owner.UNKNOWN


def test_11_a_lock_whose_process_id_is_used_again_is_dead(
    machine: FakeMachine, owner: Callable[..., Owner]
) -> None:
    machine.start(7, 101)

    assert owner(ONE, OURS) is Owner.ENDED


@pytest.mark.parametrize("step", [timedelta(days=-1), timedelta(days=1)])
def test_11_a_step_of_the_clock_makes_no_live_lock_dead(
    machine: FakeMachine, owner: Callable[..., Owner], step: timedelta
) -> None:
    """The process has the same start in clock ticks, whatever the time of its lock."""
    machine.start(7, 100)
    stepped = replace(ONE, since=NOW + step)

    assert owner(stepped, OURS) is Owner.RUNNING
    machine.start(7, 100, name="python3")
    assert owner(stepped, OURS) is Owner.UNKNOWN


def test_a_cli_on_this_host_may_have_made_a_lock_without_a_record(
    machine: FakeMachine, owner: Callable[..., Owner]
) -> None:
    machine.start(7)
    assert owner(ONE) is Owner.RUNNING
    assert owner(replace(ONE, host="there")) is Owner.UNKNOWN

    machine.start(7, name="bash")
    assert owner(ONE) is Owner.UNKNOWN


def test_a_lock_is_abandoned_if_it_is_older_than_the_limit_and_its_owner_unknown(
    machine: FakeMachine,
) -> None:
    limit = NOW + timedelta(seconds=1)
    judge = Judge([OURS], limit, "here", machine.proc)
    old, young = replace(ONE, host="far"), replace(ONE, host="far", since=limit)

    assert not replace(judge, abandoned_before=None).is_dead(old)
    assert (judge.is_dead(old), judge.is_abandoned(old)) == (True, True)
    assert not judge.is_dead(young)
    assert (judge.is_dead(ONE), judge.is_abandoned(ONE)) == (True, False)
    machine.start(7, 100)
    assert not judge.is_dead(ONE)


def content(**fields: object) -> str:
    lock = {"pid": 7, "username": "me", "hostname": "here", "timestamp": "2026-01-01T12:00:00.9Z"}
    return json.dumps({**lock, **fields})


def test_a_lock_file_is_read() -> None:
    moment = NOW + timedelta(seconds=0.9)

    assert locks.read(content()) == replace(ONE, since=moment)
    assert locks.read(content(timestamp="2026-01-01T13:00:00.9+01:00")).since == moment


def test_exactly_the_dead_lock_is_removed(tmp_path: Path, machine: FakeMachine) -> None:
    store = FolderStore(tmp_path / "state")
    folder = store.root / "locks/organization/pic/prod"
    folder.mkdir(parents=True)
    files = {"dead": content(), "live": content(pid=8), "odd": "{}", "other": content(pid=9)}
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text)
        (folder / f"{name}.json.attrs").write_text("{}")
    machine.start(8, 100)
    live = replace(OURS, process=replace(OURS.process, pid=8))
    judge = Judge([OURS, live], host="here", proc=machine.proc)

    removed = locks.remove_dead(store, "organization/pic/prod", judge)

    assert removed == (replace(ONE, since=NOW + timedelta(seconds=0.9)),)
    left = sorted(path.name for path in folder.glob("*.json"))
    assert left == ["live.json", "odd.json", "other.json"]
    assert locks.remove_dead(store, "prod", judge) == ()
