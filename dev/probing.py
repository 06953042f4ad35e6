"""Asks a resolver all the time, to find out whether a name is ever without an address."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from dev.pihole import PiHole, PiHoleError

PERIOD_SECONDS = 0.002


@dataclass(frozen=True, slots=True)
class Heard:
    """What a resolver has answered.

    Attributes:
        asked: How often it was asked.
        missing: How often it had no address, or no answer.
        strange: How often it had an address that nobody expects.
    """

    asked: int = 0
    missing: int = 0
    strange: int = 0

    def with_answer(self, answer: Sequence[str], expected: Collection[str]) -> "Heard":
        """Count one more answer."""
        strange = not set(answer) <= set(expected)
        return Heard(self.asked + 1, self.missing + (not answer), self.strange + strange)


class Probe:
    """Asks for one name after another, every two milliseconds, until the block ends."""

    def __init__(self, pihole: PiHole, names: Sequence[str], expected: Collection[str]) -> None:
        self._pihole = pihole
        self._names = names
        self._expected = expected
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask, name="probe")
        self.heard = Heard()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._ended.wait(PERIOD_SECONDS):
            name = self._names[self.heard.asked % len(self._names)]
            try:
                answer = self._pihole.ask(name, seconds=0.5)
            except PiHoleError:
                answer = []
            self.heard = self.heard.with_answer(answer, self._expected)
