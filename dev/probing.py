"""Queries a resolver continuously, to detect moments in which a name has no address."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from dev.pihole import PiHole, PiHoleError

PERIOD_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class ProbeCounts:
    """Counts the answers of a resolver.

    Attributes:
        queries: The number of all queries.
        missing: The number of queries without an address, or without any answer.
        unexpected: The number of answers with an address that is not an expected one.
    """

    queries: int = 0
    missing: int = 0
    unexpected: int = 0

    def with_answer(self, answer: Sequence[str], expected: Collection[str]) -> "ProbeCounts":
        """Return the counts with one more answer."""
        unexpected = not set(answer) <= set(expected)
        return ProbeCounts(
            self.queries + 1, self.missing + (not answer), self.unexpected + unexpected
        )


class Probe:
    """Queries one name after another, every two milliseconds, until the block ends."""

    def __init__(self, pihole: PiHole, names: Sequence[str], expected: Collection[str]) -> None:
        self._pihole = pihole
        self._names = names
        self._expected = expected
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._query, name="probe")
        self.counts = ProbeCounts()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _query(self) -> None:
        while not self._stop.wait(PERIOD_SECONDS):
            name = self._names[self.counts.queries % len(self._names)]
            try:
                answer = self._pihole.ask(name, seconds=0.5)
            except PiHoleError:
                answer = []
            self.counts = self.counts.with_answer(answer, self._expected)
