"""What goes wrong on the way to the API server: drawn at random, counted by kind."""

import random
import threading
from collections import Counter
from dataclasses import dataclass, field

from dev.controlplane.faults import (
    PLUGIN,
    Fault,
    Request,
    Reset,
    Slow,
    Truncated,
    broken,
    overloaded,
    wrong_kind,
)

# How many requests of a hundred come to grief: a run of the engine makes many, and one is enough.
PERCENT, ENGINE_PERCENT = 8.0, 2.0
SLOWEST_SECONDS = 2.0
WEIGHTS = {"500": 3, "429": 2, "reset": 3, "answer lost": 2, "slow": 4, "truncated": 3, "kind": 2}


@dataclass
class Troubles:
    """The proxy's rule; many threads ask it at once.

    Attributes:
        on: Whether anything goes wrong at all.
        met: How many requests came to grief, by kind.
    """

    dice: random.Random
    on: bool = False
    met: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, asked: Request) -> Fault | None:
        """Say what becomes of a request."""
        with self._lock:
            percent = ENGINE_PERCENT if asked.agent == PLUGIN else PERCENT
            if not self.on or self.dice.uniform(0, 100) >= percent:
                return None
            name = self.dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            if name == "kind" and (asked.method != "GET" or asked.agent == PLUGIN):
                # No API server says of a write that it is done when it is not.
                name = "500"
            if name == "answer lost" and asked.is_watch:
                name = "reset"
            self.met[name] += 1
            return self._fault(name)

    def _fault(self, name: str) -> Fault:
        match name:
            case "500":
                return broken()
            case "429":
                return overloaded()
            case "reset" | "answer lost":
                return Reset(done=name == "answer lost")
            case "slow":
                return Slow(self.dice.uniform(0.1, SLOWEST_SECONDS))
            case "truncated":
                return Truncated()
            case _:
                return wrong_kind()
