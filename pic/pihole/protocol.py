"""Defines the operations on a Pi-hole, which both of its interfaces implement."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pic.core.errors import PiholeError
from pic.core.model import Family, LiveRecord


@dataclass(frozen=True, slots=True)
class RecordEdit:
    """The address that our record of a host and family should have.

    Attributes:
        ip: None deletes the record.
        legacy: Whether a line with the marker of earlier versions is ours. The state has such a
            record, so this stack made it.
    """

    host: str
    family: Family
    ip: str | None
    legacy: bool = False

    @property
    def key(self) -> tuple[str, Family]:
        """Host and family of the record, as in `Record.key`."""
        return self.host, self.family


class Hosts(Protocol):
    """The local DNS records of a Pi-hole, within one session."""

    def read(self) -> tuple[LiveRecord, ...]:
        """Return every record, ours or not, sorted.

        Raises:
            PiholeError: Pi-hole did not return all records.
        """

    def shadows(self) -> Mapping[str, str]:
        """Return what Pi-hole answers for a host in place of its record, in words, by host.

        What Pi-hole does not let pic read is left out.

        Raises:
            PiholeError: Pi-hole did not answer.
        """

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        """Apply edits and verify them; write nothing if nothing differs.

        A record that is not ours stays as it is, unless pic may take it over.

        Returns:
            The failed edits with their errors. All other edits are done.

        Raises:
            PiholeError: No edit could be done.
        """
