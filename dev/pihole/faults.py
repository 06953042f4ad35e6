"""What can be made to go wrong, and when."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Literal

from dev.pihole.messages import Answer, Request

Kind = Literal["answer", "drop", "hang", "die"]


@dataclass(frozen=True)
class Fault:
    """Something that goes wrong with some of the next requests.

    Attributes:
        kind: "answer" answers with `status` at once, "drop" closes the connection, "hang" never
            answers, "die" ends the server as a crash does.
        effect: Whether the request takes effect before that.
        method: Which requests, by method; None is any.
        path: Which, by a regular expression that is searched for in path and query.
        skip: How many such requests go well first.
        times: How many go wrong then.
        status: What "answer" answers with.
        body: And its body: an object or text.
    """

    kind: Kind
    effect: bool = False
    method: str | None = None
    path: str = ""
    skip: int = 0
    times: int = 1
    status: int = 503
    body: dict[str, object] | str = "Service Unavailable"

    @property
    def answer(self) -> Answer:
        """What it answers with."""
        return Answer(self.status, self.body, timed=False)

    def concerns(self, request: Request) -> bool:
        """Whether it is about such a request."""
        named = self.method in {None, request.method}
        return named and re.search(self.path, request.target) is not None


class Faults:
    """The faults that wait for their requests, the oldest first."""

    def __init__(self) -> None:
        self._waiting: list[Fault] = []
        self._seen: list[int] = []
        self._lock = Lock()

    def add(self, fault: Fault) -> None:
        """Let one wait."""
        with self._lock:
            self._waiting.append(fault)
            self._seen.append(0)

    def clear(self) -> None:
        """Let everything go well again."""
        with self._lock:
            self._waiting, self._seen = [], []

    def waiting(self) -> Sequence[Fault]:
        """Those that have not been used up."""
        with self._lock:
            pairs = zip(self._waiting, self._seen, strict=True)
            return [fault for fault, seen in pairs if seen < fault.skip + fault.times]

    def of(self, request: Request) -> Fault | None:
        """Count a request, and say what goes wrong with it."""
        with self._lock:
            for at, fault in enumerate(self._waiting):
                if fault.concerns(request) and self._seen[at] < fault.skip + fault.times:
                    self._seen[at] += 1
                    if self._seen[at] > fault.skip:
                        return fault
        return None
