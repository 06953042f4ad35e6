"""Raw objects, live or from files, become one snapshot. No I/O."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pic.core import names
from pic.core.model import (
    LiveRecord,
    Schema,
    Snapshot,
    Unanswered,
    Unreadable,
)
from pic.snapshot import pangolin, parse
from pic.snapshot.pangolin import SCHEMA_TARGETS
from pic.snapshot.parse import (
    MalformedError,
    Raw,
    mapping,
    text,
)

T = TypeVar("T")

INGRESS, INGRESS_CLASS, SERVICE = "Ingress", "IngressClass", "Service"
TUNNEL, ORGANIZATION, RESOURCE = "PangolinTunnel", "PangolinOrganization", "PangolinResource"

_NETWORKING = ("networking.k8s.io", "extensions")
_PANGOLIN = ("tunnel.pangolin.io",)
GROUPS: Mapping[str, tuple[str, ...]] = {
    INGRESS: _NETWORKING,
    INGRESS_CLASS: _NETWORKING,
    SERVICE: ("",),
    TUNNEL: _PANGOLIN,
    ORGANIZATION: _PANGOLIN,
    RESOURCE: _PANGOLIN,
}
_CLUSTER_SCOPED = frozenset({INGRESS_CLASS})

# Of an object's metadata, what only the cluster says.
_IDENTITY = frozenset({"uid", "creationTimestamp", "deletionTimestamp", "finalizers"})


@dataclass(frozen=True, slots=True)
class Seen:
    """Raw objects by kind; a kind that is absent was not looked at.

    Attributes:
        records: What Pi-hole has; None where it was not asked, or did not answer.
        unanswered: Why it did not answer; None where it did, or was not asked.
    """

    objects: Mapping[str, Sequence[Raw]] = field(default_factory=dict)
    cluster_id: str = ""
    schema: Schema = SCHEMA_TARGETS
    records: tuple[LiveRecord, ...] | None = None
    unanswered: Unanswered | None = None


def from_documents(bodies: Iterable[Raw], schema: Schema) -> Seen:
    """Sort the objects of files by kind; those of other kinds and API groups are left out.

    Of PangolinResources only those with a stack label stand for live ones.
    """
    found: dict[str, list[Raw]] = {}
    for body in bodies:
        kind = text(body.get("kind"))
        if _group(body) in GROUPS.get(kind, ()) and (kind != RESOURCE or _labelled(body)):
            found.setdefault(kind, []).append(body)
    return Seen(found, schema=schema)


def overlay(seen: Seen, files: Seen) -> Seen:
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


def without(seen: Seen, gone: Seen, kept: Seen) -> Seen:
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


def within(files: Seen, places: Mapping[str, Sequence[str]]) -> Seen:
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
        return parse.identity(raw, namespaced=kind not in _CLUSTER_SCOPED)
    except MalformedError:
        # Objects without a legal name never meet.
        return "", str(id(raw))


def snapshot(seen: Seen) -> Snapshot:
    """Read every object; one of wrong shape is set apart and touches no other."""
    return _Assembly(seen).snapshot()


class _Assembly:
    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.unreadable: list[Unreadable] = []

    def snapshot(self) -> Snapshot:
        return Snapshot(
            cluster_id=self.seen.cluster_id,
            ingresses=self.read(INGRESS, parse.ingress) or (),
            classes=self.read(INGRESS_CLASS, parse.ingress_class),
            services=self.read(SERVICE, parse.service),
            tunnels=self.read(TUNNEL, parse.tunnel),
            organizations=self.read(ORGANIZATION, parse.organization),
            live=self.read(RESOURCE, pangolin.resource) or (),
            unreadable=tuple(self.unreadable),
            schema=self.seen.schema,
            records=self.seen.records,
            unanswered=self.seen.unanswered,
        )

    def read(self, kind: str, reader: Callable[[Raw], T]) -> tuple[T, ...] | None:
        if kind not in self.seen.objects:
            return None
        found: list[T] = []
        for raw in self.seen.objects[kind]:
            try:
                found.append(reader(raw))
            except MalformedError as error:
                self.unreadable.append(_unreadable(kind, raw, str(error)))
        return tuple(found)


def _unreadable(kind: str, raw: Raw, problem: str) -> Unreadable:
    found = raw.get("metadata")
    metadata = found if isinstance(found, Mapping) else {}
    scope = "" if kind in _CLUSTER_SCOPED else text(metadata.get("namespace")) or "default"
    name = text(metadata.get("name"))
    return Unreadable(
        kind,
        scope,
        name,
        problem,
        uid=text(metadata.get("uid")) or names.derived_uid(kind, scope, name),
        created=parse.timestamp(metadata.get("creationTimestamp")),
    )


def _group(raw: Raw) -> str:
    group, slash, _ = text(raw.get("apiVersion")).rpartition("/")
    return group if slash else ""


def _labelled(raw: Raw) -> bool:
    metadata = raw.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return isinstance(labels, Mapping) and names.STACK_LABEL in labels
