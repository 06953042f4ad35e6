"""Tracks the requests in progress, and detects the overlaps that kill Pi-hole."""

from dataclasses import dataclass
from threading import Lock

from dev.pihole.messages import Request


@dataclass(frozen=True)
class _InFlight:
    request: Request
    writes: bool

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.path}"


class Flight:
    """The requests between their first line and their answer.

    Attributes:
        most: The largest number of them at the same time.
    """

    def __init__(self) -> None:
        self._requests: dict[int, _InFlight] = {}
        self._lock = Lock()
        self.most = 0

    @property
    def number(self) -> int:
        """The number of requests in progress."""
        return len(self._requests)

    def enter(self, request: Request, *, writes: bool) -> str | None:
        """Add a request.

        Returns:
            Why Pi-hole dies of it: another request is in progress, and one of the two writes.
        """
        entering = _InFlight(request, writes)
        with self._lock:
            others = [other for other in self._requests.values() if writes or other.writes]
            self._requests[id(request)] = entering
            self.most = max(self.most, len(self._requests))
        return f"{entering} came during {others[0]}" if others else None

    def empty(self) -> None:
        """Remove all requests, for a new start of the server."""
        with self._lock:
            self._requests.clear()

    def leave(self, request: Request) -> None:
        """Remove a request, before its answer: the client may send the next one at once."""
        with self._lock:
            self._requests.pop(id(request), None)
