"""The Pulumi CLI as it is started, listened to, interrupted and cleaned up after."""

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
from tests.support.deployed import write
from tests.support.waiting import is_gone

Fake = Callable[[str], Command]
# Waits for a signal; what it leaves behind keeps its streams open.
WAITS = "sleep 20 & echo $!\nuntil wait; do :; done"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """Put a `pulumi` on PATH that is a shell script."""

    def fake(script: str) -> Command:
        folder = write(tmp_path / "bin" / "pulumi", f"#!/bin/sh\n{script}\n").parent
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        return Command()

    return fake


def heard(result: CommandResult) -> tuple[int, str, str]:
    return result.code, result.stdout, result.stderr


def test_a_command_has_its_words_folder_and_environment_and_tells_how_it_ended(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = fake(
        'echo "$*"; pwd; echo "$PULUMI_AUTOMATION_API $MORE $OURS $BOTH"; cat\n'
        "printf 'caf\\351\\n' >&2; exit 7"
    )
    monkeypatch.setenv("OURS", "ours")
    monkeypatch.setenv("BOTH", "lost")

    result = command.run(["stack", "ls"], str(tmp_path), {"MORE": "more", "BOTH": "kept"})

    assert heard(result) == (
        7,
        f"--non-interactive stack ls\n{tmp_path}\ntrue more ours kept\n",
        "caf\ufffd\n",
    )
    assert (command.code, command.interrupted) == (7, False)


def test_each_line_is_told_as_it_comes(fake: Fake, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    command = fake("echo one; read -r word < fifo; echo $word; echo three >&2")
    lines: list[str] = []

    def told(line: str) -> None:
        lines.append(line)
        if line == "one":
            (tmp_path / "fifo").write_text("two\n")

    errors: list[str] = []
    result = command.run(["up"], str(tmp_path), {}, told, errors.append)

    assert (lines, errors, heard(result)) == (["one", "two"], ["three"], (0, "", ""))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_asks_the_engine_to_stop_and_what_it_leaves_is_ended(
    fake: Fake, tmp_path: Path, number: signal.Signals
) -> None:
    command = fake(f"trap 'echo stopped; exit 255' INT\n{WAITS}")
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    lines: list[str] = []

    def told(line: str) -> None:
        lines.append(line)
        if len(lines) == 1:
            os.kill(os.getpid(), number)

    command.run(["up"], str(tmp_path), {}, told)

    assert (lines[1:], command.code, command.interrupted) == (["stopped"], 255, True)
    assert is_gone(int(lines[0]))
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_third_signal_ends_an_engine_that_does_not_stop(fake: Fake, tmp_path: Path) -> None:
    command = fake(f"n=0\ntrap 'n=$((n+1)); echo $n' INT\n{WAITS}")
    lines: list[str] = []

    def told(line: str) -> None:
        lines.append(line)
        os.kill(os.getpid(), signal.SIGTERM)

    command.run(["up"], str(tmp_path), {}, told)

    assert (lines[1:], command.code) == (["1", "2"], 128 + signal.SIGTERM)
    assert is_gone(int(lines[0]))


def test_an_engine_that_is_killed_leaves_nothing_behind(fake: Fake, tmp_path: Path) -> None:
    command = fake("setsid sleep 20 & echo $!\nkill -9 $$")

    result = command.run(["up"], str(tmp_path), {})

    assert result.code == 128 + signal.SIGKILL
    assert is_gone(int(result.stdout))


def test_a_thread_that_may_not_handle_signals_runs_commands_as_well(
    fake: Fake, tmp_path: Path
) -> None:
    command = fake("echo done")
    results: list[CommandResult] = []

    thread = threading.Thread(target=lambda: results.append(command.run([], str(tmp_path), {})))
    thread.start()
    thread.join()

    assert list(map(heard, results)) == [(0, "done\n", "")]


def test_other_systems_than_linux_do_without_a_keeper(
    fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = fake("echo $PPID")
    monkeypatch.setattr(sys, "platform", "darwin")

    result = command.run([], str(tmp_path), {})

    assert heard(result) == (0, f"{os.getpid()}\n", "")


@pytest.mark.parametrize(
    ("answer", "version"), [("v3.274.1", VersionInfo(3, 274, 1)), ("nonsense", None)]
)
def test_the_version_is_asked_for_when_it_is_needed(
    fake: Fake, answer: str, version: VersionInfo | None
) -> None:
    assert fake(f'test "$*" = version && echo {answer}').version == version


def test_without_a_cli_the_remedy_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(EngineError) as caught:
        Command()

    assert str(caught.value) == (
        "there is no pulumi on PATH: install the Pulumi CLI, or `make toolchain` in a checkout and"
        " put its folder on PATH"
    )
