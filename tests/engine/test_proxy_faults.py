"""Tests the faults that the proxy injects between a client and a real API server."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from urllib.parse import urlsplit

import pytest

from dev.controlplane import ControlPlane
from dev.controlplane.faults import (
    Fault,
    Request,
    Reset,
    Slow,
    Truncated,
    broken,
    overloaded,
    status,
    wrong_kind,
)
from dev.controlplane.proxy import Proxy, proxied

NAMESPACES = "/api/v1/namespaces"


@pytest.fixture
def faulty(plane: ControlPlane) -> Iterator[Proxy]:
    """Provide a proxy whose rule a test replaces."""
    with proxied(plane) as proxy:
        yield proxy


@pytest.fixture
def connection(faulty: Proxy) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection("127.0.0.1", urlsplit(faulty.url).port, timeout=30)) as connection:
        yield connection


def send(connection: HTTPConnection, method: str, path: str, body: object = None) -> HTTPResponse:
    headers = {"Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection.getresponse()


def test_a_rule_answers_as_the_api_server_would(faulty: Proxy, connection: HTTPConnection) -> None:
    faulty.rule = lambda _: broken()
    answer = send(connection, "GET", NAMESPACES)
    assert (answer.status, json.load(answer)) == (
        500,
        status(500, "InternalError", "etcdserver: request timed out"),
    )

    faulty.rule = lambda _: overloaded(7)
    answer = send(connection, "GET", NAMESPACES)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert json.load(answer)["reason"] == "TooManyRequests"

    faulty.rule = lambda _: wrong_kind()
    answer = send(connection, "GET", NAMESPACES)
    assert (answer.status, json.load(answer)["kind"]) == (200, "PartialObjectMetadataList")
    assert [exchange.status for exchange in faulty.log] == [500, 429, 200]


@pytest.mark.parametrize(("done", "expected"), [(False, 404), (True, 200)])
def test_a_reset_may_come_after_the_request_was_carried_out(
    faulty: Proxy, connection: HTTPConnection, plane: ControlPlane, *, done: bool, expected: int
) -> None:
    name = f"reset-{done}".lower()

    def rule(request: Request) -> Fault | None:
        return Reset(done) if request.method == "POST" else None

    faulty.rule = rule
    with pytest.raises(ConnectionResetError):
        send(connection, "POST", NAMESPACES, {"metadata": {"name": name}})

    connection.close()
    assert send(connection, "GET", f"{NAMESPACES}/{name}").status == expected
    assert [exchange.status for exchange in faulty.log] == [0, expected]
    if done:
        plane.kubectl("delete", "namespace", name, "--wait=false")


def test_a_truncated_answer_is_cut_in_the_middle(faulty: Proxy, connection: HTTPConnection) -> None:
    faulty.rule = lambda _: Truncated()

    for path in (f"{NAMESPACES}/default", f"{NAMESPACES}?watch=true"):
        answer = send(connection, "GET", path)
        assert answer.status == 200
        with pytest.raises(IncompleteRead):
            answer.read()
        connection.close()


def test_a_slow_answer_is_complete(faulty: Proxy, connection: HTTPConnection) -> None:
    faulty.rule = lambda _: Slow(0.1)

    assert json.load(send(connection, "GET", f"{NAMESPACES}/default"))["kind"] == "Namespace"


def test_a_proxy_that_stops_cuts_slow_answers(plane: ControlPlane) -> None:
    with proxied(plane, lambda _: Slow(3600)) as proxy:
        connection = HTTPConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=30)
        connection.request("GET", NAMESPACES)

    with closing(connection), pytest.raises(OSError, match=r"closed|reset"):
        connection.getresponse()


def test_cutting_watches_leaves_other_connections_open(
    faulty: Proxy, connection: HTTPConnection
) -> None:
    port = urlsplit(faulty.url).port
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as other:
        assert send(other, "GET", f"{NAMESPACES}/default").read()
        watch = send(connection, "GET", f"{NAMESPACES}?watch=true")
        assert json.loads(watch.readline())["type"] == "ADDED"

        assert faulty.cut_watches() == 1

        with pytest.raises((IncompleteRead, ConnectionResetError)):
            watch.read()
        assert send(other, "GET", f"{NAMESPACES}/default").status == 200
