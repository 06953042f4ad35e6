"""A request as the interfaces of Pi-hole see it, and what they answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.parse import parse_qs, unquote_plus, urlsplit

BODY_LIMIT = 65_534  # bytes; a longer body is read as none

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        method: GET, PUT, …
        target: Path and query as they were sent.
        headers: Its header fields.
        body: What came after them.
        pause: Lets a number of seconds pass, and raises `Died` where the server dies meanwhile.
        reused: Whether the connection has carried a request before.
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
        """The parts of the path; it is decoded before it is split, as Pi-hole does."""
        return unquote_plus(self.path).partition("\0")[0].strip("/").split("/")

    def query(self, name: str) -> str | None:
        """The first value of a parameter of the query."""
        return parse_qs(urlsplit(self.target).query).get(name, [None])[0]

    @property
    def json(self) -> object:
        """The body as JSON.

        Raises:
            Refusal: There is none, or it is no JSON.
        """
        if not 0 < len(self.body) <= BODY_LIMIT:
            raise Refusal(error(400, "bad_request", "No request body data"))
        text = self.body.decode(errors="replace")
        try:
            return json.loads(text)
        except json.JSONDecodeError as broken:
            message = "Invalid request body data (no valid JSON), error at hint"
            raise Refusal(error(400, "bad_request", message, text[broken.pos :])) from None


@dataclass(frozen=True)
class Answer:
    """What is sent back.

    Attributes:
        status: The code.
        body: An object for JSON, text for text/plain, None for nothing.
        headers: Further header fields.
        timed: Whether an object says how long it took, as all of Pi-hole's do.
    """

    status: int
    body: Json | str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timed: bool = True


class Refusal(Exception):  # noqa: N818 - an answer and no error of the program
    """Ends the handling of a request with an answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


class Died(Exception):  # noqa: N818 - it happened, and is wanted
    """The server died while it handled a request."""


def error(status: int, key: str, message: str, hint: str | None = None) -> Answer:
    """The shape of Pi-hole's errors."""
    return Answer(status, {"error": {"key": key, "message": message, "hint": hint}})


def not_found(request: Request) -> Answer:
    """The answer where there is no such endpoint."""
    return error(404, "not_found", "Not found", request.path)
