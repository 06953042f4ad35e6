"""What may go wrong between a client and an API server: each request, and what is done to it."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

PLUGIN, PIC = "pulumi-kubernetes", "python-urllib3"  # as they name themselves


class Asked(NamedTuple):
    """One request, as rules see it.

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
        """The program that asks, without its version."""
        return self.headers.get("user-agent", "").partition("/")[0]

    @property
    def is_watch(self) -> bool:
        """Whether events are to follow."""
        return "watch=" in self.query


class Answer(NamedTuple):
    """What is said in the API server's place."""

    status: int
    body: object
    headers: Mapping[str, str] = {}


class Reset(NamedTuple):
    """The connection is reset.

    Attributes:
        done: The API server has done what was asked; only its answer is lost.
    """

    done: bool = False


class Slow(NamedTuple):
    """The request is held back for some seconds, or until the proxy stops."""

    seconds: float


class Truncated(NamedTuple):
    """The answer breaks off in the middle; a watch, in the middle of its first piece."""


Fault = Answer | Reset | Slow | Truncated
# None where the API server is to answer. It is called by many threads at once.
Rule = Callable[[Asked], Fault | None]


class Exchange(NamedTuple):
    """A request and the status that it was answered with; 0 is none."""

    asked: Asked
    status: int


def forward(_: Asked) -> Fault | None:
    """Leave every answer to the API server."""
    return None


def status(code: int, reason: str, message: str) -> dict[str, object]:
    """Return a failure as the API server tells it."""
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
    """Return what is answered while etcd is away."""
    message = "etcdserver: request timed out"
    return Answer(500, status(500, "InternalError", message))


def overloaded(seconds: int = 1) -> Answer:
    """Return what is answered by a server that asks to be left alone for some seconds."""
    message = "too many requests, please try again later"
    answer = status(429, "TooManyRequests", message)
    return Answer(429, answer, {"Retry-After": str(seconds)})


def wrong_kind() -> Answer:
    """Return an answer of 200 that is not what anybody has asked for."""
    body = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1", "metadata": {}}
    return Answer(200, {**body, "items": []})
