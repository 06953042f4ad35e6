"""Compares what the last deployment declared with what is live now.

It ignores Ingresses: what they request since that deployment is a change, not drift.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pic.core.model import Family, LiveRecord, LiveResource
from pic.core.published import Published
from pic.engine import public_state
from pic.engine.backend.state import StackState, StateResource
from pic.engine.repair import resource_as_live
from pic.planning import record_ownership
from pic.planning.changes import FieldChange, differences
from pic.planning.inventory import Inventory
from pic.planning.memory import Memory, recall
from pic.report.text import shown_value
from pic.run.situation import Situation
from pic.settings.parse import PiholeApi
from pic.snapshot.pangolin import live_resource as read_resource

NOTHING_PUBLISHED = Published()
UNTRACKED = "belongs to this stack, but the last deployment did not declare it"


class Kind(StrEnum):
    """How an object or a record differs from the last deployment.

    UNTRACKED belongs to this stack, but the last deployment did not declare it. GOING is being
    deleted.
    """

    MISSING = "missing"
    GOING = "going"
    CHANGED = "changed"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True)
class DriftedObject:
    """A PangolinResource that differs from its declaration.

    Attributes:
        fields: The fields that differ if the object is changed; `old` is the live value.
    """

    host: str
    key: tuple[str, str]
    kind: Kind
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class DriftedRecord:
    """A DNS record that differs from its declaration.

    Attributes:
        declared: The address that the last deployment declared; None if it declared no record.
        live: Our addresses for this host and family in Pi-hole.
    """

    host: str
    kind: Kind
    declared: str | None
    live: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Drift:
    """All objects and records that differ from the last deployment, sorted by host.

    Attributes:
        unread_targets: The targets that did not answer, so that nothing in them was compared.
    """

    objects: tuple[DriftedObject, ...] = ()
    records: tuple[DriftedRecord, ...] = ()
    unread_targets: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.objects or self.records)


def find(state: StackState, situation: Situation) -> Drift:
    """Compare the objects and the records of the last deployment with what is live."""
    snapshot = situation.snapshot
    marked = situation.settings.pihole_api is not PiholeApi.DNS_LOCAL
    silent = {name for name, it in state.resources.items() if it.published and snapshot.silent}
    compared = {name: it for name, it in state.resources.items() if name not in silent}
    return Drift(
        find_objects(
            replace(state, resources=compared),
            snapshot.live,
            recall(snapshot, situation.config.ownership, situation.settings),
            snapshot.published or NOTHING_PUBLISHED,
        ),
        find_records(state, snapshot.records, marked=marked),
        tuple(sorted(situation.unread_targets)),
    )


def find_objects(
    state: StackState,
    objects: Sequence[LiveResource],
    memory: Memory,
    published: Published = NOTHING_PUBLISHED,
) -> tuple[DriftedObject, ...]:
    """Compare the objects of the last deployment with the live ones, by host."""
    by_identity = {live.identity: live for live in objects}
    drifted = [*_declared(state, by_identity, published), *_untracked(state, objects, memory)]
    return tuple(sorted(drifted, key=lambda entry: (entry.host, entry.key)))


def find_records(
    state: StackState, records: Sequence[LiveRecord] | None, *, marked: bool = True
) -> tuple[DriftedRecord, ...]:
    """Compare the records of the last deployment with those in Pi-hole, by host and family.

    Args:
        state: The state of the stack.
        records: The records in Pi-hole; None if Pi-hole was not read, and then nothing is compared.
        marked: Whether our records bear a marker. If not, only the state says which ones are ours.
    """
    if records is None:
        return ()
    declared = {(record.host, Family.of(record.ip)): record.ip for record in state.records.values()}
    addresses: dict[tuple[str, Family], list[str]] = {}
    for live in record_ownership.judged(records, state.unmarked_hosts):
        if live.ours or (not marked and live.key in declared):
            addresses.setdefault(live.key, []).append(live.ip)
    # An interrupted update leaves two addresses of ours for one key, so each key has a list.
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
    state: StackState,
    by_identity: Mapping[int | tuple[str, str], LiveResource],
    published: Published,
) -> Iterator[DriftedObject]:
    for host, resource in state.resources.items():
        live = by_identity.get(resource.identity)
        if live is None:
            yield DriftedObject(host, resource.key, Kind.MISSING)
        elif live.going:
            yield DriftedObject(host, resource.key, Kind.GOING)
        elif fields := tuple(_fields(host, resource, live, published)):
            yield DriftedObject(host, resource.key, Kind.CHANGED, fields)


def _fields(
    host: str, resource: StateResource, live: LiveResource, published: Published
) -> Iterator[FieldChange]:
    if resource.published:
        return differences(public_state.declared(host, resource, published), live)
    declared = read_resource(resource.inputs)
    return differences(resource_as_live(declared, declared.host), live)


def _untracked(
    state: StackState, objects: Sequence[LiveResource], memory: Memory
) -> Iterator[DriftedObject]:
    known = state.identities
    for live in Inventory(objects, memory).ours:
        if live.identity not in known:
            yield DriftedObject(live.host, live.key, Kind.UNTRACKED)


def as_text(drift: Drift) -> str:
    """Return the drift as text, one line for each object and record."""
    lines = [*map(_object_line, drift.objects), *map(_record_line, drift.records)]
    lines += [f"? {target} was not compared: it did not answer" for target in drift.unread_targets]
    return "\n".join(lines) or "Nothing differs from the last deployment."


def _record_line(drifted: DriftedRecord) -> str:
    live = ", ".join(drifted.live)
    if drifted.kind is Kind.MISSING:
        return f"- DNS record {drifted.host} {drifted.declared} is missing"
    if drifted.kind is Kind.UNTRACKED:
        return f"? DNS record {drifted.host} {live} {UNTRACKED}"
    return f"~ DNS record {drifted.host}: declared {drifted.declared}, live {live}"


def _object_line(drifted: DriftedObject) -> str:
    name = f"{drifted.host} ({'/'.join(drifted.key)})"
    if drifted.kind is Kind.MISSING:
        return f"- {name} is missing"
    if drifted.kind is Kind.GOING:
        return f"- {name} is being deleted"
    if drifted.kind is Kind.UNTRACKED:
        return f"? {name} {UNTRACKED}"
    return f"~ {name}: {'; '.join(map(_field, drifted.fields))}"


def _field(field: FieldChange) -> str:
    declared, live = shown_value(field.new), shown_value(field.old)
    return f"{field.path}: declared {declared}, live {live}"


def as_json(drift: Drift) -> dict[str, object]:
    """Return the drift as JSON; `version` changes when readers have to change."""
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
        **({"notCompared": list(drift.unread_targets)} if drift.unread_targets else {}),
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
