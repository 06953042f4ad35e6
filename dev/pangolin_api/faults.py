"""Injects faults into chosen requests."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Literal

from dev.pangolin_api.messages import Answer, Request

Kind = Literal["answer", "drop", "hang", "die"]


@dataclass(frozen=True)
class Fault:
    """A fault of some of the next requests.

    A create whose server is killed before the update is `Fault("die", effect=True, method="PUT")`.
    An answer that is lost is `Fault("drop", effect=True)`. A host that another client takes between
    the list and the create is a `409`.

    Attributes:
        kind: "answer" answers with `status`, "drop" closes the connection, "hang" never answers,
            "die" ends the server.
        effect: Whether the request takes effect before the fault.
        method: The method of the requests; None matches any.
        path: A regular expression that matches somewhere in path and query.
        skip: The number of matching requests that succeed first.
        times: The number of requests that fail after that.
        status: The status of "answer".
        body: The body of "answer".
        headers: The headers of "answer", such as Retry-After.
    """

    kind: Kind
    effect: bool = False
    method: str | None = None
    path: str = ""
    skip: int = 0
    times: int = 1
    status: int = 503
    body: dict[str, object] | str = "Service Unavailable"
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def answer(self) -> Answer:
        """The answer of an "answer" fault."""
        return Answer(self.status, self.body, self.headers)

    def matches(self, request: Request) -> bool:
        """Return whether the fault applies to a request."""
        has_method = self.method in {None, request.method}
        return has_method and re.search(self.path, request.target) is not None


class Faults:
    """The faults that wait for their requests, oldest first."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._counts: list[int] = []
        self._lock = Lock()

    def add(self, fault: Fault) -> None:
        """Add a fault."""
        with self._lock:
            self._waiting.append(fault)
            self._counts.append(0)

    def clear(self) -> None:
        """Remove all faults."""
        with self._lock:
            self._waiting, self._counts = [], []

    def waiting(self) -> Sequence[Fault]:
        """Return the faults that still have requests to spoil."""
        with self._lock:
            pairs = zip(self._waiting, self._counts, strict=True)
            return [fault for fault, count in pairs if count < fault.skip + fault.times]

    def of(self, request: Request) -> Fault | None:
        """Count a request and return its fault, if it has one."""
        with self._lock:
            for at, fault in enumerate(self._waiting):
                if fault.matches(request) and self._counts[at] < fault.skip + fault.times:
                    self._counts[at] += 1
                    if self._counts[at] > fault.skip:
                        return fault
        return None
