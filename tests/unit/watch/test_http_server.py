"""The one port of a watcher: what it answers, and what it does not put up with."""

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

HERE = "127.0.0.1"
PAGES = {"/healthz": lambda: HttpPage(200, b"well\n")}


@contextmanager
def served(what: Health) -> Iterator[int]:
    with health.serve((HERE, 0), what) as port:
        yield port


def ask(port: int, path: str, method: str = "GET", host: str = HERE) -> tuple[int, str, str]:
    """Return status, content type and body."""
    with closing(HTTPConnection(host, port, timeout=10)) as connection:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.headers["Content-Type"], answer.read().decode()


def say(port: int, words: bytes) -> bytes:
    """Return everything that is answered to some bytes."""
    with socket.create_connection((HERE, port), timeout=10) as made:
        made.sendall(words)
        made.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: made.recv(4096), b""))


def test_a_watcher_that_is_well_says_so() -> None:
    plain, now = "text/plain; charset=utf-8", time.monotonic()
    well = Health(MaxAges(), version="1")
    well.leading(yes=True)
    well.synced("Ingress", ok=True)
    well.contact(now)
    well.run_ended(now, {"exitCode": 0})
    with served(well) as port:
        assert ask(port, "/healthz") == (200, plain, "[+]loop\n")
        assert ask(port, "/readyz?verbose") == (
            200,
            plain,
            "[+]leader\n[+]api\n[+]cache Ingress\n[+]run\n[+]target pangolin\n",
        )
        status, kind, body = ask(port, "/metrics")

    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert 'pic_build_info{version="1"} 1.0\n' in body
    assert 'pic_runs_total{outcome="unchanged"} 1.0\n' in body


def test_a_watcher_that_is_not_well_says_so() -> None:
    with served(Health(MaxAges(beat=-1))) as port:
        status, _, body = ask(port, "/healthz")
        assert (status, body[:7]) == (503, "[-]loop")
        assert ask(port, "/readyz")[::2] == (503, "[-]leader: not known yet\n")


def test_there_is_nothing_else() -> None:
    with served(Health()) as port:
        for path in ("/", "/healthz/", "/../etc/passwd", "/favicon.ico"):
            assert ask(port, path)[::2] == (404, "there is no such page\n")


def test_a_head_has_the_status_and_no_body() -> None:
    with served(Health()) as port:
        assert ask(port, "/healthz", "HEAD")[::2] == (200, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "get"])
def test_nothing_can_be_done_to_it(method: str) -> None:
    with served(Health()) as port:
        assert say(port, f"{method} /healthz HTTP/1.0\r\n\r\n".encode()) == (
            b"HTTP/1.0 405 Method Not Allowed\r\n"
            b"Allow: GET, HEAD\r\n"
            b"Content-Type: text/plain; charset=utf-8\r\n"
            b"Content-Length: 18\r\n\r\n"
            b"only GET and HEAD\n"
        )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (b"nonsense of too many words here\r\n\r\n", b"400"),
        (b"GET /" + b"x" * 70_000 + b" HTTP/1.0\r\n\r\n", b"414"),
        (b"GET / HTTP/1.0\r\n" + b"a: b\r\n" * 200 + b"\r\n", b"431"),
        (b"GET / HTTP/9.0\r\n\r\n", b"505"),
    ],
)
def test_what_is_no_request_is_told_so(words: bytes, status: bytes) -> None:
    with served(Health()) as port:
        answer = say(port, words)
        assert answer.split(b" ")[1] == status
        assert ask(port, "/healthz")[0] == 200


def test_a_client_that_goes_away_disturbs_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    with served(Health()) as port:
        with socket.create_connection((HERE, port)) as made:
            made.sendall(b"GET /metr")
        assert ask(port, "/healthz")[0] == 200

    assert tuple(capfd.readouterr()) == ("", "")


def test_an_answer_that_fails_disturbs_nobody(capfd: pytest.CaptureFixture[str]) -> None:
    def broken() -> HttpPage:
        raise ConnectionResetError

    with http_server.serve((HERE, 0), {"/broken": broken}) as port:
        assert say(port, b"GET /broken HTTP/1.0\r\n\r\n") == b""

    assert tuple(capfd.readouterr()) == ("", "")


def test_slow_clients_do_not_keep_others_out_for_long() -> None:
    with http_server.serve((HERE, 0), PAGES, seconds=0.5) as port, ExitStack() as stack:
        for _ in range(MAX_CONNECTIONS):
            each = stack.enter_context(socket.create_connection((HERE, port)))
            each.sendall(b"GET")
        last = stack.enter_context(socket.create_connection((HERE, port), timeout=10))

        assert is_ended(last)
        until(lambda: answers(port), "there is room again")


def answers(port: int) -> bool:
    try:
        return ask(port, "/healthz")[0] == 200
    except OSError:
        return False


def test_what_is_open_is_cut_in_the_end() -> None:
    with served(Health()) as port:
        made = socket.create_connection((HERE, port), timeout=10)
        made.sendall(b"GET")

    with made:
        assert is_ended(made)


def is_ended(made: socket.socket) -> bool:
    """Say whether nothing comes any more; bytes that nobody has read make it a reset."""
    try:
        return made.recv(1) == b""
    except ConnectionResetError:
        return True


def test_a_port_that_is_taken_is_told() -> None:
    with (
        served(Health()) as port,
        pytest.raises(SettingsError) as caught,
        http_server.serve((HERE, port), {}),
    ):
        pass

    assert (
        str(caught.value) == f"cannot listen on 127.0.0.1:{port}: [Errno 98] Address already in use"
    )


def test_a_port_that_is_none_is_told() -> None:
    with pytest.raises(SettingsError) as caught, http_server.serve(("", 70_000), {}):
        pass

    assert str(caught.value) == "cannot listen on *:70000: bind(): port must be 0-65535."


def test_it_serves_by_the_newer_protocol_as_well() -> None:
    with health.serve(("::1", 0), Health()) as port:
        assert ask(port, "/healthz", host="::1")[0] == 200
