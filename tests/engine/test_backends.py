"""The state in a folder, in a bucket and in a database: deployed, locked, pruned."""

import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

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
    with servers.bucket() as made:
        yield made


@pytest.fixture(scope="module")
def postgres() -> Iterator[Backend]:
    with servers.database() as made:
        yield made


@pytest.fixture
def file(tmp_path: Path) -> Backend:
    return Backend(f"file://{tmp_path}", {})


@pytest.fixture(params=KINDS)
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Backend:
    found: Backend = request.getfixturevalue(request.param)
    for name, value in found.credentials.items():
        monkeypatch.setenv(name, value)  # pic reads the bucket or table in this process
    return found


@pytest.fixture
def there(stage: Stage, backend: Backend) -> Stage:
    """The stage with its stack in the backend, and two hosts to deploy."""
    extra = {**stage.workspace.extra, **backend.credentials, "PULUMI_BACKEND_URL": backend.url}
    made = replace(stage, workspace=replace(stage.workspace, extra=extra))
    made.workspace.pulumi("stack", "init", made.name, "--no-select")
    made.ingress("web", "www", "shop")
    return made


def names(stage: Stage, folder: str) -> list[str]:
    with stores.opened(stage.workspace.extra["PULUMI_BACKEND_URL"]) as store:
        found = store.names(f"{folder}/{PROJECT}/{stage.name}")
    return sorted(name for name in found if not name.endswith(".attrs"))


def lock_files(stage: Stage) -> list[str]:
    return names(stage, "locks/organization")


def history(stage: Stage) -> list[tuple[str, str, dict[str, int]]]:
    """What `pulumi stack history` lists, newest first: kind, result, changes."""
    found = json.loads(stage.workspace.pulumi("stack", "history", "--json"))
    return [(it["kind"], it["result"], it["resourceChanges"]) for it in found]


FIRST = ("update", "succeeded", {"create": 4})
LATER = ("update", "succeeded", {"same": 4})


def test_a_stack_lives_in_the_backend_and_its_history_is_pruned(
    there: Stage, backend: Backend
) -> None:
    made = [("create", it) for it in ("cluster", there.host("shop"), there.host("www"))]
    assert there.up() == succeeded(*made)
    assert there.up() == succeeded()
    assert there.up() == succeeded()
    before = there.identities()
    assert history(there) == [LATER, LATER, FIRST]
    entries, backups = names(there, "history"), names(there, "backups")
    assert (len(entries), len(backups)) == (6, 3)
    assert prune(backend.url, PROJECT, there.name, 3) == 0

    told: list[str] = []
    url = backend_url(there.workspace.path, there.workspace.environment())
    removed = prune(url, PROJECT, there.name, 1, told.append)

    assert (removed, told) == (6, [])
    assert (names(there, "history"), names(there, "backups")) == (entries[-2:], backups[-1:])
    assert history(there) == [LATER]
    assert there.up() == succeeded()
    assert history(there) == [LATER, LATER]
    assert there.identities() == before


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
def test_of_two_runs_at_once_one_wins_and_the_other_names_it(
    there: Stage, first: Command, seconds: Sequence[tuple[Command, int, str]]
) -> None:
    with there.workspace.start(*first(there)) as winner:
        until(lambda: lock_files(there), "the lock is there")
        with held(engine_of(there)) as pid:
            for second, code, words in seconds:
                loser = there.workspace.run(*second(there), check=False)
                assert loser.returncode == code, loser.stdout
                assert re.search(words.format(pid=pid, stack=there.name), loser.stdout)
            assert len(lock_files(there)) == 1
        printed, _ = winner.communicate(timeout=SECONDS)

    assert winner.returncode == 0, printed
    assert lock_files(there) == []
    assert history(there) == [FIRST]


def engine_of(stage: Stage) -> int:
    """The process of the CLI that deploys a stack."""
    mark = f"PULUMI_STACK={stage.name}".encode()
    found = [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/comm")
        if _read(path) == b"pulumi\n" and mark in _read(path.with_name("environ")).split(b"\0")
    ]
    assert len(found) == 1, found
    return found[0]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


@contextmanager
def held(pid: int) -> Iterator[int]:
    """Keep a process from going on."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield pid
    finally:
        os.kill(pid, signal.SIGCONT)
