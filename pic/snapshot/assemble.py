"""Raw objects, live or from files, become one snapshot. No I/O."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pic.core import names
from pic.core.json_values import (
    MalformedError,
    Raw,
    text,
)
from pic.core.model import (
    LiveRecord,
    Schema,
    Snapshot,
    Unanswered,
    Unreadable,
)
from pic.settings.kinds import (
    BY_NAME,
    INGRESS,
    INGRESS_CLASS,
    ORGANIZATION,
    RESOURCE,
    SERVICE,
    TUNNEL,
)
from pic.snapshot import pangolin, parse
from pic.snapshot.pangolin import SCHEMA_TARGETS

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RawSnapshot:
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


def from_documents(bodies: Iterable[Raw], schema: Schema) -> RawSnapshot:
    """Sort the objects of files by kind; those of other kinds and API groups are left out.

    Of PangolinResources only those with a stack label stand for live ones.
    """
    found: dict[str, list[Raw]] = {}
    for body in bodies:
        kind = text(body.get("kind"))
        if _is_read(body) and (kind != RESOURCE or _labelled(body)):
            found.setdefault(kind, []).append(body)
    return RawSnapshot(found, schema=schema)


def snapshot(seen: RawSnapshot) -> Snapshot:
    """Read every object; one of wrong shape is set apart and touches no other."""
    return _Assembly(seen).snapshot()


class _Assembly:
    def __init__(self, seen: RawSnapshot) -> None:
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
    scope = "" if not BY_NAME[kind].namespaced else text(metadata.get("namespace")) or "default"
    name = text(metadata.get("name"))
    return Unreadable(
        kind,
        scope,
        name,
        problem,
        uid=text(metadata.get("uid")) or names.derived_uid(kind, scope, name),
        created=parse.timestamp(metadata.get("creationTimestamp")),
    )


def _is_read(body: Raw) -> bool:
    kind = BY_NAME.get(text(body.get("kind")))
    return kind is not None and kind.is_in(_group(body))


def _group(raw: Raw) -> str:
    group, slash, _ = text(raw.get("apiVersion")).rpartition("/")
    return group if slash else ""


def _labelled(raw: Raw) -> bool:
    metadata = raw.get("metadata")
    labels = metadata.get("labels") if isinstance(metadata, Mapping) else None
    return isinstance(labels, Mapping) and names.STACK_LABEL in labels
