"""Merges objects from manifest files with live objects, and removes objects."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from pic.core.json_values import MalformedError, Raw, mapping
from pic.settings.kinds import BY_NAME, RESOURCE
from pic.snapshot import parse
from pic.snapshot.assemble import RawSnapshot

# The API server sets these fields of the metadata, so a file cannot change them. Otherwise a branch
# could give its Ingress any age, and the oldest Ingress wins a contested host.
_SERVER_FIELDS = frozenset({"uid", "creationTimestamp", "deletionTimestamp", "finalizers"})


def lay_over(live: RawSnapshot, files: RawSnapshot) -> RawSnapshot:
    """Replace live objects by the objects of files that have the same kind, namespace and name.

    An object of a file takes over the status and the identity of the live one, such as its uid and
    age. An object that is not live is added. It has no age, so it sorts after all live ones.
    """
    merged, origins = dict(live.objects), dict(live.origins)
    # PangolinResources are what pic writes. A file does not change what is live.
    for kind in live.objects.keys() & files.objects.keys() - {RESOURCE}:
        by_key = {key_of(kind, body): body for body in live.objects[kind]}
        for body in files.objects[kind]:
            key = key_of(kind, body)
            by_key[key] = _merged(body, by_key.get(key))
            if origin := files.origins.get(id(body)):
                origins[id(by_key[key])] = origin
        merged[kind] = list(by_key.values())
    return replace(live, objects=merged, origins=origins)


def remove(raw: RawSnapshot, removed: RawSnapshot, unless: RawSnapshot) -> RawSnapshot:
    """Remove objects, as if a user had deleted them, unless they are also in `unless`.

    The PangolinResource of a removed Ingress stays. Kubernetes would delete it too, and the plan
    has to show that.
    """
    remaining = dict(raw.objects)
    for kind in raw.objects.keys() & removed.objects.keys() - {RESOURCE}:
        exceptions = {key_of(kind, body) for body in unless.objects.get(kind, ())}
        keys = {key_of(kind, body) for body in removed.objects[kind]} - exceptions
        remaining[kind] = [body for body in raw.objects[kind] if key_of(kind, body) not in keys]
    return replace(raw, objects=remaining)


def restrict(files: RawSnapshot, namespaces: Mapping[str, Sequence[str]]) -> RawSnapshot:
    """Drop the objects of files that a live run would not read, because of their namespace.

    Args:
        files: The objects of files.
        namespaces: The namespaces that a live run reads, by kind. It reads a kind that is not a key
            in all namespaces.
    """
    objects = {
        kind: [
            body
            for body in bodies
            if kind not in namespaces or key_of(kind, body)[0] in ("", *namespaces[kind])
        ]
        for kind, bodies in files.objects.items()
    }
    return replace(files, objects=objects)


def _merged(new: Raw, live: Raw | None) -> Raw:
    try:
        metadata = mapping(new.get("metadata"), "metadata")
    except MalformedError:
        return new
    declared = {key: value for key, value in metadata.items() if key not in _SERVER_FIELDS}
    if live is None:
        return {**new, "metadata": declared}
    # The live object was found by its name, so its metadata is a map.
    live_metadata = mapping(live.get("metadata"), "metadata")
    server = {key: value for key, value in live_metadata.items() if key in _SERVER_FIELDS}
    return {**new, "metadata": {**declared, **server}, "status": live.get("status")}


def key_of(kind: str, body: Raw) -> tuple[str, str]:
    """Return namespace and name of an object, or a value that no other object has."""
    try:
        return parse.identity(body, namespaced=BY_NAME[kind].namespaced)
    except MalformedError:
        # An object without a legal name equals no other object.
        return "", str(id(body))
