"""Tests the port of a watcher: its answers, and its limits."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection

import pytest

from pic.core.errors import SettingsError
from pic.watch import health, http_server
from pic.watch.health import Health
from pic.watch.http_server import MAX_CONNECTIONS, HttpPage
from pic.watch.probes import MaxAges
from tests.support.waiting import until

LOCALHOST = "127.0.0.1"
PAGES = {"/healthz": lambda: HttpPage(200, b"ok\n")}


@contextmanager
def served(health_state: Health) -> Iterator[int]:
    with health.serve((LOCALHOST, 0), health_state) as port:
        yield port


def get(port: int, path: str, method: str = "GET", host: str = LOCALHOST) -> tuple[int, str, str]:
    """Return status, content type and body."""
    with closing(HTTPConnection(host, port, timeout=10)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def send(port: int, data: bytes) -> bytes:
    """Send bytes and return the whole answer."""
    with socket.create_connection((LOCALHOST, port), timeout=10) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: client.recv(4096), b""))


def test_a_healthy_watcher_answers_200() -> None:
    plain, now = "text/plain; charset=utf-8", time.monotonic()
    healthy = Health(MaxAges(), version="1")
    healthy.leading(yes=True)
    healthy.synced("Ingress", ok=True)
    healthy.contact(now)
    healthy.run_ended(now, {"exitCode": 0})
    with served(healthy) as port:
        assert get(port, "/healthz") == (200, plain, "[+]loop\n")
        assert get(port, "/readyz?verbose") == (
            200,
            plain,
            "[+]leader\n[+]api\n[+]cache Ingress\n[+]run\n[+]target pangolin\n",
        )
        status, kind, body = get(port, "/metrics")

    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert 'pic_build_info{version="1"} 1.0\n' in body
    assert 'pic_runs_total{outcome="unchanged"} 1.0\n' in body


def test_an_unhealthy_watcher_answers_503() -> None:
    with served(Health(MaxAges(beat=-1))) as port:
        status, _, body = get(port, "/healthz")
        assert (status, body[:7]) == (503, "[-]loop")
        assert get(port, "/readyz")[::2] == (503, "[-]leader: not known yet\n")


def test_other_paths_are_not_found() -> None:
    with served(Health()) as port:
        for path in ("/", "/healthz/", "/../etc/passwd", "/favicon.ico"):
            assert get(port, path)[::2] == (404, "page not found\n")


def test_a_head_request_gets_the_status_and_no_body() -> None:
    with served(Health()) as port:
        assert get(port, "/healthz", "HEAD")[::2] == (200, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"])
def test_other_methods_are_not_allowed(method: str) -> None:
    with served(Health()) as port:
        assert send(port, f"{method} /healthz HTTP/1.0\r\n\r\n".encode()) == (
            b"HTTP/1.0 405 Method Not Allowed\r\n"
            b"Allow: GET, HEAD\r\n"
            b"Content-Type: text/plain; charset=utf-8\r\n"
            b"Content-Length: 16\r\n\r\n"
            b"use GET or HEAD\n"
        )


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense of too many data here\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.0\r\n\r\n", b"414"),
        (b"GET / HTTP/1.0\r\n" + b"a: b\r\n" * 200 + b"\r\n", b"431"),
        (b"GET / HTTP/9.0\r\n\r\n", b"505"),
    ],
)
def test_a_malformed_request_gets_an_error_status(data: bytes, status: bytes) -> None:
    with served(Health()) as port:
        answer = send(port, data)
        assert answer.split(b" ")[1] == status
        assert get(port, "/healthz")[0] == 200


def test_a_client_that_disconnects_does_not_affect_others(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with served(Health()) as port:
        with socket.create_connection((LOCALHOST, port)) as client:
            client.sendall(b"GET /metr")
        assert get(port, "/healthz")[0] == 200

    assert tuple(capfd.readouterr()) == ("", "")


def test_a_page_that_fails_logs_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> HttpPage:
        raise ConnectionResetError

    with http_server.serve((LOCALHOST, 0), {"/broken": broken}) as port:
        assert send(port, b"GET /broken HTTP/1.0\r\n\r\n") == b""

    assert tuple(capfd.readouterr()) == ("", "")


def test_slow_clients_block_others_only_for_a_limited_time() -> None:
    with http_server.serve((LOCALHOST, 0), PAGES, seconds=0.5) as port, ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            client = stack.enter_context(socket.create_connection((LOCALHOST, port)))
            client.sendall(b"GET")
        last = stack.enter_context(socket.create_connection((LOCALHOST, port), timeout=10))

        assert is_closed(last)
        until(lambda: is_answering(port), "there is room again")


def is_answering(port: int) -> bool:
    try:
        return get(port, "/healthz")[0] == 200
    except OSError:
        return False


def test_open_connections_end_with_the_server() -> None:
    with served(Health()) as port:
        client = socket.create_connection((LOCALHOST, port), timeout=10)
        client.sendall(b"GET")

    with client:
        assert is_closed(client)


def is_closed(client: socket.socket) -> bool:
    """Say whether the server has closed a connection; unread bytes make it a reset."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_port_in_use_is_an_error() -> None:
    with (
        served(Health()) as port,
        pytest.raises(SettingsError) as caught,
        http_server.serve((LOCALHOST, port), {}),
    ):
        pass

    assert (
        str(caught.value) == f"cannot listen on 127.0.0.1:{port}: [Errno 98] Address already in use"
    )


def test_an_invalid_port_is_an_error() -> None:
    with pytest.raises(SettingsError) as caught, http_server.serve(("", 70_000), {}):
        pass

    assert str(caught.value) == "cannot listen on *:70000: bind(): port must be 0-65535."


def test_the_server_also_serves_ipv6() -> None:
    with health.serve(("::1", 0), Health()) as port:
        assert get(port, "/healthz", host="::1")[0] == 200
