"""Which requests are being handled, and whether that is too much for Pi-hole."""

from dataclasses import dataclass
from threading import Lock

from dev.pihole.messages import Request


@dataclass(frozen=True)
class _Flying:
    request: Request
    writes: bool

    def __str__(self) -> str:
        return f"{self.request.method} {self.request.path}"


class Flight:
    """The requests between their first line and their answer."""

    def __init__(self) -> None:
        self._flying: dict[int, _Flying] = {}
        self._lock = Lock()
        self.most = 0

    @property
    def number(self) -> int:
        """How many there are."""
        return len(self._flying)

    def enter(self, request: Request, *, writes: bool) -> str | None:
        """Count a request in.

        Returns:
            Why Pi-hole dies of it, if one of two requests at once writes.
        """
        entering = _Flying(request, writes)
        with self._lock:
            others = [other for other in self._flying.values() if writes or other.writes]
            self._flying[id(request)] = entering
            self.most = max(self.most, len(self._flying))
        return f"{entering} came during {others[0]}" if others else None

    def empty(self) -> None:
        """Forget all of them: a new life begins."""
        with self._lock:
            self._flying.clear()

    def leave(self, request: Request) -> None:
        """Count it out; before its answer is sent, since the client may ask on at once."""
        with self._lock:
            self._flying.pop(id(request), None)
