"""Builds what pic remembers: a memory without a register, and registers with entries."""

from collections.abc import Iterable

from pic.core.model import Snapshot
from pic.core.names import object_name
from pic.core.register import (
    Bucket,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    bucket_of,
)
from pic.planning.limits import Limits
from pic.planning.memory import Memory, recall
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings

NOW = "2026-01-02T00:00:00Z"
CLUSTER, STACK_ID = "cluster-1", "0a0a0a0a"
OURS = Ownership("pic.prod", stack_id=STACK_ID)


def forgetful(ownership: Ownership, settings: Settings | None = None) -> Memory:
    """Return the memory of a run without a register, in which the labels decide what is ours."""
    return Memory(ownership, Limits(settings or Settings()))


def remembering(
    stored: Register,
    ownership: Ownership = OURS,
    settings: Settings | None = None,
    now: str = NOW,
) -> Memory:
    """Return the memory of a run that has read a register."""
    snapshot = Snapshot(CLUSTER, registers={ownership.stack: stored}, now=now)
    return recall(snapshot, ownership, settings or Settings())


def entry(host: str, namespace: str = "prod", source: str = "web", **more: object) -> HostEntry:
    """Return the entry of a host that an Ingress asks for, with the usual name of its object."""
    name = object_name(namespace, source, host)
    fields: dict[str, object] = {
        "tunnel": f"{namespace}/default",
        "since": "2025-01-01T00:00:00Z",
        "serial": 1,
        **more,
    }
    return HostEntry(host, namespace, name, f"Ingress/{source}", **fields)  # type: ignore[arg-type]


def register(
    entries: Iterable[HostEntry] = (),
    records: Iterable[RecordEntry] = (),
    *,
    stack_id: str = STACK_ID,
    cluster_id: str = CLUSTER,
) -> Register:
    """Return a register that was read, with the buckets that its entries need."""
    hosts = {it.host: it for it in entries}
    by_record = {it.record: it for it in records}
    named = {*hosts, *(it.host for it in by_record.values())}
    digits = set(map(bucket_of, named))
    buckets = {digit: Bucket(stack_id, cluster_id, 1) for digit in sorted(digits)}
    return Register(RegisterStatus.READ, hosts, by_record, buckets)
