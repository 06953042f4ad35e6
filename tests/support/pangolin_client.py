"""Connects our client to a simulated Pangolin, and builds what it should publish."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from dev.pangolin_api import V1_18, Pangolin
from pic.core.errors import FailureClass, PangolinError
from pic.pangolin_api import naming
from pic.pangolin_api.client import Client, Server, connect
from pic.pangolin_api.connection import KEY, Timeouts
from pic.pangolin_api.model import Target, Wanted
from pic.pangolin_api.openapi import Dialect
from tests.support.pangolin_api import HOST

STACK, STACK_ID = "prod", "0123456789abcdef"
QUICK = Timeouts(backoff=0.001, retries=2, health=2.0)
# For a server that never answers.
IMPATIENT = replace(QUICK, read=0.2)
TARGET = Target(1, "10.0.0.1", 80)
OTHER = Target(1, "10.0.0.2", 80)


def wanted(host: str = HOST, **fields: Any) -> Wanted:
    subdomain = host.removesuffix("example.com").rstrip(".") or None
    nice = naming.nice_id(STACK, STACK_ID, host)
    return replace(Wanted(host, nice, "domain1", subdomain, (TARGET,)), **fields)


def client_of(
    server: Pangolin, timeouts: Timeouts = QUICK, dialect: Dialect | None = None
) -> Client:
    client = connect(Server(server.url, "home"), {KEY: server.key}, timeouts, dialect)
    client.sleep = lambda _: None
    return client


@contextmanager
def pangolin(version: tuple[int, int] = V1_18) -> Iterator[tuple[Pangolin, Client]]:
    with Pangolin(version=version) as server:
        client = client_of(server)
        server.log.clear()
        yield server, client


@contextmanager
def fails(kind: FailureClass, *parts: str) -> Iterator[None]:
    """Expect an error of a class whose message has these parts."""
    with pytest.raises(PangolinError) as caught:
        yield
    message = str(caught.value)
    assert caught.value.kind is kind, message
    assert [part for part in parts if part not in message] == [], message
