"""Tests that the URL of a backend means the same to the packages as to the engine."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from pic.core.errors import EngineError
from pic.engine.backend.store_options import bucket_options, table_options

KEYWORDS = {"host", "port", "user", "password", "dbname", "sslmode", "connect_timeout", "options"}


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
    with pytest.raises(EngineError) as caught:
        bucket_of(f"s3://states?{name}=x")
    assert str(caught.value) == (
        f"pic prunes with credentials from the environment, not with {name}=… in the URL of the"
        " backend"
    )


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
