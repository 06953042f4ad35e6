"""The faults of the proxy, as a client meets them; the API server is a real one."""

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

WHERE = "/api/v1/namespaces"


@pytest.fixture
def faulty(plane: ControlPlane) -> Iterator[Proxy]:
    """A proxy whose rule a test replaces."""
    with proxied(plane) as made:
        yield made


@pytest.fixture
def connection(faulty: Proxy) -> Iterator[HTTPConnection]:
    with closing(HTTPConnection("127.0.0.1", urlsplit(faulty.url).port, timeout=30)) as made:
        yield made


def ask(connection: HTTPConnection, method: str, path: str, body: object = None) -> HTTPResponse:
    headers = {"Content-Type": "application/json"}
    connection.request(method, path, None if body is None else json.dumps(body), headers)
    return connection.getresponse()


def test_a_rule_answers_in_the_words_of_the_api_server(
    faulty: Proxy, connection: HTTPConnection
) -> None:
    faulty.rule = lambda _: broken()
    answer = ask(connection, "GET", WHERE)
    assert (answer.status, json.load(answer)) == (
        500,
        status(500, "InternalError", "etcdserver: request timed out"),
    )

    faulty.rule = lambda _: overloaded(7)
    answer = ask(connection, "GET", WHERE)
    assert (answer.status, answer.headers["Retry-After"]) == (429, "7")
    assert json.load(answer)["reason"] == "TooManyRequests"

    faulty.rule = lambda _: wrong_kind()
    answer = ask(connection, "GET", WHERE)
    assert (answer.status, json.load(answer)["kind"]) == (200, "PartialObjectMetadataList")
    assert [each.status for each in faulty.log] == [500, 429, 200]


@pytest.mark.parametrize(("done", "found"), [(False, 404), (True, 200)])
def test_a_reset_may_come_after_the_deed(
    faulty: Proxy, connection: HTTPConnection, plane: ControlPlane, *, done: bool, found: int
) -> None:
    name = f"reset-{done}".lower()

    def rule(request: Request) -> Fault | None:
        return Reset(done) if request.method == "POST" else None

    faulty.rule = rule
    with pytest.raises(ConnectionResetError):
        ask(connection, "POST", WHERE, {"metadata": {"name": name}})

    connection.close()
    assert ask(connection, "GET", f"{WHERE}/{name}").status == found
    assert [each.status for each in faulty.log] == [0, found]
    if done:
        plane.kubectl("delete", "namespace", name, "--wait=false")


def test_a_truncated_answer_breaks_off(faulty: Proxy, connection: HTTPConnection) -> None:
    faulty.rule = lambda _: Truncated()

    for path in (f"{WHERE}/default", f"{WHERE}?watch=true"):
        answer = ask(connection, "GET", path)
        assert answer.status == 200
        with pytest.raises(IncompleteRead):
            answer.read()
        connection.close()


def test_a_slow_answer_is_whole(faulty: Proxy, connection: HTTPConnection) -> None:
    faulty.rule = lambda _: Slow(0.1)

    assert json.load(ask(connection, "GET", f"{WHERE}/default"))["kind"] == "Namespace"


def test_a_slow_answer_does_not_outlive_the_proxy(plane: ControlPlane) -> None:
    with proxied(plane, lambda _: Slow(3600)) as proxy:
        made = HTTPConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=30)
        made.request("GET", WHERE)

    with closing(made), pytest.raises(OSError, match=r"closed|reset"):
        made.getresponse()


def test_watches_are_cut_and_nothing_else(faulty: Proxy, connection: HTTPConnection) -> None:
    port = urlsplit(faulty.url).port
    with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as other:
        assert ask(other, "GET", f"{WHERE}/default").read()
        watch = ask(connection, "GET", f"{WHERE}?watch=true")
        assert json.loads(watch.readline())["type"] == "ADDED"

        assert faulty.cut_watches() == 1

        with pytest.raises((IncompleteRead, ConnectionResetError)):
            watch.read()
        assert ask(other, "GET", f"{WHERE}/default").status == 200
