"""Builds one snapshot from raw Kubernetes objects, which come from the cluster or from files.

Both sources go through the same parsers, so a plan from files and a plan from the cluster agree. An
object that cannot be parsed becomes `Unreadable` and affects no other object. No I/O.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pic.core import names
from pic.core.files import FilesRead
from pic.core.ingress import Deletion, Ingress
from pic.core.json_values import MalformedError, Raw, text
from pic.core.model import LiveRecord, LiveResource, Namespace, Snapshot
from pic.core.operator_objects import Schema
from pic.core.published import Published
from pic.core.register import Register
from pic.core.unread import Silent, Unanswered, Unreadable
from pic.settings.kinds import (
    BY_NAME,
    CONFIG_MAP,
    INGRESS,
    INGRESS_CLASS,
    NAMESPACE,
    NAMESPACE_KIND,
    ORGANIZATION,
    RESOURCE,
    SERVICE,
    TUNNEL,
)
from pic.snapshot import pangolin, parse, register
from pic.snapshot.manifests import Manifests
from pic.snapshot.pangolin import SCHEMA_TARGETS

T = TypeVar("T")
Going = TypeVar("Going", Ingress, LiveResource)


@dataclass(frozen=True, slots=True)
class RawSnapshot:
    """Raw objects by kind. A kind that is not a key was not read.

    Attributes:
        objects: The objects as JSON, by kind.
        cluster_id: The uid of the namespace kube-system; empty for files.
        schema: What the installed CRD of PangolinResource can hold.
        records: The records in Pi-hole; None if Pi-hole is no target or did not answer.
        unanswered: Why Pi-hole did not answer; None if it did, or is no target.
        shadows: What Pi-hole answers for a host instead of its record, by host.
        now: The time of the API server, in RFC 3339; empty if it is unknown.
        files: What pic read from the files of `--manifests`; None without such files.
        origins: The file and the line of objects that come from files, by `id`.
        published: What Pangolin has; None if it is no target itself, or did not answer.
        silent: Why Pangolin did not answer; None if it did, or is no target itself.
    """

    objects: Mapping[str, Sequence[Raw]] = field(default_factory=dict)
    cluster_id: str = ""
    schema: Schema = SCHEMA_TARGETS
    records: tuple[LiveRecord, ...] | None = None
    unanswered: Unanswered | None = None
    now: str = ""
    files: FilesRead | None = None
    origins: Mapping[int, str] = field(default_factory=dict, compare=False)
    shadows: Mapping[str, str] = field(default_factory=dict)
    published: Published | None = None
    silent: Silent | None = None


def from_manifests(read: Manifests, schema: Schema) -> RawSnapshot:
    """Sort the objects of files by kind, and keep what was read and where."""
    raw = from_documents((document.body for document in read.documents), schema)
    origins = {id(document.body): document.where for document in read.documents}
    return replace(raw, files=read.files, origins=origins)


def from_documents(bodies: Iterable[Raw], schema: Schema) -> RawSnapshot:
    """Sort the objects of files by kind, and ignore kinds and API groups that pic does not read."""
    objects: dict[str, list[Raw]] = {}
    for body in bodies:
        if _is_read(body):
            objects.setdefault(text(body.get("kind")), []).append(body)
    return RawSnapshot(objects, schema=schema)


def as_live(files: RawSnapshot) -> RawSnapshot:
    """Return the objects of files as if the files were the cluster.

    A PangolinResource counts as live only if it was saved from a cluster, where pic had created it:
    if it has a uid and a stack label.
    """
    live = list(filter(_is_saved, files.objects.get(RESOURCE, ())))
    others = {kind: bodies for kind, bodies in files.objects.items() if kind != RESOURCE}
    return replace(files, objects={**others, **({RESOURCE: live} if live else {})})


def snapshot(raw: RawSnapshot) -> Snapshot:
    """Parse every object. A malformed object goes to `unreadable` and affects no other."""
    return _Assembly(raw).snapshot()


class _Assembly:
    def __init__(self, raw: RawSnapshot) -> None:
        self.raw = raw
        self.unreadable: list[Unreadable] = []

    def snapshot(self) -> Snapshot:
        namespaces = self.read(NAMESPACE, parse.namespace)
        going = _deletions(namespaces or ())
        ingresses = self.read(INGRESS, self.ingress) or ()
        live = self.read(RESOURCE, pangolin.live_resource) or ()
        return Snapshot(
            cluster_id=self.raw.cluster_id,
            ingresses=tuple(_with_namespace(ingress, going) for ingress in ingresses),
            classes=self.read(INGRESS_CLASS, parse.ingress_class),
            services=self.read(SERVICE, parse.service),
            tunnels=self.read(TUNNEL, parse.tunnel),
            organizations=self.read(ORGANIZATION, parse.organization),
            namespaces=namespaces,
            live=tuple(_with_namespace(resource, going) for resource in live),
            # The arguments are evaluated in order, so every kind has been read by now.
            unreadable=tuple(self.unreadable),
            schema=self.raw.schema,
            records=self.raw.records,
            unanswered=self.raw.unanswered,
            shadows=self.raw.shadows,
            published=self.raw.published,
            silent=self.raw.silent,
            registers=self.registers(),
            now=parse.timestamp(self.raw.now),
            files=self.raw.files,
        )

    def ingress(self, body: Raw) -> Ingress:
        ingress = parse.ingress(body)
        origin = self.raw.origins.get(id(body))
        return replace(ingress, origin=origin) if origin else ingress

    def registers(self) -> dict[str, Register] | None:
        config_maps = self.raw.objects.get(CONFIG_MAP)
        return None if config_maps is None else register.read(config_maps)

    def read(self, kind: str, reader: Callable[[Raw], T]) -> tuple[T, ...] | None:
        if kind not in self.raw.objects:
            return None
        parsed: list[T] = []
        for body in self.raw.objects[kind]:
            try:
                parsed.append(reader(body))
            except MalformedError as error:
                origin = self.raw.origins.get(id(body))
                problem = f"{error} ({origin})" if origin else str(error)
                self.unreadable.append(_unreadable(kind, body, problem))
        return tuple(parsed)


def _deletions(namespaces: Iterable[Namespace]) -> Mapping[str, Deletion]:
    """Return the deletions of the namespaces that are being deleted, by name."""
    return {namespace.name: namespace.going for namespace in namespaces if namespace.going}


def _with_namespace(parsed: Going, deletions: Mapping[str, Deletion]) -> Going:
    """Count an object as being deleted if Kubernetes deletes its namespace, and so all in it."""
    deletion = parsed.going or deletions.get(parsed.namespace)
    return parsed if deletion is parsed.going else replace(parsed, going=deletion)


def _unreadable(kind: str, body: Raw, problem: str) -> Unreadable:
    metadata = _metadata(body)
    namespaced = BY_NAME[kind].namespaced
    namespace = text(metadata.get("namespace")) or "default" if namespaced else ""
    name = text(metadata.get("name"))
    return Unreadable(
        kind,
        namespace,
        name,
        problem,
        # Uid and age count although the rest cannot be read: an Ingress keeps its live hosts.
        uid=text(metadata.get("uid")) or names.derived_uid(kind, namespace, name),
        created=parse.timestamp(metadata.get("creationTimestamp")),
    )


def _metadata(body: Raw) -> Raw:
    """Return the metadata of an object, or an empty map if it is not a map."""
    metadata = body.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def _is_read(body: Raw) -> bool:
    kind = BY_NAME.get(text(body.get("kind")))
    # A file of a namespace does not say whether the cluster is deleting it.
    return kind not in (None, NAMESPACE_KIND) and kind.is_in(_group(body))


def _group(body: Raw) -> str:
    """Return the API group; the core group, whose apiVersion is `v1`, has an empty name."""
    group, slash, _ = text(body.get("apiVersion")).rpartition("/")
    return group if slash else ""


def _is_saved(resource: Raw) -> bool:
    return bool(_metadata(resource).get("uid")) and has_stack_label(resource)


def has_stack_label(body: Raw) -> bool:
    """Return whether an object has the label that pic gives to its own."""
    labels = _metadata(body).get("labels")
    return isinstance(labels, Mapping) and names.STACK_LABEL in labels
