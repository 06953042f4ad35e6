"""Whose the fields of an adopted object are, as its managedFields say. No I/O.

The Go controller writes whole objects, so the API server counts every field as its, and keeps those
that pic does not declare. What it owned goes over to pic here, and the next apply of pic removes
whatever it leaves out. The operator's process may have the same name, `manager`, and then shares an
entry with the controller: its parts are told by what they are.
"""

from collections.abc import Iterable, Iterator, Sequence

from pic.core.json_values import Raw, mapping, sequence
from pic.core.model import API_VERSION, FIELD_MANAGER
from pic.core.names import SEED_LABELS

Entry = Raw
Fields = Raw

# What Kubernetes calls a field that is itself owned, beside what is below it.
_SELF = "."
_SEEDS = frozenset(f"f:{label}" for label in SEED_LABELS)


def take_over(entries: Sequence[Entry]) -> list[Entry] | None:
    """Return managedFields in which pic owns what the old owner had, or None if it had nothing.

    Raises:
        MalformedError: They are of another shape.
    """
    old = [entry for entry in entries if _is_old_owners(entry)]
    if not old:
        return None
    mine = [entry for entry in entries if _is_applied_by_pic(entry)]
    others = [entry for entry in entries if entry not in old and entry not in mine]
    owned: Fields = {}
    for entry in (*mine, *old):
        owned = _union(owned, _split(_fields(entry))[0])
    return [*others, *_rests(old), _applied(owned, old[-1])]


def takeover_patch(raw: Raw) -> dict[str, object] | None:
    """Return the merge patch that makes an object's fields pic's, or None where they are.

    It fails if the object has changed since it was read.

    Raises:
        MalformedError: The object is of another shape.
    """
    metadata = mapping(raw.get("metadata"), "metadata")
    found = sequence(metadata.get("managedFields"), "metadata.managedFields")
    entries = take_over([mapping(each, "metadata.managedFields[]") for each in found])
    if entries is None:
        return None
    return {
        "metadata": {
            "resourceVersion": metadata.get("resourceVersion"),
            "managedFields": entries,
        }
    }


def _is_old_owners(entry: Entry) -> bool:
    """Say whether an entry is of who wrote the object before pic did.

    That is who updated its spec or set the controller's labels; but who has a finalizer and no such
    label is an operator of another name, which fills in the spec as it adds that.
    """
    if (
        entry.get("operation") != "Update"
        or entry.get("subresource")
        or entry.get("apiVersion") != API_VERSION
    ):
        return False
    fields = _fields(entry)
    metadata = mapping(fields.get("f:metadata"), "f:metadata")
    if _SEEDS & mapping(metadata.get("f:labels"), "f:labels").keys():
        return True
    return "f:spec" in fields and "f:finalizers" not in metadata


def _is_applied_by_pic(entry: Entry) -> bool:
    return (
        entry.get("manager") == FIELD_MANAGER
        and entry.get("operation") == "Apply"
        and not entry.get("subresource")
    )


def _rests(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield what stays with the managers of entries: the operator's own."""
    for entry in entries:
        if rest := _split(_fields(entry))[1]:
            yield {**entry, "fieldsV1": rest}


def _applied(fields: Fields, like: Entry) -> Entry:
    return {**like, "manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}


def _fields(entry: Entry) -> Fields:
    return mapping(entry.get("fieldsV1"), "fieldsV1")


def _split(fields: Fields) -> tuple[Fields, Fields]:
    """Return what is pic's to own, and the operator's: the status and the finalizers."""
    metadata = dict(mapping(fields.get("f:metadata"), "f:metadata"))
    rest: dict[str, object] = {}
    if "f:finalizers" in metadata:
        rest["f:metadata"] = {"f:finalizers": metadata.pop("f:finalizers")}
    if "f:status" in fields:
        rest["f:status"] = fields["f:status"]
    taken = {key: value for key, value in fields.items() if key not in ("f:metadata", "f:status")}
    if metadata:
        taken["f:metadata"] = metadata
    return taken, rest


def _union(one: Fields, other: Fields) -> Fields:
    """Return the fields of both; one that is owned by itself stays so beside what is below it."""
    merged: dict[str, object] = dict(one)
    for key, value in other.items():
        merged[key] = _both(mapping(one[key], key), mapping(value, key)) if key in one else value
    return merged


def _both(one: Fields, other: Fields) -> Fields:
    if not one and not other:
        return {}
    merged = _union(one, other)
    return merged if one and other else {_SELF: {}, **merged}
