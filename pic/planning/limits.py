"""Holds the limits of the guard, as the settings define them."""

import math
from dataclasses import dataclass
from datetime import timedelta
from fnmatch import fnmatchcase

from pic.settings.parse import Settings, Tenants

_RETARGETED_RATIO = 0.3
_RESERVED = timedelta(hours=24)


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a run may change without an acknowledgement."""

    settings: Settings

    @property
    def move_after(self) -> timedelta:
        """How long a host that is gone stays reserved for its namespace."""
        if self.settings.move_after is not None:
            return self.settings.move_after
        return timedelta() if self._is_one else _RESERVED

    @property
    def moves(self) -> float:
        """How many hosts may move in one run where `pic:hostPolicy` does not permit it."""
        if self.settings.max_moves is not None:
            return self.settings.max_moves
        return math.inf if self._is_one else 0

    def removals(self, count: int) -> int:
        """Return how many of so many hosts pic may remove within `pic:removalWindow`.

        With few hosts the share alone would round down to no removal at all.
        """
        return max(self.settings.max_removals, _share(self.settings.max_removal_ratio, count))

    def weakened(self, count: int) -> int:
        """Return how many of so many protected hosts may lose protection in one run."""
        if self.settings.max_weakened is not None:
            return self.settings.max_weakened
        return self.removals(count) if self._is_one else 0

    def retargeted(self, count: int) -> int:
        """Return how many of so many hosts one run may lead elsewhere."""
        return max(self.settings.max_retargeted, _share(_RETARGETED_RATIO, count))

    def is_ephemeral(self, namespace: str) -> bool:
        """Say whether a namespace is a preview environment, in which no removal counts."""
        return any(fnmatchcase(namespace, pattern) for pattern in self.settings.ephemeral)

    @property
    def _is_one(self) -> bool:
        return self.settings.tenants is Tenants.ONE


def _share(ratio: float, count: int) -> int:
    # In binary 0.29 x 100 is slightly less than 29. It must count as 29.
    return math.floor(ratio * count + 1e-9)
