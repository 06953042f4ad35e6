"""A client that sends arbitrary requests and returns complete answers."""

import json
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection
from typing import Any
from urllib.parse import quote

from dev.pihole import PiHole

HOSTS = "/api/config/dns/hosts"
UNAUTHORIZED = {"error": {"key": "unauthorized", "message": "Unauthorized", "hint": None}}


@dataclass(frozen=True)
class Client:
    """Sends each request on its own connection.

    Attributes:
        pihole: The server.
        headers: The headers of every request.
    """

    pihole: PiHole
    headers: Mapping[str, str] = field(default_factory=dict)

    def request(
        self,
        method: str,
        target: str,
        body: object = None,
        headers: Iterable[tuple[str, str]] = (),
    ) -> tuple[int, Any]:
        """Send a request; a `body` of text goes out unchanged, any other as JSON."""
        status, _, content = self.request_full(method, target, body, headers)
        return status, content

    def request_full(
        self, method: str, target: str, body: object, headers: Iterable[tuple[str, str]] = ()
    ) -> tuple[int, Mapping[str, str], Any]:
        with closing(HTTPConnection("127.0.0.1", self.pihole.port, timeout=20)) as connection:
            send(connection, (method, target, body), (*self.headers.items(), *headers))
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), _content(response.read())

    def put(self, line: str) -> tuple[int, Any]:
        return self.request("PUT", f"{HOSTS}/{quote(line, safe='')}")

    def delete(self, line: str) -> tuple[int, Any]:
        return self.request("DELETE", f"{HOSTS}/{quote(line, safe='')}")

    def patch(self, lines: object, target: str = HOSTS) -> tuple[int, Any]:
        return self.request("PATCH", target, {"config": {"dns": {"hosts": lines}}})

    def login(self, password: str, **fields: object) -> tuple[int, Any]:
        return self.request("POST", "/api/auth", {"password": password, **fields})


def send(
    connection: HTTPConnection,
    request: tuple[str, str, object],
    headers: Iterable[tuple[str, str]] = (),
) -> None:
    method, target, body = request
    text = body if isinstance(body, str) else json.dumps(body)
    content = b"" if body is None else text.encode()
    connection.putrequest(method, target)
    for name, value in (("Content-Length", str(len(content))), *headers):
        connection.putheader(name, value)
    connection.endheaders(content)


def logged_in(pihole: PiHole, password: str | None = None) -> Client:
    """Return a client with a session."""
    status, answer = Client(pihole).login(pihole.password if password is None else password)
    assert status == 200, answer
    return Client(pihole, {"X-FTL-SID": answer["session"]["sid"]})


def refused(message: str, hint: str | None, key: str = "bad_request") -> dict[str, Any]:
    return {"error": {"key": key, "message": message, "hint": hint}}


def session(message: str | None, **fields: object) -> dict[str, Any]:
    """Return the body of an answer without a session."""
    state = {"valid": False, "totp": False, "sid": None, "validity": -1, "message": message}
    return {"session": {**state, **fields}}


def _content(raw: bytes) -> object:
    try:
        content = json.loads(raw)
    except ValueError:
        return raw.decode() or None
    assert isinstance(content.pop("took", 0.0), float)
    return content
