"""Decides whose a DNS record is if its marker does not say so.

The marker of earlier versions names only the cluster, so all stacks of a cluster share it. Records
of the interface dns-local have no marker at all. The register and the state know which of these
records this stack has made. As long as neither has been asked, such a record is *unclear*: pic
keeps it where an Ingress requests it, and never removes it.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from pic.core.model import LiveRecord, Snapshot, record_id
from pic.core.register import RegisterStatus
from pic.planning import dns_requests
from pic.planning.memory import Memory
from pic.settings.parse import Settings


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


def unmarked(snapshot: Snapshot, memory: Memory, settings: Settings) -> tuple[LiveRecord, ...]:
    """Return the records of an interface that has no markers, decided by what pic remembers.

    The register proves a record only with the address that it remembers: an entry may be older than
    a record that another client has made since. Before there is a register or a state, a host that
    pic annotated is unclear, but only with the address that all its Ingresses request. So the
    people of a namespace, who can write the annotation, change nothing with it.
    """
    records = snapshot.records or ()
    hosts = {entry.host for entry in snapshot.state.records} if snapshot.state else set()
    if memory.stored.status is RegisterStatus.READ or snapshot.state is not None:
        entries = {(it.record, it.ip) for it in memory.register.records.values() if not it.gone}
        return claimed(
            [replace(it, ours=(record_id(it), it.ip) in entries) for it in records], hosts
        )
    requests = dns_requests.annotated_requests(snapshot.ingresses, settings)
    return tuple(
        replace(record, ours=True, legacy=True) if requests.agree_on(record) else record
        for record in records
    )


def claimed(records: Iterable[LiveRecord], hosts: Collection[str]) -> tuple[LiveRecord, ...]:
    """Return records without markers, with those of the hosts in the state as ours."""
    return tuple(
        replace(it, ours=it.host in hosts or (it.ours and not it.legacy), legacy=False)
        for it in records
    )


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
