"""Decides whose a DNS record is if its marker does not say so.

The marker of earlier versions names only the cluster, so all stacks of a cluster share it. The
register and the state know which of these records this stack has made. As long as neither has been
asked, such a record is *unclear*: pic keeps it where an Ingress requests it, and never removes it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from pic.core.model import LiveRecord, Snapshot, record_id
from pic.core.register import RegisterStatus
from pic.planning.memory import Memory


def is_unclear(record: LiveRecord) -> bool:
    """Say whether register and state still have to decide whose a record is."""
    return record.legacy and record.ours


def counted(records: Iterable[LiveRecord], planned: Collection[str]) -> Iterator[LiveRecord]:
    """Yield our records, of those that are unclear only the planned ones.

    Args:
        records: All records in Pi-hole.
        planned: The ids of the planned records.
    """
    for record in records:
        if record.ours and (not is_unclear(record) or record_id(record) in planned):
            yield record


def remembered(snapshot: Snapshot, memory: Memory) -> tuple[LiveRecord, ...]:
    """Return the records of a snapshot, decided by what pic remembers, if it does."""
    entries = memory.register.records.values()
    hosts = {entry.host for entry in entries if not entry.gone}
    begun = memory.stored.status is RegisterStatus.READ or snapshot.state is not None
    return judged(snapshot.records or (), hosts if begun else None)


def judged(records: Sequence[LiveRecord], hosts: Collection[str] | None) -> tuple[LiveRecord, ...]:
    """Return records with those of the earlier marker decided.

    A record that is not ours keeps `legacy`, so that a second call may still claim it.

    Args:
        records: All records in Pi-hole.
        hosts: The hosts whose records the register or the state has; None if neither exists, and
            then nothing is decided.
    """
    if hosts is None:
        return tuple(records)
    # Where this stack has a record with its own marker, it made no other.
    replaced = {record.key for record in records if record.ours and not record.legacy}
    return tuple(
        _decided(record, ours=record.host in hosts and record.key not in replaced)
        for record in records
    )


def _decided(record: LiveRecord, *, ours: bool) -> LiveRecord:
    return replace(record, ours=ours, legacy=not ours) if record.legacy else record
