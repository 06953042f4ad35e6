"""Tests how pic opens backends, and lists, reads and removes their files."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self

import obstore
import psycopg
import pytest
from obstore.store import MemoryStore

from pic.core.errors import EngineError
from pic.engine.backend.stores import FolderStore, absolute, open_store


def error_of(call: Callable[[], object]) -> str:
    with pytest.raises(EngineError) as caught:
        call()
    return str(caught.value)


def open_and_close(url: str, load: Callable[[str], Any] = lambda _: None) -> None:
    with open_store(url, {}, load):
        pass


def fail_to_import(name: str) -> None:
    raise ImportError(name)


# Folders.


def folder_of(url: str) -> Path:
    with open_store(url) as store:
        assert isinstance(store, FolderStore)
        return store.root


@pytest.mark.parametrize(
    ("url", "folder"),
    [
        ("file:///var/state", "/var/state/.pulumi"),
        ("file:///var/../state?no_tmp_dir=true", "/state/.pulumi"),
        ("file:///var/my%20state?prefix=team/", "/var/my state/team/.pulumi"),
        ("file:///var/state?prefix=team-", "/var/state/team-.pulumi"),
    ],
)
def test_a_file_url_is_a_folder(url: str, folder: str) -> None:
    assert folder_of(url) == Path(folder)


def test_a_relative_file_url_counts_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert folder_of("file://./state") == tmp_path / "state/.pulumi"
    assert folder_of("file://") == tmp_path / ".pulumi"


def test_the_tilde_is_the_home_of_the_user_whatever_HOME_is(  # noqa: N802
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    home = pwd.getpwuid(os.getuid()).pw_dir

    assert absolute("file://~", Path("/")) == f"file://{home}"
    assert absolute("file://~/state", Path("/")) == f"file://{home}/state"


def test_the_tilde_of_a_user_without_a_name_is_HOME(  # noqa: N802
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", "/elsewhere")
    monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)

    assert absolute("file://~/state", Path("/")) == "file:///elsewhere/state"


def test_a_missing_file_does_not_count_as_removed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("1", "1.attrs"):
        (tmp_path / "a" / name).touch()

    assert FolderStore(tmp_path).remove("a", ["1", "2"]) == 1
    assert FolderStore(tmp_path).names("a") == []


def test_a_file_is_read_unless_it_has_just_gone(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "1").write_text("one")

    assert FolderStore(tmp_path).read("a", "1") == b"one"
    assert FolderStore(tmp_path).read("a", "2") is None
    assert error_of(lambda: FolderStore(tmp_path).read("a", ".")).startswith("[Errno 21]")


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    assert error_of(lambda: FolderStore(tmp_path).names("a")) == (
        f"[Errno 20] Not a directory: '{tmp_path}/a'"
    )


# Services and other backends.


@pytest.mark.parametrize("url", ["https://api.pulumi.com", "http://localhost:3000", ""])
def test_the_history_of_a_service_is_not_pruned(url: str) -> None:
    with open_store(url) as store:
        assert (store.names("a"), store.read("a", "b"), store.remove("a", ["b"])) == ([], None, 0)


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "azblob://states",
            "pic does not prune azblob:// backends; give the bucket a lifecycle rule for"
            " .pulumi/history/ and .pulumi/backups/",
        ),
        ("postgres://u:secret#1@host/db", "the URL of the backend cannot be read"),
        ("s3://[secret", "the URL of the backend cannot be read"),
    ],
)
def test_the_error_for_a_url_does_not_show_its_secrets(url: str, message: str) -> None:
    assert error_of(lambda: open_and_close(url, lambda _: psycopg)) == message


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [("s3://states", "obstore", "s3"), ("postgres://host/db", "psycopg", "postgres")],
)
def test_the_error_for_a_missing_package_says_how_to_install_it(
    url: str, package: str, extra: str
) -> None:
    assert error_of(lambda: open_and_close(url, fail_to_import)) == (
        f"the package {package} is missing: pip install 'pangolin-ingress-controller[{extra}]'"
    )


# Buckets.


def test_objects_of_a_bucket_are_listed_read_and_removed_below_the_path_of_the_url() -> None:
    memory = MemoryStore()
    for key in ("team/deep/.pulumi/a/1", "team/deep/.pulumi/a/2", ".pulumi/a/3"):
        memory.put(key, key[-1:].encode())
    fake = SimpleNamespace(
        store=SimpleNamespace(S3Store=lambda **_: memory), exceptions=obstore.exceptions
    )

    with open_store("s3://states/deep?prefix=team/", {}, lambda _: fake) as store:
        assert sorted(store.names("a")) == ["1", "2"]
        assert (store.read("a", "1"), store.read("a", "3")) == (b"1", None)
        assert store.remove("a", ["1"]) == 1
        assert store.names("a") == ["2"]


def test_a_bucket_that_cannot_be_opened_is_an_error() -> None:
    def refuse(**_: object) -> None:
        raise obstore.exceptions.GenericError("no such\nthing\n\nDebug source:\nGeneric {}")

    fake = SimpleNamespace(store=SimpleNamespace(S3Store=refuse), exceptions=obstore.exceptions)

    assert error_of(lambda: open_and_close("s3://states", lambda _: fake)) == "no such thing"


# Tables.


class Connection:
    """A connection that records its statements and answers each with two rows, or with none."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, object]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.statements.append(("closed", None))

    def execute(self, statement: psycopg.sql.Composed, values: list[object]) -> "Connection":
        self.statements.append((statement.as_string(), values[0]))
        return self

    def __iter__(self) -> Any:
        return iter([("states/.pulumi/a/1",), ("states/.pulumi/a/2",)])

    def fetchall(self) -> list[tuple[object]]:
        contents: dict[object, object] = {
            "states/.pulumi/a/1": b"one",
            "states/.pulumi/a/2": {"data": "dHdv"},
        }
        key = self.statements[-1][1]
        return [(contents[key],)] if key in contents else []

    rowcount = 1


def library(connect: Callable[..., object]) -> SimpleNamespace:
    return SimpleNamespace(connect=connect, sql=psycopg.sql, pq=psycopg.pq, Error=psycopg.Error)


def test_rows_of_a_table_are_listed_read_and_removed_below_the_name_of_the_database() -> None:
    connection = Connection()
    url = "postgres://db/states?table=Ours.State"

    with open_store(url, {}, lambda _: library(lambda **_: connection)) as store:
        assert store.names("a") == ["1", "2"]
        # The column has the type bytea in old tables, and json in new ones.
        assert [store.read("a", name) for name in ("1", "2", "3")] == [b"one", b"two", None]
        assert store.remove("a", ["1", "3"]) == 1
    assert connection.statements == [
        ('SELECT key FROM "ours"."state" WHERE starts_with(key, %s)', "states/.pulumi/a/"),
        ('SELECT data FROM "ours"."state" WHERE key = %s', "states/.pulumi/a/1"),
        ('SELECT data FROM "ours"."state" WHERE key = %s', "states/.pulumi/a/2"),
        ('SELECT data FROM "ours"."state" WHERE key = %s', "states/.pulumi/a/3"),
        (
            'DELETE FROM "ours"."state" WHERE key = ANY(%s)',
            ["states/.pulumi/a/1", "states/.pulumi/a/3"],
        ),
        ("closed", None),
    ]


def test_a_database_that_does_not_answer_is_an_error() -> None:
    def refuse(**_: object) -> None:
        raise psycopg.OperationalError("connection\n\trefused")

    assert error_of(lambda: open_and_close("postgres://db/states", lambda _: library(refuse))) == (
        "connection refused"
    )
