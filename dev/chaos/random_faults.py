"""Injects random faults between pic and the API server, and counts them by kind."""

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

# The percentage of requests that get a fault. The engine sends many, and one fault ends its run.
PERCENT, ENGINE_PERCENT = 8.0, 2.0
SLOWEST_SECONDS = 2.0
WEIGHTS = {"500": 3, "429": 2, "reset": 3, "answer lost": 2, "slow": 4, "truncated": 3, "kind": 2}


@dataclass
class RandomFaults:
    """A rule for the proxy, which calls it from several threads at once.

    Attributes:
        on: Whether there are any faults now.
        counts: How many faults were injected, by kind.
    """

    rng: random.Random
    on: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, request: Request) -> Fault | None:
        """Return the fault of a request; None forwards it unchanged."""
        with self._lock:
            percent = ENGINE_PERCENT if request.agent == PLUGIN else PERCENT
            if not self.on or self.rng.uniform(0, 100) >= percent:
                return None
            name = self.rng.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            if name == "kind" and (request.method != "GET" or request.agent == PLUGIN):
                # An answer of another kind would report a write as done that was not done.
                name = "500"
            if name == "answer lost" and request.is_watch:
                name = "reset"
            self.counts[name] += 1
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
                return Slow(self.rng.uniform(0.1, SLOWEST_SECONDS))
            case "truncated":
                return Truncated()
            case _:
                return wrong_kind()
