"""Tests how pic reads the URLs of backends, and lists and removes their files."""

import os
import pwd
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import obstore
import psycopg
import pytest
from obstore.store import MemoryStore

from pic.core.errors import EngineError
from pic.engine.backend.stores import (
    FolderStore,
    absolute,
    bucket_options,
    open_store,
    table_options,
)

KEYWORDS = {"host", "port", "user", "password", "dbname", "sslmode", "connect_timeout", "options"}


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


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").touch()

    assert error_of(lambda: FolderStore(tmp_path).names("a")) == (
        f"[Errno 20] Not a directory: '{tmp_path}/a'"
    )


# Services and other backends.


@pytest.mark.parametrize("url", ["https://api.pulumi.com", "http://localhost:3000", ""])
def test_the_history_of_a_service_is_not_pruned(url: str) -> None:
    with open_store(url) as store:
        assert (store.names("a"), store.remove("a", ["b"])) == ([], 0)


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


def bucket_of(url: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return bucket_options(parts, dict(parse_qsl(parts.query)))


BUCKET = {
    "bucket": "states",
    "virtual_hosted_style_request": True,
    "skip_signature": False,
    "client_options": {"timeout": timedelta(seconds=10), "allow_http": False},
    "retry_config": {"max_retries": 2, "retry_timeout": timedelta(seconds=10)},
}
PLAIN = {"timeout": timedelta(seconds=10), "allow_http": True}


@pytest.mark.parametrize(
    ("query", "options"),
    [
        ("", {}),
        ("region=eu-west-1&anonymous=true", {"region": "eu-west-1", "skip_signature": True}),
        (
            "endpoint=minio:9000&s3ForcePathStyle=true&disableSSL=true",
            {
                "endpoint": "http://minio:9000",
                "virtual_hosted_style_request": False,
                "client_options": PLAIN,
            },
        ),
        (
            "endpoint=minio:9000&use_path_style=1",
            {"endpoint": "https://minio:9000", "virtual_hosted_style_request": False},
        ),
        ("endpoint=http://a.org", {"endpoint": "http://states.a.org", "client_options": PLAIN}),
    ],
)
def test_an_s3_url_means_the_same_as_to_the_engine(query: str, options: Mapping[str, Any]) -> None:
    assert bucket_of(f"s3://states/deep?{query}") == {**BUCKET, **options}


@pytest.mark.parametrize("name", ["profile", "role"])
def test_credentials_in_the_url_of_a_bucket_are_an_error(name: str) -> None:
    assert error_of(lambda: bucket_of(f"s3://states?{name}=x")) == (
        f"pic prunes with credentials from the environment, not with {name}=… in the URL of the"
        " backend"
    )


def test_objects_of_a_bucket_are_listed_and_removed_below_the_path_of_the_url() -> None:
    memory = MemoryStore()
    for key in ("team/deep/.pulumi/a/1", "team/deep/.pulumi/a/2", ".pulumi/a/3"):
        memory.put(key, b"")
    fake = SimpleNamespace(
        store=SimpleNamespace(S3Store=lambda **_: memory), exceptions=obstore.exceptions
    )

    with open_store("s3://states/deep?prefix=team/", {}, lambda _: fake) as store:
        assert sorted(store.names("a")) == ["1", "2"]
        assert store.remove("a", ["1"]) == 1
        assert store.names("a") == ["2"]


def test_a_bucket_that_cannot_be_opened_is_an_error() -> None:
    def refuse(**_: object) -> None:
        raise obstore.exceptions.GenericError("no such\nthing\n\nDebug source:\nGeneric {}")

    fake = SimpleNamespace(store=SimpleNamespace(S3Store=refuse), exceptions=obstore.exceptions)

    assert error_of(lambda: open_and_close("s3://states", lambda _: fake)) == "no such thing"


# Tables.


def table_of(url: str, **environment: str) -> dict[str, Any]:
    parts = urlsplit(url)
    return table_options(parts, dict(parse_qsl(parts.query)), environment, KEYWORDS)


DATABASE = {"host": "localhost", "sslmode": "require", "connect_timeout": 10}


@pytest.mark.parametrize(
    ("url", "environment", "options"),
    [
        ("postgres://", {}, {}),
        (
            "postgres://",
            {"PGHOST": "db", "PGSSLMODE": "disable", "PGCONNECT_TIMEOUT": "3"},
            {"host": "db", "sslmode": "disable", "connect_timeout": "3"},
        ),
        (
            "postgres://me:p%40ss@db:99/states?table=mine&sslmode=verify-full&prefix=x",
            {"PGHOST": "other", "PGSSLMODE": "disable"},
            {
                "host": "db",
                "port": 99,
                "user": "me",
                "password": "p@ss",
                "dbname": "states",
                "sslmode": "verify-full",
            },
        ),
        (
            "postgres://?search_path=a b&options=-c x=1&TimeZone=UTC",
            {},
            {"options": "-c x=1 -c TimeZone=UTC -c search_path=a\\ b"},
        ),
    ],
)
def test_a_postgres_url_means_the_same_as_to_the_engine(
    url: str, environment: Mapping[str, str], options: Mapping[str, Any]
) -> None:
    assert table_of(url, **environment) == {**DATABASE, **options}


class Connection:
    """A connection that records its statements and answers each with two rows."""

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

    rowcount = 1


def library(connect: Callable[..., object]) -> SimpleNamespace:
    return SimpleNamespace(connect=connect, sql=psycopg.sql, pq=psycopg.pq, Error=psycopg.Error)


def test_rows_of_a_table_are_listed_and_removed_below_the_name_of_the_database() -> None:
    connection = Connection()
    url = "postgres://db/states?table=Ours.State"

    with open_store(url, {}, lambda _: library(lambda **_: connection)) as store:
        assert store.names("a") == ["1", "2"]
        assert store.remove("a", ["1", "3"]) == 1
    assert connection.statements == [
        ('SELECT key FROM "ours"."state" WHERE starts_with(key, %s)', "states/.pulumi/a/"),
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
