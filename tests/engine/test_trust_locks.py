"""Tests with real locks that the lock of a live run stays, and that of a killed run goes."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from dev.workspace import SHARED
from tests.engine.stage import SECONDS, PicRun, Stage
from tests.support.waiting import until

Command = Callable[[Stage], Sequence[str]]
# It gives a command its own process ids, as a container does, but the host name of this machine.
UNSHARE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")


def pic(stage: Stage) -> Sequence[str]:
    return (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)


def pulumi(stage: Stage) -> Sequence[str]:
    return stage.workspace.pulumi_command("up", "--yes", "--skip-preview")


def previewing(stage: Stage) -> Sequence[str]:
    return stage.workspace.pulumi_command("up", "--yes")


def contained(stage: Stage) -> Sequence[str]:
    return (*UNSHARE, *pulumi(stage))


@pytest.fixture
def busy_stage(stage: Stage) -> Stage:
    """Provide a stage whose next run has much to do."""
    stage.ingress("web", *[f"h{number}" for number in range(30)])
    return stage


@contextmanager
def stopped_run(stage: Stage, command: Sequence[str]) -> Iterator[int]:
    """Start a run, stop its CLI once it holds its lock, and let it finish after the block."""
    with stage.workspace.start(*command) as process:
        until(lambda: stage.run_records, "the run is recorded")
        until(lambda: names(stage), "the run holds its lock")
        pid = cli_of(stage)
        os.kill(pid, signal.SIGSTOP)
        try:
            yield pid
        finally:
            os.kill(pid, signal.SIGCONT)
        printed, _ = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, printed


def kill_run(stage: Stage, command: Sequence[str]) -> None:
    """Start a run, and kill all its processes at once while it holds its lock."""
    with stage.workspace.start(*command):
        until(lambda: stage.run_records and names(stage), "the run is recorded and has its lock")
        os.kill(cli_of(stage), signal.SIGKILL)
    stage.workspace.end()


def cli_of(stage: Stage) -> int:
    """Return the only process of a stage that is the CLI."""
    pids = [pid for pid in stage.workspace.processes() if name_of(pid) == "pulumi\n"]
    assert len(pids) == 1, pids
    return pids[0]


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text()
    except OSError:  # it has ended
        return ""


def names(stage: Stage) -> list[str]:
    return sorted(path.name for path in stage.locks.glob("*.json"))


def locked(stage: Stage, run: PicRun) -> bool:
    return run.code == 4 and f"stack {stage.name} is locked by a live run of" in run.err


@pytest.mark.parametrize("command", [pic, pulumi, previewing])
def test_10_the_lock_of_a_killed_run_goes(busy_stage: Stage, command: Command) -> None:
    kill_run(busy_stage, command(busy_stage))
    assert len(names(busy_stage)) == 1

    run = busy_stage.pic("up")

    assert (run.code, run.err) == (0, "")
    assert (names(busy_stage), busy_stage.run_records) == ([], ())


def test_10_a_live_lock_of_a_container_with_this_host_name_stays(busy_stage: Stage) -> None:
    if subprocess.run([*UNSHARE, "true"], check=False).returncode:
        pytest.skip("no pid namespace without more rights")
    with stopped_run(busy_stage, contained(busy_stage)):
        before = names(busy_stage)
        lock = json.loads((busy_stage.locks / before[0]).read_text())
        assert lock["hostname"] == socket.gethostname()

        assert locked(busy_stage, busy_stage.pic("up"))

        assert names(busy_stage) == before
    assert names(busy_stage) == []


def test_10_a_lock_without_a_record_stays(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.locks.mkdir(parents=True)
    host = socket.gethostname()
    lock = {"pid": 2**22 + 1, "username": "me", "hostname": host}
    file = stage.locks / "one.json"
    file.write_text(json.dumps({**lock, "timestamp": "2026-01-01T00:00:00Z"}))

    assert locked(stage, stage.pic("up"))
    assert names(stage) == ["one.json"]

    assert stage.pic("up", "--steal-locks").code == 0
    assert names(stage) == []


def test_10_only_the_lock_of_the_killed_run_goes(busy_stage: Stage) -> None:
    kill_run(busy_stage, pic(busy_stage))
    lock = {"pid": 7, "username": "me", "hostname": "far", "timestamp": "2026-01-01T00:00:00Z"}
    (busy_stage.locks / "far.json").write_text(json.dumps(lock))

    assert locked(busy_stage, busy_stage.pic("up"))

    assert names(busy_stage) == ["far.json"]


def test_11_a_live_lock_stays_after_a_step_of_the_clock(busy_stage: Stage) -> None:
    with stopped_run(busy_stage, pulumi(busy_stage)):
        [name] = names(busy_stage)
        file = busy_stage.locks / name
        lock = json.loads(file.read_text())
        file.write_text(json.dumps({**lock, "timestamp": "2020-01-01T00:00:00Z"}))

        assert locked(busy_stage, busy_stage.pic("up"))
        assert locked(busy_stage, busy_stage.pic("up", "--steal-locks"))

        assert names(busy_stage) == [name]


def test_11_the_lock_of_a_run_from_another_checkout_stays(
    busy_stage: Stage, tmp_path: Path
) -> None:
    other = checkout(busy_stage, tmp_path)
    with stopped_run(busy_stage, pic(busy_stage)):
        before = names(busy_stage)

        run = other.pic("up")

        assert (run.code, "another pic on this host (pid " in run.err) == (4, True)
        assert names(busy_stage) == before
    assert names(busy_stage) == []


def checkout(stage: Stage, folder: Path) -> Stage:
    """Return the stage in another checkout: with the same stack in the same backend."""
    for name in SHARED:
        (folder / name).symlink_to(stage.workspace.path / name)
    shutil.copytree(stage.workspace.path / "stacks", folder / "stacks")
    url = f"file://{stage.workspace.state}/"
    extra = {**stage.workspace.extra, "PULUMI_BACKEND_URL": url}
    return replace(stage, workspace=replace(stage.workspace, path=folder, extra=extra))
