"""Transfers the fields of an adopted object from the Go controller to pic. No I/O.

The Go controller updates whole objects, so `metadata.managedFields` names it as the owner of every
field. A server-side apply never removes a field of another owner, so pic could not remove a field
that it does not declare. After the transfer pic owns these fields, and its next apply removes those
that it leaves out. The operator may have the same manager name, `manager`, and then shares an entry
with the controller. So the kind of a field decides which of the two wrote it.
See docs/adr/0010-own-what-the-go-controller-wrote.md and
https://kubernetes.io/docs/reference/using-api/server-side-apply/.
"""

from collections.abc import Iterable, Iterator, Sequence

from pic.core.json_values import Raw, mapping, sequence
from pic.core.model import API_VERSION, FIELD_MANAGER
from pic.core.names import SEED_LABELS

Entry = Raw
Fields = Raw

# In FieldsV1 this key marks that the field itself is owned, in addition to fields below it.
_SELF = "."
_SEEDS = frozenset(f"f:{label}" for label in SEED_LABELS)


def take_over(entries: Sequence[Entry]) -> list[Entry] | None:
    """Return managedFields in which pic owns the fields of the old owner; None if it has none.

    Raises:
        MalformedError: The entries have another shape.
    """
    old = [entry for entry in entries if _is_of_old_owner(entry)]
    if not old:
        return None
    applied = [entry for entry in entries if _is_applied_by_pic(entry)]
    others = [entry for entry in entries if entry not in old and entry not in applied]
    # A manager has at most one entry for Apply, so all fields go into one.
    fields: Fields = {}
    for entry in (*applied, *old):
        fields = _union(fields, _split(_fields(entry))[0])
    return [*others, *_remainders(old), _applied_entry(fields, old[-1])]


def takeover_patch(raw: Raw) -> dict[str, object] | None:
    """Return the merge patch that transfers the fields of an object to pic; None if pic owns them.

    The patch names the resource version, so it fails if the object has changed since it was read.

    Raises:
        MalformedError: The object has another shape.
    """
    metadata = mapping(raw.get("metadata"), "metadata")
    listed = sequence(metadata.get("managedFields"), "metadata.managedFields")
    entries = take_over([mapping(entry, "metadata.managedFields[]") for entry in listed])
    if entries is None:
        return None
    return {
        "metadata": {
            "resourceVersion": metadata.get("resourceVersion"),
            "managedFields": entries,
        }
    }


def _is_of_old_owner(entry: Entry) -> bool:
    """Say whether an entry belongs to a manager that wrote the object before pic did.

    Such a manager updated the spec or set the controller's labels. A manager with a finalizer but
    without these labels is an operator: it sets defaults in the spec as it adds its finalizer.
    """
    # An entry for the status subresource is the operator's. An entry for another version of the API
    # may have other field names, so it cannot be merged.
    if (
        entry.get("operation") != "Update"
        or entry.get("subresource")
        or entry.get("apiVersion") != API_VERSION
    ):
        return False
    # Only the Go controller sets these labels, so they count more than a finalizer does.
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


def _remainders(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Yield the entries without the fields that pic takes over; the operator keeps the rest."""
    for entry in entries:
        if remainder := _split(_fields(entry))[1]:
            yield {**entry, "fieldsV1": remainder}


def _applied_entry(fields: Fields, template: Entry) -> Entry:
    return {**template, "manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}


def _fields(entry: Entry) -> Fields:
    return mapping(entry.get("fieldsV1"), "fieldsV1")


def _split(fields: Fields) -> tuple[Fields, Fields]:
    """Return the fields for pic, and those of the operator: the status and the finalizers."""
    metadata = dict(mapping(fields.get("f:metadata"), "f:metadata"))
    operator_fields: dict[str, object] = {}
    if "f:finalizers" in metadata:
        operator_fields["f:metadata"] = {"f:finalizers": metadata.pop("f:finalizers")}
    if "f:status" in fields:
        operator_fields["f:status"] = fields["f:status"]
    pic_fields = {
        key: value for key, value in fields.items() if key not in ("f:metadata", "f:status")
    }
    if metadata:
        pic_fields["f:metadata"] = metadata
    return pic_fields, operator_fields


def _union(one: Fields, other: Fields) -> Fields:
    """Return the fields of both; an owned field stays owned when fields below it are added."""
    merged: dict[str, object] = dict(one)
    for key, value in other.items():
        merged[key] = _both(mapping(one[key], key), mapping(value, key)) if key in one else value
    return merged


def _both(one: Fields, other: Fields) -> Fields:
    if not one and not other:
        return {}
    # An empty map means that the whole field is owned. If fields below it are owned too, `.` stands
    # for the field itself.
    merged = _union(one, other)
    return merged if one and other else {_SELF: {}, **merged}
