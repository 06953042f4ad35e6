"""A server that answers with what it is given, for what no Pi-hole says twice alike."""

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Thread

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family
from pic.pihole.protocol import RecordEdit

CLUSTER = "2f0c1b9a-7a53-4a6e-9c0d-6d1a1f2e3b4c"
PATIENCE = 10.0  # seconds until a test that hangs fails


def answer(status: int, body: object = None, *headers: str) -> bytes:
    """One response as it goes over the wire."""
    content = (
        b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    )
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(head).encode() + content


def _json(body: object) -> bytes:
    return json.dumps(body).encode()


@dataclass
class ScriptedServer:
    """What is answered, one after the other, and what was asked.

    Attributes:
        heads: The lines of each request before its body.
        bodies: And its body.
    """

    url: str
    answers: list[bytes]
    heads: list[list[str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    @property
    def asked(self) -> list[str]:
        """Method and path of each request."""
        return [head[0].removesuffix(" HTTP/1.1") for head in self.heads]


@contextlib.contextmanager
def scripted_server(*answers: bytes) -> Iterator[ScriptedServer]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        says = ScriptedServer(f"http://127.0.0.1:{server.getsockname()[1]}", list(answers))
        thread = Thread(target=_serve, args=[server, says], daemon=True)
        thread.start()
        yield says
        thread.join(PATIENCE)


def _serve(server: socket.socket, says: ScriptedServer) -> None:
    for each in says.answers:
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as file:
            head = [line.decode().strip() for line in iter(file.readline, b"\r\n")]
            length = next((int(line[16:]) for line in head if line.startswith("Content-Length")), 0)
            says.bodies.append(file.read(length))
            says.heads.append(head)
            connection.sendall(each)


def a(host: str, ip: str | None = "192.0.2.9") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def ours(ip: str, host: str) -> str:
    return f"{ip} {host} # k8s:{CLUSTER}"


def details(error: BaseException) -> tuple[FailureClass, int | None, str]:
    """What a PiholeError says to programs and to people."""
    assert isinstance(error, PiholeError)
    return error.kind, error.retry_after, str(error)


def no_sleep(_: float) -> None:
    """Wait for nothing, where it does not matter how long is waited."""
