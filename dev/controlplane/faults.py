"""Defines the faults that the proxy can inject between a client and an API server."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

PLUGIN, PIC = "pulumi-kubernetes", "python-urllib3"  # their User-Agent headers


class Request(NamedTuple):
    """Describes one request, as a rule sees it.

    Attributes:
        headers: By lower-case name, without the credentials.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def agent(self) -> str:
        """The program that sent the request, without its version."""
        return self.headers.get("user-agent", "").partition("/")[0]

    @property
    def is_watch(self) -> bool:
        """Whether the request opens a watch."""
        return "watch=" in self.query


class Answer(NamedTuple):
    """Answers in place of the API server."""

    status: int
    body: object
    headers: Mapping[str, str] = {}


class Reset(NamedTuple):
    """Resets the connection.

    Attributes:
        done: The API server has carried out the request; only its answer is lost.
    """

    done: bool = False


class Slow(NamedTuple):
    """Delays the request for some seconds, or until the proxy stops."""

    seconds: float


class Truncated(NamedTuple):
    """Cuts the answer in the middle; that of a watch, in the middle of its first chunk."""


Fault = Answer | Reset | Slow | Truncated
# Returns None to let the API server answer. Many threads call it at once.
Rule = Callable[[Request], Fault | None]


class Exchange(NamedTuple):
    """Records a request and the status of its answer; 0 means that there was no answer."""

    request: Request
    status: int


def forward(_: Request) -> Fault | None:
    """Let the API server answer every request."""
    return None


def status(code: int, reason: str, message: str) -> dict[str, object]:
    """Return a failure as the API server formats it."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "code": code,
    }


def broken() -> Answer:
    """Return the answer that the API server gives while etcd is down."""
    message = "etcdserver: request timed out"
    return Answer(500, status(500, "InternalError", message))


def overloaded(seconds: int = 1) -> Answer:
    """Return the answer of an overloaded server, which names the seconds to wait."""
    message = "too many requests, please try again later"
    answer = status(429, "TooManyRequests", message)
    return Answer(429, answer, {"Retry-After": str(seconds)})


def wrong_kind() -> Answer:
    """Return an answer of status 200 that holds another kind than the requested one."""
    body = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {}}
    return Answer(200, {**body, "items": []})
