"""What is live and differs from what was declared last. No I/O."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.changes import FieldChange, differences
from pic.inventory import Inventory, Ownership
from pic.live import resource as read_resource
from pic.model import LiveResource
from pic.passes import as_live
from pic.state import Remembered, State


class Kind(StrEnum):
    """How an object differs."""

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


def find(state: State, live: Sequence[LiveResource], ownership: Ownership) -> tuple[Drifted, ...]:
    """Compare the last deployment with what is live, by host."""
    by_key = {each.key: each for each in live}
    found = [*_declared(state, by_key), *_untracked(state, live, ownership)]
    return tuple(sorted(found, key=lambda each: (each.host, each.key)))


def _declared(state: State, live: dict[tuple[str, str], LiveResource]) -> Iterator[Drifted]:
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
    state: State, live: Sequence[LiveResource], ownership: Ownership
) -> Iterator[Drifted]:
    for each in Inventory(live, ownership).ours:
        if each.key not in state.keys:
            yield Drifted(each.host, each.key, Kind.UNTRACKED)


def text(found: Sequence[Drifted]) -> str:
    """Return it as people read it."""
    return "\n".join(map(_line, found)) or "Nothing differs from the last deployment."


def _line(each: Drifted) -> str:
    where = f"{each.host} ({'/'.join(each.key)})"
    if each.kind is Kind.MISSING:
        return f"- {where} is gone"
    if each.kind is Kind.UNTRACKED:
        return f"? {where} is ours, and no deployment has it"
    parts = (f"{field.path}: {field.new!r} is {field.old!r}" for field in each.fields)
    return f"~ {where}: {'; '.join(parts)}"


def wire(found: Sequence[Drifted]) -> dict[str, object]:
    """Return it as JSON; versioned."""
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
    }
