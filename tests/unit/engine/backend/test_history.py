"""Tests which entries of the history are pruned, and how pic finds the backend."""

import json
from pathlib import Path

import pytest

from pic.engine.backend.history import backend_url, prune


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def make_backend(root: Path, *names: str) -> str:
    for name in names:
        path = root / ".pulumi" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return f"file://{root}"


def test_the_newest_entries_stay_and_an_old_entry_is_removed_with_its_checkpoint(
    tmp_path: Path,
) -> None:
    url = make_backend(
        tmp_path,
        *(f"history/pic/prod/prod-{n}.history.json" for n in (9, 10, 11)),
        *(f"history/pic/prod/prod-{n}.checkpoint.json" for n in (9, 10, 11)),
        *(f"backups/pic/prod/prod.{n}.json" for n in (98, 99, 100)),
    )

    assert prune(url, "pic", "prod", 2) == 3
    assert files(tmp_path) == [
        ".pulumi/backups/pic/prod/prod.100.json",
        ".pulumi/backups/pic/prod/prod.99.json",
        ".pulumi/history/pic/prod/prod-10.checkpoint.json",
        ".pulumi/history/pic/prod/prod-10.history.json",
        ".pulumi/history/pic/prod/prod-11.checkpoint.json",
        ".pulumi/history/pic/prod/prod-11.history.json",
    ]
    assert prune(url, "pic", "prod", 2) == 0


def test_compressed_and_incomplete_entries_and_attributes_are_removed_too(tmp_path: Path) -> None:
    url = make_backend(
        tmp_path,
        "history/pic/prod/prod-1.history.json.gz",
        "history/pic/prod/prod-1.history.json.gz.attrs",
        "history/pic/prod/prod-2.checkpoint.json.zst",
        "backups/pic/prod/prod.1.json.gz",
        "backups/pic/prod/prod.1.json.gz.attrs",
        "backups/pic/prod/prod.2.json",
    )

    assert prune(url, "pic", "prod", 0) == 4
    assert files(tmp_path) == []


def test_no_other_file_is_removed(tmp_path: Path) -> None:
    names = [
        "backups/pic/prod/prod.1.json.mine",
        "backups/pic/prod/prod.json",
        "history/other/prod/prod-1.history.json",
        "history/pic/prod/notes",
        "history/pic/prod/prod-1.history.jsonl",
        "history/pic/prod/prod-x.history.json",
        "history/pic/prod/prxd-1.history.json",
        "history/pic/prod2/prod2-1.history.json",
        "locks/organization/pic/prod/1.json",
        "meta.yaml",
        "stacks/pic/prod.json",
        "stacks/pic/prod.json.1",
        "stacks/pic/prod.json.bak",
    ]
    url = make_backend(tmp_path, *names)

    assert prune(url, "pic", "prod", 0) == 0
    assert files(tmp_path) == [f".pulumi/{name}" for name in names]


def test_a_stack_without_history_has_nothing_to_remove(tmp_path: Path) -> None:
    assert prune(f"file://{tmp_path}", "pic", "prod", 50) == 0


def test_a_backend_that_cannot_be_pruned_is_reported_once_and_is_no_error() -> None:
    messages: list[str] = []

    assert prune("gs://states", "pic", "prod", 50, messages.append) == 0
    assert prune("gs://states", "pic", "prod", 50) == 0
    assert messages == [
        "the history of stack prod is not pruned: pic does not prune gs:// backends; give the"
        " bucket a lifecycle rule for .pulumi/history/ and .pulumi/backups/"
    ]


def test_the_backend_comes_from_the_environment_then_the_project_then_the_login(
    tmp_path: Path,
) -> None:
    login = {"PULUMI_HOME": str(tmp_path / "home")}
    (tmp_path / "home").mkdir()
    assert backend_url(tmp_path, login) == ""

    (tmp_path / "home" / "credentials.json").write_text(json.dumps({"current": "file:///login"}))
    assert backend_url(tmp_path, login) == "file:///login"

    (tmp_path / "Pulumi.yaml").write_text("name: pic\nbackend: {url: 'file://./state?a=b'}\n")
    assert backend_url(tmp_path, login) == f"file://{tmp_path}/state?a=b"

    variables = {**login, "PULUMI_BACKEND_URL": "s3://states"}
    assert backend_url(tmp_path, variables) == "s3://states"


@pytest.mark.parametrize(
    ("project", "login"),
    [
        ("name: pic\n", "{}"),
        ("- pic\n", "[]"),
        ("a: [\n", "{"),
        ("backend: {url: }", '{"current": null}'),
    ],
)
def test_files_that_name_no_backend_are_ignored(tmp_path: Path, project: str, login: str) -> None:
    (tmp_path / "Pulumi.yaml").write_text(project)
    (tmp_path / "credentials.json").write_text(login)

    assert backend_url(tmp_path, {"PULUMI_CREDENTIALS_PATH": str(tmp_path)}) == ""


def test_the_login_of_a_user_is_in_the_home_folder(tmp_path: Path) -> None:
    (tmp_path / ".pulumi").mkdir()
    (tmp_path / ".pulumi" / "credentials.json").write_text('{"current": "file:///login"}')

    assert backend_url(tmp_path, {"HOME": str(tmp_path)}) == "file:///login"
