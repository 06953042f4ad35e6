"""Tests how pic starts the Pulumi CLI, reads its output, interrupts it and cleans up."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from semver import VersionInfo

from pic.core.command_result import CommandResult
from pic.core.errors import EngineError
from pic.engine.pulumi_command import Command
from tests.support.deployed import write_executable
from tests.support.waiting import is_gone

MakeCommand = Callable[..., Command]
# Waits for a signal. The process that it leaves keeps its streams open.
WAITS = "sleep 20 & echo $!\nuntil wait; do :; done"


@pytest.fixture
def make_command(tmp_path: Path) -> MakeCommand:
    """Return a function that makes a command whose CLI is a shell script."""

    def make_command(script: str, platform: str = sys.platform, **variables: str) -> Command:
        folder = write_executable(tmp_path / "bin" / "pulumi", f"#!/bin/sh\n{script}\n").parent
        path = f"{folder}:{os.environ['PATH']}"
        return Command({**os.environ, "PATH": path, **variables}, platform)

    return make_command


def output_of(result: CommandResult) -> tuple[int, str, str]:
    return result.code, result.stdout, result.stderr


def test_a_command_gets_its_arguments_folder_and_environment_and_returns_its_exit_code(
    make_command: MakeCommand, tmp_path: Path
) -> None:
    command = make_command(
        'echo "$*"; pwd; echo "$PULUMI_AUTOMATION_API $MORE $OURS $BOTH"; cat\n'
        "printf 'caf\\351\\n' >&2; exit 7",
        OURS="ours",
        BOTH="lost",
    )

    result = command.run(["stack", "ls"], str(tmp_path), {"MORE": "more", "BOTH": "kept"})

    assert output_of(result) == (
        7,
        f"--non-interactive stack ls\n{tmp_path}\ntrue more ours kept\n",
        "caf\ufffd\n",
    )
    assert (command.code, command.interrupted) == (7, False)


def test_each_line_is_passed_on_at_once(make_command: MakeCommand, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    command = make_command("echo one; read -r word < fifo; echo $word; echo three >&2")
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        if line == "one":
            (tmp_path / "fifo").write_text("two\n")

    errors: list[str] = []
    result = command.run(["up"], str(tmp_path), {}, on_line, errors.append)

    assert (lines, errors, output_of(result)) == (["one", "two"], ["three"], (0, "", ""))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_the_engine_to_stop_and_ends_its_remaining_processes(
    make_command: MakeCommand, tmp_path: Path, number: signal.Signals
) -> None:
    command = make_command(f"trap 'echo stopped; exit 255' INT\n{WAITS}")
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        if len(lines) == 1:
            os.kill(os.getpid(), number)

    command.run(["up"], str(tmp_path), {}, on_line)

    assert (lines[1:], command.code, command.interrupted) == (["stopped"], 255, True)
    assert is_gone(int(lines[0]))
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == handlers


def test_the_third_signal_ends_an_engine_that_does_not_stop(
    make_command: MakeCommand, tmp_path: Path
) -> None:
    command = make_command(f"n=0\ntrap 'n=$((n+1)); echo $n' INT\n{WAITS}")
    lines: list[str] = []

    def on_line(line: str) -> None:
        lines.append(line)
        os.kill(os.getpid(), signal.SIGTERM)

    command.run(["up"], str(tmp_path), {}, on_line)

    assert (lines[1:], command.code) == (["1", "2"], 128 + signal.SIGTERM)
    assert is_gone(int(lines[0]))


def test_a_killed_engine_leaves_no_process_running(
    make_command: MakeCommand, tmp_path: Path
) -> None:
    command = make_command("setsid sleep 20 & echo $!\nkill -9 $$")

    result = command.run(["up"], str(tmp_path), {})

    assert result.code == 128 + signal.SIGKILL
    assert is_gone(int(result.stdout))


def test_a_thread_that_cannot_handle_signals_runs_commands_as_well(
    make_command: MakeCommand, tmp_path: Path
) -> None:
    command = make_command("echo done")
    results: list[CommandResult] = []

    thread = threading.Thread(target=lambda: results.append(command.run([], str(tmp_path), {})))
    thread.start()
    thread.join()

    assert list(map(output_of, results)) == [(0, "done\n", "")]


def test_other_systems_than_linux_have_no_supervisor(
    make_command: MakeCommand, tmp_path: Path
) -> None:
    command = make_command("echo $PPID", platform="darwin")

    result = command.run([], str(tmp_path), {})

    assert output_of(result) == (0, f"{os.getpid()}\n", "")


@pytest.mark.parametrize(
    ("answer", "version"), [("v3.274.1", VersionInfo(3, 274, 1)), ("nonsense", None)]
)
def test_the_version_is_read_when_it_is_needed(
    make_command: MakeCommand, answer: str, version: VersionInfo | None
) -> None:
    assert make_command(f'test "$*" = version && echo {answer}').version == version


def test_the_error_for_a_missing_cli_names_the_next_step(tmp_path: Path) -> None:
    with pytest.raises(EngineError) as caught:
        Command({"PATH": str(tmp_path)})

    assert str(caught.value) == (
        "there is no pulumi on PATH: install the Pulumi CLI, or `make toolchain` in a checkout and"
        " put its folder on PATH"
    )
