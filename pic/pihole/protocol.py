"""What is asked of a Pi-hole, whichever interface it speaks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pic.core.errors import PiholeError
from pic.core.model import Family, LiveRecord


@dataclass(frozen=True, slots=True)
class RecordEdit:
    """What a name should have; an `ip` of None takes our record away."""

    host: str
    family: Family
    ip: str | None

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family of the record, as in `Record.key`."""
        return self.host, self.family


class Hosts(Protocol):
    """The local DNS records of a Pi-hole, within one session."""

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, ours or not, sorted.

        Raises:
            PiholeError: They could not be read whole.
        """

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Bring edits about, and verify them; what needs no change is not written.

        A record that is not ours is left as it is, unless taking over is allowed.

        Returns:
            The edits that failed, and why; the others are done.

        Raises:
            PiholeError: None of them could be done.
        """
