"""Translates the URL of a backend into the options of the packages for buckets and tables."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import SplitResult, unquote

from pic.core.errors import EngineError

# A store that does not answer must not delay the end of a run for long.
TIMEOUT_SECONDS = 10

Query = Mapping[str, str]


def bucket_options(parts: SplitResult, query: Query) -> dict[str, Any]:
    """Translate the URL of an `s3://` backend into arguments of obstore's S3Store.

    Credentials come from the environment, or from the metadata service of the machine.

    Raises:
        EngineError: The URL names credentials in a way that only the CLI supports.
    """
    for name in ("profile", "role"):
        if name in query:
            raise EngineError(
                f"pic prunes with credentials from the environment, not with {name}=… in the URL of"
                " the backend"
            )
    timeout = timedelta(seconds=TIMEOUT_SECONDS)
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
        "client_options": {"timeout": timeout, "allow_http": endpoint.startswith("http://")},
        "retry_config": {"max_retries": 2, "retry_timeout": timeout},
        **{name: value for name, value in optional.items() if value},
    }


def table_options(
    parts: SplitResult, query: Query, environment: Mapping[str, str], keywords: set[str]
) -> dict[str, Any]:
    """Translate the URL of a `postgres://` backend into connection parameters of libpq.

    The CLI's driver has other defaults than libpq. It sets a query parameter that is no connection
    parameter as a run-time parameter of the session.

    Args:
        parts: The parts of the URL.
        query: The query of the URL.
        environment: Holds the defaults of libpq, such as PGHOST.
        keywords: The connection parameters that libpq has.

    Raises:
        EngineError: The URL cannot be read. The message does not show it: it may hold a password.
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
        "connect_timeout": environment.get("PGCONNECT_TIMEOUT") or TIMEOUT_SECONDS,
    }
    others = {name: value for name, value in query.items() if name not in ("table", "prefix")}
    session = [
        f"-c {name}={_escaped(others[name])}" for name in sorted(others) if name not in keywords
    ]
    connection = {name: value for name, value in others.items() if name in keywords}
    options = " ".join([*filter(None, [connection.pop("options", "")]), *session])
    parameters = {**address, **connection, "options": options}
    return {name: value for name, value in parameters.items() if value}


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
