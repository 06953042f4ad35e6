"""What is live and differs from what was declared last. No I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.model import Family, LiveRecord, LiveResource
from pic.engine.backend.state import Remembered, StackState
from pic.engine.repair import as_live
from pic.planning.changes import FieldChange, differences
from pic.planning.ownership import Inventory, Ownership
from pic.snapshot.pangolin import resource as read_resource


class Kind(StrEnum):
    """How an object or a record differs."""

    MISSING = "missing"
    CHANGED = "changed"
    UNTRACKED = "untracked"


@dataclass(frozen=True, slots=True)
class Drifted:
    """An object that is not as it was declared.

    Attributes:
        fields: What differs, where it is changed; `old` is what is live.
    """

    host: str
    key: tuple[str, str]
    kind: Kind
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class DriftedRecord:
    """A DNS record that is not as it was declared.

    Attributes:
        declared: Its address as it was declared last; None where no deployment has it.
        live: The addresses that Pi-hole has for it and that are ours.
    """

    host: str
    kind: Kind
    declared: str | None
    live: tuple[str, ...] = ()


def find(
    state: StackState, live: Sequence[LiveResource], ownership: Ownership
) -> tuple[Drifted, ...]:
    """Compare the last deployment with what is live, by host."""
    by_key = {each.key: each for each in live}
    found = [*_declared(state, by_key), *_untracked(state, live, ownership)]
    return tuple(sorted(found, key=lambda each: (each.host, each.key)))


def find_records(
    state: StackState, live: Sequence[LiveRecord] | None, *, marked: bool = True
) -> tuple[DriftedRecord, ...]:
    """Compare the records of the last deployment with what Pi-hole has, by host and family.

    Args:
        state: What the engine remembers.
        live: What Pi-hole has; None where it was not read, and nothing can be told.
        marked: Records of ours bear a marker; if not, those the engine remembers are ours.
    """
    if live is None:
        return ()
    remembered = {(each.host, Family.of(each.ip)): each.ip for each in state.records.values()}
    there: dict[tuple[str, Family], list[str]] = {}
    for each in live:
        if each.ours or (not marked and each.key in remembered):
            there.setdefault(each.key, []).append(each.ip)
    return tuple(
        found
        for key in sorted(remembered.keys() | there.keys())
        if (found := _record(key[0], remembered.get(key), tuple(sorted(there.get(key, ())))))
    )


def _record(host: str, declared: str | None, live: tuple[str, ...]) -> DriftedRecord | None:
    if live == (declared,):
        return None
    if declared is None:
        return DriftedRecord(host, Kind.UNTRACKED, None, live)
    return DriftedRecord(host, Kind.CHANGED if live else Kind.MISSING, declared, live)


def _declared(state: StackState, live: dict[tuple[str, str], LiveResource]) -> Iterator[Drifted]:
    for host, remembered in state.resources.items():
        there = live.get(remembered.key)
        if there is None:
            yield Drifted(host, remembered.key, Kind.MISSING)
        elif fields := tuple(_fields(remembered, there)):
            yield Drifted(host, remembered.key, Kind.CHANGED, fields)


def _fields(remembered: Remembered, there: LiveResource) -> Iterator[FieldChange]:
    declared = read_resource(remembered.inputs)
    return differences(as_live(declared, declared.host), there)


def _untracked(
    state: StackState, live: Sequence[LiveResource], ownership: Ownership
) -> Iterator[Drifted]:
    for each in Inventory(live, ownership).ours:
        if each.key not in state.keys:
            yield Drifted(each.host, each.key, Kind.UNTRACKED)


def text(found: Sequence[Drifted], records: Sequence[DriftedRecord] = ()) -> str:
    """Return it as people read it."""
    lines = [*map(_line, found), *map(_record_line, records)]
    return "\n".join(lines) or "Nothing differs from the last deployment."


def _record_line(each: DriftedRecord) -> str:
    live = ", ".join(each.live)
    if each.kind is Kind.MISSING:
        return f"- DNS record {each.host} {each.declared} is gone"
    if each.kind is Kind.UNTRACKED:
        return f"? DNS record {each.host} {live} is ours, and no deployment has it"
    return f"~ DNS record {each.host}: {each.declared} is {live}"


def _line(each: Drifted) -> str:
    where = f"{each.host} ({'/'.join(each.key)})"
    if each.kind is Kind.MISSING:
        return f"- {where} is gone"
    if each.kind is Kind.UNTRACKED:
        return f"? {where} is ours, and no deployment has it"
    parts = (f"{field.path}: {field.new!r} is {field.old!r}" for field in each.fields)
    return f"~ {where}: {'; '.join(parts)}"


def wire(found: Sequence[Drifted], records: Sequence[DriftedRecord] = ()) -> dict[str, object]:
    """Return it as JSON; versioned."""
    told = [
        {
            "host": each.host,
            "kind": str(each.kind),
            "declared": each.declared,
            "live": list(each.live),
        }
        for each in records
    ]
    return {
        "version": 1,
        "drift": [
            {
                "host": each.host,
                "namespace": each.key[0],
                "name": each.key[1],
                "kind": str(each.kind),
                "fields": [
                    {"path": field.path, "declared": field.new, "live": field.old}
                    for field in each.fields
                ],
            }
            for each in found
        ],
        **({"records": told} if told else {}),
    }
