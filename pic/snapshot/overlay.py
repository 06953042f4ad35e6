"""Merges objects from files with live ones, and takes objects out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pic.core.json_values import MalformedError, Raw, mapping
from pic.settings.kinds import BY_NAME, RESOURCE
from pic.snapshot import parse
from pic.snapshot.assemble import RawSnapshot

# Of an object's metadata, what only the cluster says.
_IDENTITY = frozenset({"uid", "creationTimestamp", "deletionTimestamp", "finalizers"})


def overlay(seen: RawSnapshot, files: RawSnapshot) -> RawSnapshot:
    """Lay the objects of files over live ones of the same kind, namespace and name.

    What an object should be is the file's; who it is, and its status, are the live one's. A new
    object has no age, so it sorts last.
    """
    merged = dict(seen.objects)
    for kind in seen.objects.keys() & files.objects.keys() - {RESOURCE}:
        by_name = {_key(kind, raw): raw for raw in seen.objects[kind]}
        for raw in files.objects[kind]:
            key = _key(kind, raw)
            by_name[key] = _laid(raw, by_name.get(key))
        merged[kind] = list(by_name.values())
    return replace(seen, objects=merged)


def without(seen: RawSnapshot, gone: RawSnapshot, kept: RawSnapshot) -> RawSnapshot:
    """Take out the objects that files hold, as if they were deleted, but not those in `kept`.

    Objects are told apart by kind, namespace and name. What an Ingress owned stays: Kubernetes
    would collect it, and here it is to be seen that it goes.
    """
    left = dict(seen.objects)
    for kind in seen.objects.keys() & gone.objects.keys() - {RESOURCE}:
        stay = {_key(kind, raw) for raw in kept.objects.get(kind, ())}
        go = {_key(kind, raw) for raw in gone.objects[kind]} - stay
        left[kind] = [raw for raw in seen.objects[kind] if _key(kind, raw) not in go]
    return replace(seen, objects=left)


def within(files: RawSnapshot, places: Mapping[str, Sequence[str]]) -> RawSnapshot:
    """Leave out the objects of files in namespaces where a live run does not look for their kind.

    Args:
        files: What files hold.
        places: The namespaces looked at, by kind; one that is not there is looked for anywhere.
    """
    found = {
        kind: [
            raw for raw in raws if kind not in places or _key(kind, raw)[0] in ("", *places[kind])
        ]
        for kind, raws in files.objects.items()
    }
    return replace(files, objects=found)


def _laid(new: Raw, there: Raw | None) -> Raw:
    try:
        written = mapping(new.get("metadata"), "metadata")
    except MalformedError:
        return new
    wanted = {key: value for key, value in written.items() if key not in _IDENTITY}
    if there is None:
        return {**new, "metadata": wanted}
    # What was found by its name has metadata that is a map.
    known = mapping(there.get("metadata"), "metadata")
    kept = {key: value for key, value in known.items() if key in _IDENTITY}
    return {**new, "metadata": {**wanted, **kept}, "status": there.get("status")}


def _key(kind: str, raw: Raw) -> tuple[str, str]:
    try:
        return parse.identity(raw, namespaced=BY_NAME[kind].namespaced)
    except MalformedError:
        # Objects without a legal name never meet.
        return "", str(id(raw))
