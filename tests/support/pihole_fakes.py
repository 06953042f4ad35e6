"""A server with scripted answers, for answers that no real Pi-hole gives twice in the same way."""

import contextlib
import json
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from threading import Thread

import pytest

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family
from pic.pihole.protocol import RecordEdit

CLUSTER = "2f0c1b9a-7a53-4a6e-9c0d-6d1a1f2e3b4c"
TIMEOUT = 10.0  # seconds until a test that hangs fails

# The class of an error, the seconds before a retry, and the message.
Details = tuple[FailureClass, int | None, str]


def answer(status: int, body: object = None, *headers: str) -> bytes:
    """Return the bytes of one response."""
    content = (
        b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    )
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(head).encode() + content


@dataclass
class ScriptedServer:
    """The scripted answers, and the requests so far.

    Attributes:
        heads: The lines of each request before its body.
        bodies: The body of each request.
    """

    url: str
    answers: list[bytes]
    heads: list[list[str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def requests(self) -> list[str]:
        """The method and the path of each request."""
        return [head[0].removesuffix(" HTTP/1.1") for head in self.heads]


@contextlib.contextmanager
def scripted_server(*answers: bytes) -> Iterator[ScriptedServer]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(TIMEOUT)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        server = ScriptedServer(url, list(answers))
        thread = Thread(target=_serve, args=[listener, server], daemon=True)
        thread.start()
        yield server
        thread.join(TIMEOUT)


def _serve(listener: socket.socket, server: ScriptedServer) -> None:
    for response in server.answers:
        connection, _ = listener.accept()
        with connection, connection.makefile("rb") as file:
            head = [line.decode().strip() for line in iter(file.readline, b"\r\n")]
            length = next((int(line[16:]) for line in head if line.startswith("Content-Length")), 0)
            server.bodies.append(file.read(length))
            server.heads.append(head)
            connection.sendall(response)


def a(host: str, ip: str | None = "192.0.2.9") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def ours(ip: str, host: str) -> str:
    return f"{ip} {host} # k8s:{CLUSTER}"


def details(error: BaseException) -> Details:
    assert isinstance(error, PiholeError)
    return error.kind, error.retry_after, str(error)


def refused(action: Callable[[], object]) -> Details:
    """Return the details of the error that an action raises."""
    with pytest.raises(PiholeError) as error:
        action()
    return details(error.value)


def no_sleep(_: float) -> None:
    """Return at once, for tests that do not measure a wait."""
