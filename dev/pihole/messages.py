"""Defines the requests to the interfaces of Pi-hole, and their answers."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

BODY_LIMIT = 65_534  # bytes; Pi-hole takes a longer body for an empty one

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        method: The HTTP method.
        target: The path and the query, unchanged.
        headers: The header fields.
        body: The bytes after the headers.
        pause: Waits for some seconds; raises `Died` if the server dies meanwhile.
        reused: Whether the connection carried an earlier request.
    """

    method: str
    target: str
    headers: Message
    body: bytes
    pause: Callable[[float], None]
    reused: bool = False

    @property
    def path(self) -> str:
        """The path, still percent-encoded."""
        return urlsplit(self.target).path

    @property
    def segments(self) -> list[str]:
        """The parts of the path, which Pi-hole decodes before it splits it."""
        return unquote_plus(self.path).partition("\0")[0].strip("/").split("/")

    def query(self, name: str) -> str | None:
        """Return the first value of a query parameter."""
        return parse_qs(urlsplit(self.target).query).get(name, [None])[0]

    @property
    def json(self) -> object:
        """The body as JSON.

        Raises:
            Refusal: The body is empty, too long, or not JSON.
        """
        if not 0 < len(self.body) <= BODY_LIMIT:
            raise Refusal(error(400, "bad_request", "No request body data"))
        text = self.body.decode(errors="replace")
        try:
            return json.loads(text)
        except json.JSONDecodeError as problem:
            message = "Invalid request body data (no valid JSON), error at hint"
            raise Refusal(error(400, "bad_request", message, text[problem.pos :])) from None


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        status: The HTTP status.
        body: An object for JSON, text for text/plain, None for an empty body.
        headers: Additional header fields.
        timed: Whether an object contains its duration, as all objects of Pi-hole do.
    """

    status: int
    body: Json | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timed: bool = True


class Refusal(Exception):  # noqa: N818 - an answer, not an error of the program
    """Ends the handling of a request with an answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Died(Exception):  # noqa: N818 - an event that tests ask for
    """The server died while it handled a request."""


def error(status: int, key: str, message: str, hint: str | None = None) -> Answer:
    """Return an error in the form of Pi-hole."""
    return Answer(status, {"error": {"key": key, "message": message, "hint": hint}})


def not_found(request: Request) -> Answer:
    """Return the answer for an unknown endpoint."""
    return error(404, "not_found", "Not found", request.path)
