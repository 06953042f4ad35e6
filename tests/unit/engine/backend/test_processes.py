"""Tests how processes are told apart that share an id, a host name or a moment."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pic.engine.backend import processes
from pic.engine.backend.processes import Fate, Machine, Process
from tests.support.machine import FakeMachine
from tests.support.processes import ended_process_id


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    machine = FakeMachine(tmp_path)
    machine.boot()
    return machine


OURS = Process(Machine("boot", "pid:[1]"), 7, 100)


def test_a_process_runs_until_no_process_has_its_id_and_its_start(machine: FakeMachine) -> None:
    machine.start(7, 100)
    assert processes.fate(OURS, machine.proc) is Fate.RUNNING

    machine.leave_zombie(7)
    assert processes.fate(OURS, machine.proc) is Fate.ENDED

    machine.start(7, 101, name="odd ) name (")
    assert processes.fate(OURS, machine.proc) is Fate.ENDED

    machine.end(7)
    assert processes.fate(OURS, machine.proc) is Fate.ENDED


@pytest.mark.parametrize(
    "elsewhere", [Machine("other boot", "pid:[1]"), Machine("boot", "pid:[2]")]
)
def test_the_fate_of_a_process_in_another_boot_or_pid_namespace_is_unknown(
    machine: FakeMachine, elsewhere: Machine
) -> None:
    assert processes.fate(replace(OURS, machine=elsewhere), machine.proc) is Fate.UNKNOWN


def test_a_system_that_does_not_tell_has_no_machine(tmp_path: Path) -> None:
    assert processes.this_machine(tmp_path) is None
    assert processes.fate(OURS, tmp_path) is Fate.UNKNOWN


def test_the_real_system_tells_running_processes_from_ended_ones() -> None:
    machine, start = processes.this_machine(), processes.start_of(os.getpid())

    assert machine is not None
    assert start is not None
    assert processes.fate(Process(machine, os.getpid(), start)) is Fate.RUNNING
    assert processes.fate(Process(machine, ended_process_id(), start)) is Fate.ENDED
    assert processes.age(start) >= 0
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        assert processes.start_of(process.pid) is None


def test_the_cli_above_a_program_is_the_nearest_that_is_no_language_host(
    machine: FakeMachine,
) -> None:
    machine.start(1, name="pulumi")
    machine.start(5, name=".pulumi-wrapped", parent=1)
    machine.start(6, name="pulumi-language-python", parent=5)
    machine.start(7, name="python3", parent=6)
    machine.start(9, name="bash")
    machine.start(10, name="python3", parent=9)

    above = [processes.cli_above(pid, machine.proc) for pid in (7, 1, 10, 4711)]

    assert above == [5, 1, 0, 0]


def test_only_a_running_process_is_a_cli(machine: FakeMachine) -> None:
    for pid in (1, 2):
        machine.start(pid)
    machine.leave_zombie(1)

    assert [processes.is_cli(pid, machine.proc) for pid in (1, 2, 3)] == [False, True, False]


def test_the_command_line_has_no_program(machine: FakeMachine) -> None:
    machine.start(2, arguments=("up", "--yes"))

    assert processes.arguments(2, machine.proc)[:2] == ("up", "--yes")
    assert processes.arguments(3, machine.proc) == ()
