"""Defines the requests to the API, and its answers in one envelope."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

Row = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes:
        target: The path and the query, unchanged.
        authorization: The header with the key; empty if it is absent.
        key: The id of the key, once it is verified.
    """

    method: str
    target: str
    authorization: str = ""
    body: bytes = b""
    key: str = ""

    @property
    def path(self) -> str:
        """The path, percent-decoded."""
        return unquote(urlsplit(self.target).path)

    @property
    def query(self) -> Mapping[str, str]:
        """The first value of each query parameter."""
        return {name: values[0] for name, values in parse_qs(urlsplit(self.target).query).items()}

    @property
    def json(self) -> object:
        """The body as JSON; an empty one is an empty object, as for Express.

        Raises:
            Refusal: The body is not JSON.
        """
        try:
            return json.loads(self.body or b"{}")
        except ValueError:
            raise Refusal(400, "Unexpected token in JSON") from None


@dataclass(frozen=True)
class Answer:
    """An answer.

    Attributes:
        body: An object, which is sent as JSON, or HTML.
    """

    status: int
    body: Mapping[str, object] | str
    headers: Mapping[str, str] = field(default_factory=dict)


class Refusal(Exception):  # noqa: N818 - an answer, not an error of the program
    """Ends the handling of a request with an error in the envelope."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status

    @property
    def answer(self) -> Answer:
        """The answer to send."""
        body = _envelope(None, str(self), self.status, error=True)
        return Answer(self.status, {**body, "stack": None})


def success(data: object, message: str, status: int = 200) -> Answer:
    """Return an answer in the envelope of Pangolin."""
    return Answer(status, _envelope(data, message, status, error=False))


def no_route(request: Request) -> Answer:
    """Return the answer of Express for an unknown route, which is not in the envelope."""
    line = f"Cannot {request.method} {urlsplit(request.target).path}"
    page = f'<!DOCTYPE html>\n<html lang="en">\n<body>\n<pre>{line}</pre>\n</body>\n</html>\n'
    return Answer(404, page)


def _envelope(data: object, message: str, status: int, *, error: bool) -> Row:
    return {
        "data": data,
        "success": not error,
        "error": error,
        "message": message,
        "status": status,
    }
