"""Lists, reads and removes the files of a state backend: in a folder, a bucket or a database table.

The URL of a backend means the same here as in the Pulumi CLI, including its oddities. The packages
for buckets and tables are optional, and imported only for such a backend.
"""

import base64
import contextlib
import importlib
import os
import pwd
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pic.core.errors import EngineError
from pic.engine.backend.store_options import Query, bucket_options, table_options

DISTRIBUTION = "pangolin-ingress-controller"
FILE = "file://"
Load = Callable[[str], Any]


class Store(Protocol):
    """The files of a backend, in folders below `.pulumi`.

    All methods raise EngineError if the store cannot be used.
    """

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none if the folder does not exist."""

    def read(self, folder: str, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove files from a folder, and return how many existed."""


@contextmanager
def open_store(
    url: str, environment: Mapping[str, str] = os.environ, load: Load = importlib.import_module
) -> Iterator[Store]:
    """Open the store that the URL of a backend names.

    Args:
        url: The URL as the CLI has it.
        environment: Holds the defaults of libpq, such as PGHOST.
        load: Imports an optional package.

    Raises:
        EngineError: pic does not support such a backend, or the store cannot be used.
    """
    parts = split(url)
    query = dict(parse_qsl(parts.query))
    if files := folder(url, Path.cwd()):
        yield files
        return
    match parts.scheme:
        case "s3":
            yield _bucket(_import("obstore", "s3", load), parts, query)
        case "postgres":
            with _table(_import("psycopg", "postgres", load), parts, query, environment) as store:
                yield store
        case "http" | "https" | "":
            yield NoStore()
        case other:
            raise EngineError(
                f"pic does not prune {other}:// backends; give the bucket a lifecycle rule for"
                " .pulumi/history/ and .pulumi/backups/"
            )


class NoStore:
    """A service, such as Pulumi Cloud. It prunes its history itself, so pic removes nothing."""

    def names(self, _folder: str) -> list[str]:
        """Return nothing."""
        return []

    def read(self, _folder: str, _name: str) -> bytes | None:
        """Return nothing."""
        return None

    def remove(self, _folder: str, _names: Sequence[str]) -> int:
        """Remove nothing."""
        return 0


@dataclass(frozen=True, slots=True)
class FolderStore:
    """A folder of this host. A `file://` backend has a file of attributes for each file."""

    root: Path

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder."""
        with _as_engine_error(OSError), contextlib.suppress(FileNotFoundError):
            return os.listdir(self.root / folder)  # noqa: PTH208 - only names are needed
        return []

    def read(self, folder: str, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        with _as_engine_error(OSError), contextlib.suppress(FileNotFoundError):
            return (self.root / folder / name).read_bytes()
        return None

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove files with their attributes. A file and its attributes count as one."""
        with _as_engine_error(OSError):
            return sum(self._unlink(self.root / folder / name) for name in names)

    def _unlink(self, path: Path) -> bool:
        path.with_name(f"{path.name}.attrs").unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
            return True
        return False


def folder(url: str, root: Path) -> FolderStore | None:
    """Return the folder of a `file://` backend as the CLI reads its URL; None for other backends.

    Args:
        url: The URL as the CLI has it.
        root: The folder of Pulumi.yaml, where a relative path starts.

    Raises:
        EngineError: The URL cannot be read.
    """
    parts = split(url)
    if parts.scheme != "file":
        return None
    prefix = dict(parse_qsl(parts.query)).get("prefix", "")
    return FolderStore(Path(f"{_folder(url, root)}/{prefix}.pulumi"))


@dataclass(frozen=True, slots=True)
class BucketStore:
    """A bucket. S3 does not say which of the removed objects existed, so all of them count.

    Attributes:
        obstore: The package.
        bucket: A store of that package.
        base: The prefix of all keys.
    """

    obstore: Any
    bucket: Any
    base: str

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects below a folder."""
        prefix = f"{self.base}.pulumi/{folder}/"
        with _as_engine_error(self.obstore.exceptions.BaseError):
            pages = list(self.bucket.list(prefix))
        return [entry["path"].removeprefix(prefix) for page in pages for entry in page]

    def read(self, folder: str, name: str) -> bytes | None:
        """Return the content of an object; None if it does not exist."""
        with _as_engine_error(self.obstore.exceptions.BaseError):
            try:
                answer = self.bucket.get(f"{self.base}.pulumi/{folder}/{name}")
                return bytes(answer.bytes())
            except (FileNotFoundError, self.obstore.exceptions.NotFoundError):
                return None

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove objects. The package sends a thousand keys in one request."""
        with _as_engine_error(self.obstore.exceptions.BaseError):
            self.bucket.delete([f"{self.base}.pulumi/{folder}/{name}" for name in names])
        return len(names)


@dataclass(frozen=True, slots=True)
class TableStore:
    """A table of a PostgreSQL database, with a row for each file.

    Attributes:
        psycopg: The package.
        connection: A connection in autocommit mode, so a later failure undoes no removal.
        table: The name of the table, as in the URL.
        base: The prefix of all keys.
    """

    psycopg: Any
    connection: Any
    table: str
    base: str

    def names(self, folder: str) -> list[str]:
        """Return the names of the rows below a folder."""
        prefix = f"{self.base}.pulumi/{folder}/"
        with _as_engine_error(self.psycopg.Error):
            rows = self._execute("SELECT key FROM {} WHERE starts_with(key, %s)", prefix)
            return [row[0].removeprefix(prefix) for row in rows]

    def read(self, folder: str, name: str) -> bytes | None:
        """Return the content of a row; None if it does not exist."""
        key = f"{self.base}.pulumi/{folder}/{name}"
        with _as_engine_error(self.psycopg.Error):
            rows = self._execute("SELECT data FROM {} WHERE key = %s", key).fetchall()
        return next((_content(row[0]) for row in rows), None)

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove rows in one statement."""
        keys = [f"{self.base}.pulumi/{folder}/{name}" for name in names]
        with _as_engine_error(self.psycopg.Error):
            removed: int = self._execute("DELETE FROM {} WHERE key = ANY(%s)", keys).rowcount
            return removed

    def _execute(self, statement: str, value: str | list[str]) -> Any:
        # The CLI does not quote the name, so PostgreSQL reads it in lower case. It may have a
        # schema.
        name = self.psycopg.sql.Identifier(*self.table.lower().split("."))
        return self.connection.execute(self.psycopg.sql.SQL(statement).format(name), [value])


def _bucket(obstore: Any, parts: SplitResult, query: Query) -> BucketStore:
    with _as_engine_error(obstore.exceptions.BaseError):
        bucket = obstore.store.S3Store(**bucket_options(parts, query))
    return BucketStore(obstore, bucket, _base(parts, query))


@contextmanager
def _table(
    psycopg: Any,
    parts: SplitResult,
    query: Query,
    environment: Mapping[str, str],
) -> Iterator[TableStore]:
    keywords = {str(option.keyword, "ascii") for option in psycopg.pq.Conninfo.get_defaults()}
    options = table_options(parts, query, environment, keywords)
    with _as_engine_error(psycopg.Error):
        connection = psycopg.connect(**options, autocommit=True)
    with connection:
        table = query.get("table", "pulumi_state")
        yield TableStore(psycopg, connection, table, _base(parts, query))


def _content(value: Any) -> bytes:
    """Return a file from its column: json, or bytea in a table of an old release of the CLI."""
    return value if isinstance(value, bytes) else base64.b64decode(value["data"])


def absolute(url: str, root: Path) -> str:
    """Return the URL of a backend with an absolute path."""
    if not url.startswith(FILE):
        return url
    path, mark, query = url.removeprefix(FILE).partition("?")
    return f"{FILE}{_expanded(path, root)}{mark}{query}"


def _folder(url: str, root: Path) -> Path:
    path = absolute(url, root).removeprefix(FILE).partition("?")[0]
    return Path(unquote(path))


def _expanded(path: str, root: Path) -> Path:
    """Expand a path as massageBlobPath of pulumi/pulumi does.

    `~` is the home folder of the user database, whatever HOME is. The CLI drops the character after
    `~` without looking at it.
    """
    if path.startswith("~"):
        return _home() / path[2:].lstrip("/")
    return Path(os.path.abspath(root / path))  # noqa: PTH100 - the CLI resolves no links


def _home() -> Path:
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run as a user that has no entry
        return Path.home()


def _base(parts: SplitResult, query: Query) -> str:
    """Return the prefix of all keys of a backend; for a database that is its name."""
    folder = unquote(parts.path).lstrip("/")
    slash = "/" if folder and not folder.endswith("/") else ""
    return f"{query.get('prefix', '')}{folder}{slash}"


def split(url: str) -> SplitResult:
    """Split the URL of a backend.

    Raises:
        EngineError: It cannot be read. The message does not show it: it may hold a password.
    """
    try:
        return urlsplit(url)
    except ValueError:
        raise EngineError("the URL of the backend cannot be read") from None


def _import(package: str, extra: str, load: Load) -> Any:
    try:
        return load(package)
    except ImportError:
        raise EngineError(
            f"the package {package} is missing: pip install '{DISTRIBUTION}[{extra}]'"
        ) from None


@contextmanager
def _as_engine_error(kind: type[BaseException]) -> Iterator[None]:
    """Turn the exceptions of another package into an EngineError."""
    try:
        yield
    except kind as error:
        # obstore appends many lines of debug output.
        message, _, _ = str(error).partition("Debug source:")
        raise EngineError(" ".join(message.split())) from error
