"""Compares the DNS records in Pi-hole with the planned ones."""

from collections.abc import Sequence
from dataclasses import dataclass

from pic.core.model import Family, LiveRecord, Record, record_id
from pic.planning import record_ownership


@dataclass(frozen=True, slots=True)
class RecordUpdate:
    """A DNS record of ours whose live address differs from the planned one."""

    record: Record
    live: LiveRecord


@dataclass(frozen=True, slots=True)
class RecordChanges:
    """What would change in Pi-hole, each part sorted by host, family and address.

    Attributes:
        live_count: How many records are live and ours; 0 if Pi-hole was not read.
        planned_count: How many records the plan has.
        compared: Whether Pi-hole was read. If not, no change is known.
    """

    live_count: int = 0
    planned_count: int = 0
    created: tuple[Record, ...] = ()
    updated: tuple[RecordUpdate, ...] = ()
    removed: tuple[LiveRecord, ...] = ()
    compared: bool = False

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.created or self.updated or self.removed)


def record_changes(live: Sequence[LiveRecord] | None, planned: Sequence[Record]) -> RecordChanges:
    """Compare our live records with the planned ones.

    Args:
        live: All records in Pi-hole; None if Pi-hole was not read.
        planned: The records that should exist.
    """
    if live is None:
        return RecordChanges(planned_count=len(planned))
    planned_keys = {record.key for record in planned}
    # Pi-hole keeps its records in a plain list, so the same line may occur twice.
    unique = set(record_ownership.counted(live, set(map(record_id, planned))))
    ours = sorted(unique, key=_record_order)
    live_keys = {record.key for record in ours}
    ordered = sorted(planned, key=_record_order)
    return RecordChanges(
        live_count=len(ours),
        planned_count=len(planned),
        created=tuple(record for record in ordered if record.key not in live_keys),
        updated=_updates(ordered, ours),
        removed=tuple(record for record in ours if record.key not in planned_keys),
        compared=True,
    )


def _updates(planned: Sequence[Record], ours: Sequence[LiveRecord]) -> tuple[RecordUpdate, ...]:
    by_key: dict[tuple[str, Family], list[LiveRecord]] = {}
    for live in ours:
        by_key.setdefault(live.key, []).append(live)
    # An interrupted update leaves the old address next to the new one. The old one must still go.
    return tuple(
        RecordUpdate(record, outdated[0])
        for record in planned
        if (outdated := [live for live in by_key.get(record.key, ()) if live.ip != record.ip])
    )


def _record_order(record: Record | LiveRecord) -> tuple[str, Family, str]:
    return *record.key, record.ip
