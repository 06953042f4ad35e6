"""The files that the engine's state backends hold: in a folder, in a bucket, in a table.

The packages for buckets and tables are optional, and imported only when such a backend is used.
"""

import contextlib
import importlib
import os
import pwd
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from pic.core.errors import EngineError

DISTRIBUTION = "pangolin-ingress-controller"
FILE = "file://"
# A store that does not answer must not keep a run that is done.
SECONDS = 10

Query = Mapping[str, str]
Load = Callable[[str], Any]


class Store(Protocol):
    """Files in folders below `.pulumi`.

    Both methods raise EngineError when the store cannot be used.
    """

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder; none when there is no such folder."""

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove files from a folder, and return how many were there."""


@contextmanager
def opened(
    url: str, environment: Mapping[str, str] = os.environ, load: Load = importlib.import_module
) -> Iterator[Store]:
    """Open the store behind the URL of a backend.

    Args:
        url: As the CLI knows it.
        environment: Where libpq's defaults come from.
        load: Imports an optional package.

    Raises:
        EngineError: There is no way to remove files there, or it cannot be used.
    """
    parts = _split(url)
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
    """A service, such as Pulumi Cloud: it holds no files of ours, and minds its history itself."""

    def names(self, _folder: str) -> list[str]:
        """Return nothing."""
        return []

    def remove(self, _folder: str, _names: Sequence[str]) -> int:
        """Remove nothing."""
        return 0


@dataclass(frozen=True, slots=True)
class FolderStore:
    """A folder of this host; a `file://` backend keeps a file of attributes beside each file."""

    root: Path

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder."""
        with _words_of(OSError), contextlib.suppress(FileNotFoundError):
            return os.listdir(self.root / folder)  # noqa: PTH208 - names are all that is needed
        return []

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove files with their attributes; one of each pair counts."""
        with _words_of(OSError):
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
        url: As the CLI knows it.
        root: The folder that a relative path starts at: that of Pulumi.yaml.

    Raises:
        EngineError: The URL cannot be read.
    """
    parts = _split(url)
    if parts.scheme != "file":
        return None
    prefix = dict(parse_qsl(parts.query)).get("prefix", "")
    return FolderStore(Path(f"{_folder(url, root)}/{prefix}.pulumi"))


@dataclass(frozen=True, slots=True)
class BucketStore:
    """A bucket; S3 does not say which of the removed objects were there, so all count.

    Attributes:
        obstore: The package.
        bucket: A store of that package.
        base: What the keys begin with.
    """

    obstore: Any
    bucket: Any
    base: str

    def names(self, folder: str) -> list[str]:
        """Return the names of the objects below a folder."""
        prefix = f"{self.base}.pulumi/{folder}/"
        with _words_of(self.obstore.exceptions.BaseError):
            pages = list(self.bucket.list(prefix))
        return [each["path"].removeprefix(prefix) for page in pages for each in page]

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove objects, a thousand in a request."""
        with _words_of(self.obstore.exceptions.BaseError):
            self.bucket.delete([f"{self.base}.pulumi/{folder}/{name}" for name in names])
        return len(names)


@dataclass(frozen=True, slots=True)
class TableStore:
    """A table of a PostgreSQL database, with a row for each file.

    Attributes:
        psycopg: The package.
        connection: In autocommit: what is removed stays removed.
        table: Its name, as it stands in the URL.
        base: What the keys begin with.
    """

    psycopg: Any
    connection: Any
    table: str
    base: str

    def names(self, folder: str) -> list[str]:
        """Return the names of the rows below a folder."""
        prefix = f"{self.base}.pulumi/{folder}/"
        with _words_of(self.psycopg.Error):
            found = self._execute("SELECT key FROM {} WHERE starts_with(key, %s)", prefix)
            return [row[0].removeprefix(prefix) for row in found]

    def remove(self, folder: str, names: Sequence[str]) -> int:
        """Remove rows in one statement."""
        keys = [f"{self.base}.pulumi/{folder}/{name}" for name in names]
        with _words_of(self.psycopg.Error):
            removed: int = self._execute("DELETE FROM {} WHERE key = ANY(%s)", keys).rowcount
            return removed

    def _execute(self, statement: str, value: str | list[str]) -> Any:
        # The CLI writes the name without quotes, so it is folded, and may name a schema.
        name = self.psycopg.sql.Identifier(*self.table.lower().split("."))
        return self.connection.execute(self.psycopg.sql.SQL(statement).format(name), [value])


def _bucket(obstore: Any, parts: SplitResult, query: Query) -> BucketStore:
    with _words_of(obstore.exceptions.BaseError):
        bucket = obstore.store.S3Store(**bucket_options(parts, query))
    return BucketStore(obstore, bucket, _base(parts, query))


@contextmanager
def _table(
    psycopg: Any,
    parts: SplitResult,
    query: Query,
    environment: Mapping[str, str],
) -> Iterator[TableStore]:
    known = {str(each.keyword, "ascii") for each in psycopg.pq.Conninfo.get_defaults()}
    options = table_options(parts, query, environment, known)
    with _words_of(psycopg.Error):
        connection = psycopg.connect(**options, autocommit=True)
    with connection:
        table = query.get("table", "pulumi_state")
        yield TableStore(psycopg, connection, table, _base(parts, query))


def bucket_options(parts: SplitResult, query: Query) -> dict[str, Any]:
    """Say what the URL of an `s3://` backend means, in the words of obstore.

    Credentials come from the environment, or from the metadata of the machine.

    Raises:
        EngineError: It asks for credentials in a way that only the CLI knows.
    """
    for name in ("profile", "role"):
        if name in query:
            raise EngineError(
                f"pic prunes with credentials from the environment, not with {name}=… in the URL of"
                " the backend"
            )
    limit = timedelta(seconds=SECONDS)
    endpoint = _endpoint(query)
    path_style = _is_true(query, "s3ForcePathStyle") or _is_true(query, "use_path_style")
    if endpoint and not path_style:
        scheme, _, host = endpoint.partition("://")
        endpoint = f"{scheme}://{parts.netloc}.{host}"
    optional = {"endpoint": endpoint, "region": query.get("region")}
    return {
        "bucket": parts.netloc,
        "virtual_hosted_style_request": not path_style,
        "skip_signature": _is_true(query, "anonymous"),
        "client_options": {"timeout": limit, "allow_http": endpoint.startswith("http://")},
        "retry_config": {"max_retries": 2, "retry_timeout": limit},
        **{name: value for name, value in optional.items() if value},
    }


def table_options(
    parts: SplitResult, query: Query, environment: Mapping[str, str], known: set[str]
) -> dict[str, Any]:
    """Say what the URL of a `postgres://` backend means, in the words of libpq.

    The CLI's driver has other defaults, and takes what it does not know for a run-time parameter.

    Raises:
        EngineError: The URL cannot be read; what is in it is not shown.
    """
    try:
        port = parts.port
    except ValueError:
        raise EngineError("the URL of the backend cannot be read") from None
    address = {
        "host": parts.hostname or environment.get("PGHOST") or "localhost",
        "port": port,
        "user": unquote(parts.username or ""),
        "password": unquote(parts.password or ""),
        "dbname": unquote(parts.path.strip("/")),
        "sslmode": environment.get("PGSSLMODE") or "require",
        "connect_timeout": environment.get("PGCONNECT_TIMEOUT") or SECONDS,
    }
    asked = {name: value for name, value in query.items() if name not in ("table", "prefix")}
    session = [f"-c {name}={_escaped(asked[name])}" for name in sorted(asked) if name not in known]
    given = {name: value for name, value in asked.items() if name in known}
    options = " ".join([*filter(None, [given.pop("options", "")]), *session])
    whole = {**address, **given, "options": options}
    return {name: value for name, value in whole.items() if value}


def absolute(url: str, root: Path) -> str:
    """Return the URL of a backend that means the same in every working directory."""
    if not url.startswith(FILE):
        return url
    path, mark, query = url.removeprefix(FILE).partition("?")
    return f"{FILE}{_expanded(path, root)}{mark}{query}"


def _folder(url: str, root: Path) -> Path:
    path = absolute(url, root).removeprefix(FILE).partition("?")[0]
    return Path(unquote(path))


def _expanded(path: str, root: Path) -> Path:
    """As massageBlobPath of pulumi/pulumi: HOME has no say, and the letter after ~ is a slash."""
    if path.startswith("~"):
        return _home() / path[2:].lstrip("/")
    return Path(os.path.abspath(root / path))  # noqa: PTH100 - links stay


def _home() -> Path:
    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:  # a container may run as a user without a name
        return Path.home()


def _base(parts: SplitResult, query: Query) -> str:
    """What the keys of a backend begin with; for a database that is its name."""
    folder = unquote(parts.path).lstrip("/")
    slash = "/" if folder and not folder.endswith("/") else ""
    return f"{query.get('prefix', '')}{folder}{slash}"


def _endpoint(query: Query) -> str:
    endpoint = query.get("endpoint", "")
    if not endpoint or "://" in endpoint:
        return endpoint
    plain = _is_true(query, "disableSSL") or _is_true(query, "disable_https")
    return f"{'http' if plain else 'https'}://{endpoint}"


def _is_true(query: Query, name: str) -> bool:
    return query.get(name, "").lower() in ("1", "t", "true")


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(" ", "\\ ")


def _split(url: str) -> SplitResult:
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
def _words_of(kind: type[BaseException]) -> Iterator[None]:
    """Let no exception of another package out."""
    try:
        yield
    except kind as error:
        # obstore adds its own view of the matter, over many lines.
        said, _, _ = str(error).partition("Debug source:")
        raise EngineError(" ".join(said.split())) from error
