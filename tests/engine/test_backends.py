"""Tests the state backends: a folder, a bucket and a database."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from pic.core.register import bucket_of
from pic.engine.backend import stores
from pic.engine.backend.history import backend_url, prune
from pic.settings.stack_file import PROJECT
from tests.engine import servers
from tests.engine.answers import succeeded
from tests.engine.servers import Backend
from tests.engine.stage import SECONDS, Stage
from tests.support.waiting import until

Command = Callable[[Stage], Sequence[str]]
UP = ("up", "--yes", "--skip-preview")
KINDS = ["file", "s3", "postgres"]


@pytest.fixture(scope="module")
def s3() -> Iterator[Backend]:
    with servers.bucket() as backend:
        yield backend


@pytest.fixture(scope="module")
def postgres() -> Iterator[Backend]:
    with servers.database() as backend:
        yield backend


@pytest.fixture
def file(tmp_path: Path) -> Backend:
    return Backend(f"file://{tmp_path}", {})


@pytest.fixture(params=KINDS)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Backend:
    backend: Backend = request.getfixturevalue(request.param)
    for name, value in backend.credentials.items():
        monkeypatch.setenv(name, value)  # this process reads the bucket or the table
    return backend


@pytest.fixture
def backend_stage(stage: Stage, backend: Backend) -> Stage:
    """Provide the stage with its stack in the backend, and an Ingress with two hosts."""
    extra = {**stage.workspace.extra, **backend.credentials, "PULUMI_BACKEND_URL": backend.url}
    moved = replace(stage, workspace=replace(stage.workspace, extra=extra))
    moved.workspace.pulumi("stack", "init", moved.name, "--no-select")
    moved.ingress("web", "www", "shop")
    return moved


def names(stage: Stage, folder: str) -> list[str]:
    with stores.open_store(stage.workspace.extra["PULUMI_BACKEND_URL"]) as store:
        all_names = store.names(f"{folder}/{PROJECT}/{stage.name}")
    return sorted(name for name in all_names if not name.endswith(".attrs"))


def lock_files(stage: Stage) -> list[str]:
    return names(stage, "locks/organization")


def history(stage: Stage) -> list[tuple[str, str, dict[str, int]]]:
    """Return what `pulumi stack history` lists, newest first: kind, result, changes."""
    updates = json.loads(stage.workspace.pulumi("stack", "history", "--json"))
    return [(update["kind"], update["result"], update["resourceChanges"]) for update in updates]


def update_of(stage: Stage, operation: str) -> tuple[str, str, dict[str, int]]:
    """Return the entry of a run that does the same with every resource of the stack."""
    # The stack, its provider, the hosts, and the buckets of the register in which they are.
    count = 2 + 2 + len({bucket_of(stage.host(word)) for word in ("www", "shop")})
    return "update", "succeeded", {operation: count}


def test_a_stack_lives_in_the_backend_and_its_history_is_pruned(
    backend_stage: Stage, backend: Backend
) -> None:
    steps = [
        ("create", name)
        for name in ("cluster", backend_stage.host("shop"), backend_stage.host("www"))
    ]
    assert backend_stage.up() == succeeded(*steps)
    assert backend_stage.up() == succeeded()
    assert backend_stage.up() == succeeded()
    before = backend_stage.identities()
    first, later = update_of(backend_stage, "create"), update_of(backend_stage, "same")
    assert history(backend_stage) == [later, later, first]
    entries, backups = names(backend_stage, "history"), names(backend_stage, "backups")
    assert (len(entries), len(backups)) == (6, 3)
    assert prune(backend.url, PROJECT, backend_stage.name, 3) == 0

    messages: list[str] = []
    url = backend_url(backend_stage.workspace.path, backend_stage.workspace.environment())
    removed = prune(url, PROJECT, backend_stage.name, 1, messages.append)

    assert (removed, messages) == (6, [])
    assert (names(backend_stage, "history"), names(backend_stage, "backups")) == (
        entries[-2:],
        backups[-1:],
    )
    assert history(backend_stage) == [later]
    assert backend_stage.up() == succeeded()
    assert history(backend_stage) == [later, later]
    assert backend_stage.identities() == before


def pulumi(stage: Stage) -> Sequence[str]:
    return stage.workspace.pulumi_command(*UP)


def pic(stage: Stage) -> Sequence[str]:
    return (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)


@pytest.mark.parametrize(
    ("first", "seconds"),
    [
        (
            pic,
            [
                (pic, 4, r"another pic on this host \(pid \d+\) is deploying stack"),
                (pulumi, 1, r"currently locked by 1 lock\(s\)[\s\S]* \(pid {pid}\) at \S+Z"),
            ],
        ),
        (pulumi, [(pic, 4, r"stack {stack} is locked by a live run of \S+ \(pid {pid}\) since ")]),
    ],
    ids=["pic", "pulumi"],
)
def test_the_loser_of_two_concurrent_runs_names_the_winner(
    backend_stage: Stage, first: Command, seconds: Sequence[tuple[Command, int, str]]
) -> None:
    with backend_stage.workspace.start(*first(backend_stage)) as winner:
        until(lambda: lock_files(backend_stage), "the lock exists")
        with stopped(engine_of(backend_stage)) as pid:
            for second, code, words in seconds:
                loser = backend_stage.workspace.run(*second(backend_stage), check=False)
                assert loser.returncode == code, loser.stdout
                assert re.search(words.format(pid=pid, stack=backend_stage.name), loser.stdout)
            assert len(lock_files(backend_stage)) == 1
        printed, _ = winner.communicate(timeout=SECONDS)

    assert winner.returncode == 0, printed
    assert lock_files(backend_stage) == []
    assert history(backend_stage) == [update_of(backend_stage, "create")]


@pytest.mark.parametrize("first", [pic, pulumi])
def test_10_the_lock_of_a_killed_run_is_removed(backend_stage: Stage, first: Command) -> None:
    with backend_stage.workspace.start(*first(backend_stage)) as killed:
        until(lambda: lock_files(backend_stage), "the lock exists")
        until(lambda: backend_stage.run_records, "the run is recorded")
        os.kill(engine_of(backend_stage), signal.SIGKILL)
        killed.communicate(timeout=SECONDS)
    assert len(lock_files(backend_stage)) == 1

    next_run = backend_stage.pic("up")

    assert (next_run.code, next_run.err) == (0, "")
    assert (lock_files(backend_stage), backend_stage.run_records) == ([], ())


def engine_of(stage: Stage) -> int:
    """Return the process id of the CLI that deploys a stack."""
    mark = f"PULUMI_STACK={stage.name}".encode()
    pids = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/comm")
        if _read(path) == b"pulumi\n" and mark in _read(path.with_name("environ")).split(b"\0")
    ]
    assert len(pids) == 1, pids
    return pids[0]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


@contextmanager
def stopped(pid: int) -> Iterator[int]:
    """Stop a process until the block ends."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGCONT)
