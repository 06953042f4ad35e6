"""Compares the DNS records in Pi-hole with the planned ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from pic.core.model import Family, LiveRecord, Record


@dataclass(frozen=True, slots=True)
class RecordUpdate:
    """A DNS record of ours that has another address than it should have."""

    record: Record
    live: LiveRecord


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """What would change in Pi-hole, each part sorted by host, family and address.

    Attributes:
        known: How many records are live and ours; 0 where Pi-hole was not read.
        wanted: How many the plan has.
        compared: Pi-hole was read; if not, nothing is known to change.
    """

    known: int = 0
    wanted: int = 0
    created: tuple[Record, ...] = ()
    updated: tuple[RecordUpdate, ...] = ()
    removed: tuple[LiveRecord, ...] = ()
    compared: bool = False

    def __bool__(self) -> bool:
        """Something would change."""
        return bool(self.created or self.updated or self.removed)


def record_changes(live: Sequence[LiveRecord] | None, planned: Sequence[Record]) -> RecordChanges:
    """Compare the records of ours with the planned ones.

    Args:
        live: What Pi-hole has; None where it was not read.
        planned: What it should have.
    """
    if live is None:
        return RecordChanges(wanted=len(planned))
    ours: dict[tuple[str, Family], list[LiveRecord]] = {}
    found = sorted({each for each in live if each.ours}, key=_record_order)
    for each in found:
        ours.setdefault(each.key, []).append(each)
    wanted = {each.key for each in planned}
    return RecordChanges(
        known=len(found),
        wanted=len(planned),
        created=tuple(sorted((e for e in planned if e.key not in ours), key=_record_order)),
        # An interrupted update leaves the old address beside the new one.
        updated=tuple(
            RecordUpdate(record, other[0])
            for record in sorted(planned, key=_record_order)
            if (other := [each for each in ours.get(record.key, ()) if each.ip != record.ip])
        ),
        removed=tuple(each for each in found if each.key not in wanted),
        compared=True,
    )


def _record_order(record: Record | LiveRecord) -> tuple[str, Family, str]:
    return *record.key, record.ip
