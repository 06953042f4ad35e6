"""Compares what the last deployment declared with what is live now, whatever Ingresses ask for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.model import Family, LiveRecord, LiveResource
from pic.engine.backend.state import Remembered, StackState
from pic.engine.repair import as_live
from pic.planning.changes import FieldChange, differences
from pic.planning.ownership import Inventory, Ownership
from pic.run.situation import Situation
from pic.settings.parse import PiholeApi
from pic.snapshot.pangolin import live_resource as read_resource


class Kind(StrEnum):
    """How an object or a record differs."""

    MISSING = "missing"
    CHANGED = "changed"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True)
class DriftedObject:
    """An object that is not as it was declared.

    Attributes:
        fields: The fields that differ, where it is changed; `old` is what is live.
    """

    host: str
    key: tuple[str, str]
    kind: Kind
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class DriftedRecord:
    """A DNS record that is not as it was declared.

    Attributes:
        declared: The address that the last deployment declared; None where no deployment has it.
        live: Our addresses that Pi-hole has for it.
    """

    host: str
    kind: Kind
    declared: str | None
    live: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """Everything that differs from the last deployment, sorted by host."""

    objects: tuple[DriftedObject, ...] = ()
    records: tuple[DriftedRecord, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.objects or self.records)


def find(state: StackState, situation: Situation) -> Drift:
    """Compare the objects and the records of the last deployment with what is live."""
    snapshot = situation.snapshot
    marked = situation.settings.pihole_api is not PiholeApi.DNS_LOCAL
    return Drift(
        find_objects(state, snapshot.live, situation.config.ownership),
        find_records(state, snapshot.records, marked=marked),
    )


def find_objects(
    state: StackState, live: Sequence[LiveResource], ownership: Ownership
) -> tuple[DriftedObject, ...]:
    """Compare the objects of the last deployment with the live ones, by host."""
    by_key = {resource.key: resource for resource in live}
    drifted = [*_declared(state, by_key), *_untracked(state, live, ownership)]
    return tuple(sorted(drifted, key=lambda drift: (drift.host, drift.key)))


def find_records(
    state: StackState, live: Sequence[LiveRecord] | None, *, marked: bool = True
) -> tuple[DriftedRecord, ...]:
    """Compare the records of the last deployment with those in Pi-hole, by host and family.

    Args:
        state: The state of the stack.
        live: The records in Pi-hole; None where Pi-hole was not read, so that nothing is compared.
        marked: Whether our records bear a marker. If not, the records of the state are ours.
    """
    if live is None:
        return ()
    declared = {(entry.host, Family.of(entry.ip)): entry.ip for entry in state.records.values()}
    addresses: dict[tuple[str, Family], list[str]] = {}
    for record in live:
        if record.ours or (not marked and record.key in declared):
            addresses.setdefault(record.key, []).append(record.ip)
    drifted = (
        _record(key[0], declared.get(key), tuple(sorted(addresses.get(key, ()))))
        for key in sorted(declared.keys() | addresses.keys())
    )
    return tuple(filter(None, drifted))


def _record(host: str, declared: str | None, live: tuple[str, ...]) -> DriftedRecord | None:
    if live == (declared,):
        return None
    if declared is None:
        return DriftedRecord(host, Kind.UNTRACKED, None, live)
    return DriftedRecord(host, Kind.CHANGED if live else Kind.MISSING, declared, live)


def _declared(
    state: StackState, by_key: dict[tuple[str, str], LiveResource]
) -> Iterator[DriftedObject]:
    for host, remembered in state.resources.items():
        live = by_key.get(remembered.key)
        if live is None:
            yield DriftedObject(host, remembered.key, Kind.MISSING)
        elif fields := tuple(_fields(remembered, live)):
            yield DriftedObject(host, remembered.key, Kind.CHANGED, fields)


def _fields(remembered: Remembered, live: LiveResource) -> Iterator[FieldChange]:
    declared = read_resource(remembered.inputs)
    return differences(as_live(declared, declared.host), live)


def _untracked(
    state: StackState, live: Sequence[LiveResource], ownership: Ownership
) -> Iterator[DriftedObject]:
    for resource in Inventory(live, ownership).ours:
        if resource.key not in state.keys:
            yield DriftedObject(resource.host, resource.key, Kind.UNTRACKED)


def as_text(drift: Drift) -> str:
    """Return the drift as people read it, a line each."""
    lines = [*map(_object_line, drift.objects), *map(_record_line, drift.records)]
    return "\n".join(lines) or "Nothing differs from the last deployment."


def _record_line(drifted: DriftedRecord) -> str:
    live = ", ".join(drifted.live)
    if drifted.kind is Kind.MISSING:
        return f"- DNS record {drifted.host} {drifted.declared} is gone"
    if drifted.kind is Kind.UNTRACKED:
        return f"? DNS record {drifted.host} {live} is ours, and no deployment has it"
    return f"~ DNS record {drifted.host}: declared {drifted.declared}, live {live}"


def _object_line(drifted: DriftedObject) -> str:
    where = f"{drifted.host} ({'/'.join(drifted.key)})"
    if drifted.kind is Kind.MISSING:
        return f"- {where} is gone"
    if drifted.kind is Kind.UNTRACKED:
        return f"? {where} is ours, and no deployment has it"
    parts = (
        f"{field.path}: declared {field.new!r}, live {field.old!r}" for field in drifted.fields
    )
    return f"~ {where}: {'; '.join(parts)}"


def as_json(drift: Drift) -> dict[str, object]:
    """Return the drift as its versioned contract has it."""
    records = [
        {
            "host": record.host,
            "kind": str(record.kind),
            "declared": record.declared,
            "live": list(record.live),
        }
        for record in drift.records
    ]
    return {
        "version": 1,
        "drift": list(map(_json_object, drift.objects)),
        **({"records": records} if records else {}),
    }


def _json_object(drifted: DriftedObject) -> dict[str, object]:
    return {
        "host": drifted.host,
        "namespace": drifted.key[0],
        "name": drifted.key[1],
        "kind": str(drifted.kind),
        "fields": [
            {"path": field.path, "declared": field.new, "live": field.old}
            for field in drifted.fields
        ],
    }
