import contextlib
import socket
import ssl
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.pihole import PiHole, tls
from pic.core.errors import FailureClass, PiholeError
from pic.pihole.http import (
    LARGEST_ANSWER,
    Client,
    HttpTimeouts,
    Response,
    Trust,
    certificate_remedy,
    normalise,
)
from tests.support.pihole_fakes import answer, refused, scripted_server

SHORT = HttpTimeouts(connect=5.0, read=0.05)


@pytest.fixture(scope="module")
def secured() -> Iterator[PiHole]:
    with PiHole(tls=True) as server:
        yield server


def client(server: PiHole, trust: Trust | None = None) -> Client:
    return Client(server.url, trust)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("http://pi.hole", "http://pi.hole"),
        ("HTTP://PI.Hole:80/", "http://pi.hole"),
        ("https://pi.hole:443/admin", "https://pi.hole"),
        ("https://pi.hole:80/admin/", "https://pi.hole:80"),
        ("http://pi.hole/api", "http://pi.hole"),
        ("http://pi.hole:8080/admin/api/", "http://pi.hole:8080"),
        ("http://lan/pihole/api", "http://lan/pihole"),
        ("http://lan/rapid", "http://lan/rapid"),
        ("http://[FE80::1]:81/admin", "http://[fe80::1]:81"),
    ],
)
def test_a_url_from_a_browser_is_cut_back_to_the_base_url(url: str, base: str) -> None:
    assert normalise(url) == base


def test_each_request_goes_below_the_url_on_its_own_connection() -> None:
    with scripted_server(answer(200, {"a": 1}), answer(204)) as server:
        client = Client(f"{server.url}/pihole/admin")
        answers = [client.send("PUT", "/api/x", {"b": "ü"}, {"X-It": "y"}), client.send("GET", "/")]

    host = server.url.removeprefix("http://")
    common = ["Accept: application/json", "Connection: close", "Content-Type: application/json"]
    assert answers == [Response(200, {"a": 1}), Response(204)]
    assert server.heads == [
        [
            "PUT /pihole/api/x HTTP/1.1",
            f"Host: {host}",
            "Accept-Encoding: identity",
            "Content-Length: 14",
            *common,
            "User-Agent: pic",
            "X-It: y",
        ],
        [
            "GET /pihole/ HTTP/1.1",
            f"Host: {host}",
            "Accept-Encoding: identity",
            *common,
            "User-Agent: pic",
        ],
    ]
    assert server.bodies == [b'{"b":"\\u00fc"}', b""]


def test_a_body_that_is_not_a_json_object_is_returned_as_text() -> None:
    bodies = [b"<html>\xff", b"[1]", b"[" * 100_000, b" " + b"x" * 300]
    with scripted_server(*(answer(400, body) for body in bodies)) as server:
        answers = [Client(server.url).send("GET", "/") for _ in bodies]

    assert answers == [
        Response(400, text="<html>\ufffd"),
        Response(400, text="[1]"),
        Response(400, text="[" * 200),
        Response(400, text="x" * 199),
    ]


def test_many_threads_send_one_request_at_a_time() -> None:
    with PiHole() as server:
        work = [
            threading.Thread(target=Client(server.url).send, args=("GET", "/x")) for _ in "12345"
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()

        assert (len(server.log), server.most_at_once) == (5, 1)


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (
            b"",
            "Pi-hole closed the connection without an answer; check that webserver.acl of Pi-hole"
            " allows this machine, and that Pi-hole runs; if its port is one for https,"
            " pic:piholeUrl must begin with https://",
        ),
        (
            b"SSH-2.0\r\n",
            "the answer is broken (BadStatusLine); check that pic:piholeUrl is the URL of a"
            " Pi-hole",
        ),
        (
            b"HTTP/1.1 200 X\r\nContent-Length: 99\r\n\r\n{}",
            "the answer is broken (IncompleteRead); check that pic:piholeUrl is the URL of a"
            " Pi-hole",
        ),
        (
            b"HTTP/1.1 200 X\r\nContent-Length: %d\r\n\r\n" % (LARGEST_ANSWER + 1)
            + b" " * LARGEST_ANSWER,
            "the answer is broken (IncompleteRead); check that pic:piholeUrl is the URL of a"
            " Pi-hole",
        ),
    ],
)
def test_an_incomplete_answer_is_a_temporary_error(raw: bytes, problem: str) -> None:
    with scripted_server(raw) as server:
        error = refused(lambda: Client(server.url).send("GET", "/"))

    assert error == (FailureClass.TEMPORARY, None, f"no answer from {server.url}: {problem}")


def test_a_server_that_does_not_answer_is_a_temporary_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        silence = refused(lambda: Client(url, timeouts=SHORT).send("GET", "/"))
    refusal = refused(lambda: Client(url).send("GET", "/"))
    unresolved = refused(lambda: Client("http://pi.hole.invalid").send("GET", "/"))

    assert silence == (
        FailureClass.TEMPORARY,
        None,
        f"no answer from {url}: no data within 0.05 s; Pi-hole may be busy or stuck: check its web"
        " interface",
    )
    assert refusal == (
        FailureClass.TEMPORARY,
        None,
        f"no answer from {url}: Connection refused; check that Pi-hole runs, and check"
        " pic:piholeUrl",
    )
    assert (unresolved[0], unresolved[2].partition(": ")[0]) == (
        FailureClass.TEMPORARY,
        "no answer from http://pi.hole.invalid",
    )


@pytest.mark.parametrize("length", [b"Content-Length: 1000\r\n", b""], ids=["length", "to the end"])
def test_an_answer_that_drips_is_cut_off(length: bytes) -> None:
    with dripping(b"HTTP/1.1 200 X\r\n" + length + b"\r\n") as url:
        error = refused(lambda: Client(url, timeouts=HttpTimeouts(total=0.2)).send("GET", "/"))

    assert error == (
        FailureClass.TEMPORARY,
        None,
        f"no answer from {url}: no complete answer within 0.2 s; Pi-hole may be busy or stuck:"
        " check its web interface",
    )


def test_an_answer_that_drips_through_tls_is_cut_off(secured: PiHole) -> None:
    assert secured.ca is not None
    with dripping(b"HTTP/1.1 200 X\r\n\r\n", tls.context(secured.ca.parent)) as url:
        address = url.replace("http", "https")
        client = Client(address, Trust(insecure=True), HttpTimeouts(total=0.2))
        error = refused(lambda: client.send("GET", "/"))

    assert "no complete answer within 0.2 s" in error[2]


@contextlib.contextmanager
def dripping(head: bytes, secured: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve one client with a head and then single bytes, until the block ends."""
    stopped = threading.Event()

    def drip(server: socket.socket) -> None:
        connection, _ = server.accept()
        if secured:
            connection = secured.wrap_socket(connection, server_side=True)
        with connection, contextlib.suppress(OSError):
            connection.sendall(head)
            while not stopped.wait(0.01):
                connection.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=[server])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.getsockname()[1]}"
        finally:
            stopped.set()
            thread.join()


def test_a_redirect_is_an_error_and_is_not_followed() -> None:
    with scripted_server(answer(308, None, "Location: https://pi.hole/api"), answer(302)) as server:
        errors = [refused(lambda: Client(server.url).send("GET", "/api")) for _ in "12"]

    advice = "set pic:piholeUrl to the URL of Pi-hole itself"
    assert errors == [
        (FailureClass.INVALID, None, f"{server.url} redirects to https://pi.hole/api: {advice}"),
        (FailureClass.INVALID, None, f"{server.url} redirects to nowhere: {advice}"),
    ]


def test_tls_uses_the_name_and_the_authority_of_the_settings(secured: PiHole) -> None:
    trust = Trust(ca=str(secured.ca), server_name="pi.hole")

    for accepted in (trust, Trust(insecure=True)):
        assert Client(secured.url, accepted).send("GET", "/api/auth").status == 401


def test_a_certificate_for_another_name_is_refused_with_the_remedy(secured: PiHole) -> None:
    for name, reason in (
        ("", "IP address mismatch, certificate is not valid for '127.0.0.1'"),
        ("nas.lan", "Hostname mismatch, certificate is not valid for 'nas.lan'"),
    ):
        trust = Trust(ca=str(secured.ca), server_name=name)

        assert refused(lambda: Client(secured.url, trust).send("GET", "/")) == (  # noqa: B023
            FailureClass.AUTH,
            None,
            f"pic does not accept the certificate of {secured.url}: {reason}. It is not valid for"
            f" {name or '127.0.0.1'}. The certificate that Pi-hole generates is only valid for the"
            " name pi.hole, and for no address: set pic:piholeServerName to its name",
        )


def test_a_certificate_of_an_unknown_authority_is_refused_with_the_remedy(secured: PiHole) -> None:
    kind, _, message = refused(
        lambda: Client(secured.url, Trust(server_name="pi.hole")).send("GET", "/")
    )

    assert (kind, message.partition(". ")[2]) == (
        FailureClass.AUTH,
        "Set pic:piholeCa to a file with the certificate of its issuer. For the certificate that"
        " Pi-hole generates, that is its /etc/pihole/tls_ca.crt, which changes with each renewal,"
        " every 45 days. A certificate of your own lasts longer. pic:piholeInsecure accepts any"
        " certificate",
    )


def test_an_invalid_certificate_file_is_an_error_before_any_request(tmp_path: Path) -> None:
    missing, wrong = tmp_path / "missing.crt", tmp_path / "wrong.crt"
    wrong.write_text("no certificate")
    advice = "set it to a PEM file of certificates"

    errors = [
        refused(lambda: Client("https://pi.hole", Trust(ca=str(path))))  # noqa: B023
        for path in (missing, wrong)
    ]

    assert errors[0] == (
        FailureClass.INVALID,
        None,
        f"pic:piholeCa is {str(missing)!r}: No such file or directory; {advice}",
    )
    assert errors[1][2].startswith(f"pic:piholeCa is {str(wrong)!r}: ")
    assert errors[1][2].endswith(advice)


def test_an_expired_certificate_has_its_own_remedy() -> None:
    assert certificate_remedy(10, "pi.hole") == (
        "Renew it; Pi-hole generates a new one when it restarts"
    )


def test_https_to_a_server_without_tls_is_an_error_with_a_remedy() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_answer_in_clear, args=[server])
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        _, _, message = refused(lambda: Client(url).send("GET", "/"))
        thread.join()

    assert message.startswith(f"no answer from {url}: the TLS handshake failed (")
    assert message.endswith("); check whether pic:piholeUrl must begin with http:// instead")


def test_http_to_a_port_for_https_is_an_error_with_a_remedy() -> None:
    with PiHole(tls=True) as server:
        url = server.url.replace("https:", "http:")
        _, _, message = refused(lambda: Client(url).send("GET", "/"))

    assert message == (
        f"no answer from {url}: Pi-hole closed the connection without an answer; check that"
        " webserver.acl of Pi-hole allows this machine, and that Pi-hole runs; if its port is one"
        " for https, pic:piholeUrl must begin with https://"
    )


def test_a_server_that_closes_a_connection_for_tls_may_have_an_access_list() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_close_the_next, args=[server])
        thread.start()
        url = f"https://127.0.0.1:{server.getsockname()[1]}"
        _, _, message = refused(lambda: Client(url).send("GET", "/"))
        thread.join()

    assert message == (
        f"no answer from {url}: Pi-hole closed the connection without an answer; check that"
        " webserver.acl of Pi-hole allows this machine, and that Pi-hole runs"
    )


def _close_the_next(server: socket.socket) -> None:
    connection, _ = server.accept()
    connection.close()


def _answer_in_clear(server: socket.socket) -> None:
    connection, _ = server.accept()
    with connection, contextlib.suppress(ConnectionError):  # the client closes first
        connection.sendall(answer(400))
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(4096):
            pass


def test_no_error_contains_a_header_or_a_body() -> None:
    secret = "hunter2"  # noqa: S105 - the test searches for it
    with scripted_server(b"") as server, pytest.raises(PiholeError) as error:
        Client(server.url).send("POST", "/", {"password": secret}, {"X-It": secret})

    assert secret not in "".join(traceback.format_exception(error.value))
