"""Tests which process of this machine a record names, and when records go."""

import json
import os
import socket
import time
from pathlib import Path

import pytest

from pic.core import private_folder
from pic.engine.backend import processes, run_records
from pic.engine.backend.processes import Machine, Process
from pic.engine.backend.run_records import RunRecord
from tests.support.machine import FakeMachine

KEY, OTHER = "0123", "4567"
MACHINE = Machine("boot", "pid:[1]")


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    machine = FakeMachine(tmp_path / "proc")
    machine.boot()
    return machine


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pic-0"


def files(folder: Path) -> list[str]:
    return sorted(path.name[:4] for path in (folder / "runs").iterdir())


def add(path: Path | None, **fields: object) -> None:
    """Add a line to a record, as the supervisor does."""
    assert path is not None
    with path.open("a") as file:
        file.write(f"{json.dumps(fields)}\n")


def only(records: tuple[RunRecord, ...]) -> RunRecord:
    [record] = records
    return record


def test_a_record_has_an_owner_once_the_supervisor_has_added_it(
    folder: Path, machine: FakeMachine
) -> None:
    before = time.time()
    recording = run_records.begin(folder, KEY, machine.proc)
    assert run_records.read(folder, KEY) == ()

    add(recording.path, pid=7, start=2**40)

    record = only(run_records.read(folder, KEY))
    assert (record.process, record.host) == (Process(MACHINE, 7, 2**40), socket.gethostname())
    assert before <= record.since <= time.time()
    assert record.until == record.since + 60
    assert run_records.read(folder, OTHER) == ()


def test_the_first_event_of_the_engine_ends_the_time_in_which_it_took_its_lock(
    folder: Path,
) -> None:
    recording = run_records.begin(folder, KEY)
    assert recording.path is not None
    add(recording.path, pid=os.getpid(), start=processes.start_of(os.getpid()))

    recording.confirm()
    confirmed = only(run_records.read(folder, KEY))
    recording.confirm()

    assert confirmed.since <= confirmed.until <= time.time()
    assert only(run_records.read(folder, KEY)) == confirmed
    assert (recording.path.stat().st_mode & 0o777, len(files(folder))) == (0o600, 1)
    recording.discard()
    assert files(folder) == []


def test_a_run_that_holds_the_lock_removes_the_records_of_ended_runs_of_its_stack(
    folder: Path, machine: FakeMachine
) -> None:
    unfinished = run_records.begin(folder, KEY, machine.proc)
    other = run_records.begin(folder, OTHER, machine.proc)
    waiting = run_records.begin(folder, KEY, machine.proc)
    add(waiting.path, pid=8, start=100)
    machine.start(8)
    machine.start(os.getppid(), name="pulumi", arguments=("up", "--yes"))

    run_records.record_cli(folder, KEY, machine.proc)

    records = {record.process.pid: record for record in run_records.read(folder, KEY)}
    assert records.keys() == {8, os.getppid()}
    record = records[os.getppid()]
    assert record.process == Process(MACHINE, os.getppid(), 100)
    assert record.since < record.until <= time.time()
    assert unfinished.path is not None
    assert other.path is not None
    assert (unfinished.path.exists(), other.path.exists()) == (False, True)


@pytest.mark.parametrize("words", [("preview", "--diff"), ("pre",), ("up", "--preview-only")])
def test_a_preview_has_no_lock_and_so_no_record(
    folder: Path, machine: FakeMachine, words: tuple[str, ...]
) -> None:
    machine.start(os.getppid(), name="pulumi", arguments=words)

    run_records.record_cli(folder, KEY, machine.proc)

    assert not folder.exists()


def test_without_a_cli_or_a_machine_there_is_no_record(tmp_path: Path, folder: Path) -> None:
    machine = FakeMachine(tmp_path / "proc")
    machine.start(os.getppid(), name="pulumi")

    recording = run_records.begin(folder, KEY, machine.proc)
    recording.confirm()
    recording.discard()
    run_records.record_cli(folder, KEY, machine.proc)
    machine.boot()
    machine.end(os.getppid())
    run_records.record_cli(folder, KEY, machine.proc)

    assert (recording.path, folder.exists()) == (None, False)


def test_a_record_that_cannot_be_written_fails_no_run(folder: Path, machine: FakeMachine) -> None:
    private_folder.prepare(folder)
    (folder / "runs").touch()
    machine.start(os.getppid(), name="pulumi")

    recording = run_records.begin(folder, KEY, machine.proc)
    run_records.record_cli(folder, KEY, machine.proc)

    assert recording.path is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"pid": 7}\n',
        b"[]\n",
        b"{",
        b"\xff",
        b'{"boot": "boot", "namespace": "", "host": "", "pid": "x", "start": 1}\n',
    ],
)
def test_a_record_that_is_not_complete_says_nothing(folder: Path, content: bytes) -> None:
    (private_folder.prepare(folder) / "runs").mkdir()
    (folder / "runs" / f"{KEY}-a.json").write_bytes(content)

    assert run_records.read(folder, KEY) == ()


def test_records_that_others_could_have_written_say_nothing(
    folder: Path, machine: FakeMachine
) -> None:
    add(run_records.begin(folder, KEY, machine.proc).path, pid=7, start=1)
    folder.chmod(0o707)

    assert run_records.read(folder, KEY) == ()


def test_the_number_of_records_is_bounded(folder: Path, machine: FakeMachine) -> None:
    runs = private_folder.prepare(folder) / "runs"
    runs.mkdir()
    for number in range(run_records.MOST):
        path = runs / f"{OTHER}-{number}.json"
        path.touch()
        os.utime(path, (number, number))

    run_records.begin(folder, KEY, machine.proc)

    assert len(files(folder)) == run_records.MOST
    assert not (runs / f"{OTHER}-0.json").exists()
    assert (runs / f"{OTHER}-1.json").exists()
