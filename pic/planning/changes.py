"""What a run would do: the difference between what is live and ours, and the plan. No I/O."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from pic.core.model import (
    LiveResource,
    Plan,
    Resource,
    Snapshot,
    Spec,
)
from pic.planning import serialise
from pic.planning.ownership import Inventory, OwnerKind, Ownership
from pic.planning.record_changes import RecordChanges, record_changes

DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs; None is an absent one."""

    path: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Update:
    """A live object that changes in place."""

    resource: Resource
    live: LiveResource
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A host whose object goes to another namespace: deleted there, created here."""

    resource: Resource
    live: LiveResource


@dataclass(frozen=True, slots=True)
class Weakening:
    """A host that loses login or block; `field` is `sso` or `blockAccess`."""

    host: str
    field: str


NO_RECORD_CHANGES = RecordChanges()


class Noun(NamedTuple):
    """What people call the things of one part, in the singular and in the plural."""

    one: str
    many: str


HOSTS, DNS_RECORDS = Noun("host", "hosts"), Noun("DNS record", "DNS records")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the changes, as the guard counts it.

    Attributes:
        known: How many things are live and ours.
        wanted: How many the plan has.
        removals: What would go or move, as a refusal lists it.
        moves: Whether some of the removals are moves to another namespace.
    """

    noun: Noun
    known: int
    wanted: int
    removals: tuple[str, ...]
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that would change, each part sorted by host.

    Attributes:
        known: How many objects are live and ours, or taken over from an earlier stack.
        wanted: How many the plan has.
        blocked: Live objects that bear a wanted name and are not ours.
        predecessors: Objects of the Go controller for wanted hosts, not yet adopted.
        records: What would change in Pi-hole; all else here is of the cluster.
    """

    stack: str
    cluster_id: str
    known: int = 0
    wanted: int = 0
    created: tuple[Resource, ...] = ()
    updated: tuple[Update, ...] = ()
    removed: tuple[LiveResource, ...] = ()
    moved: tuple[Move, ...] = ()
    weakened: tuple[Weakening, ...] = ()
    blocked: tuple[LiveResource, ...] = ()
    predecessors: tuple[LiveResource, ...] = ()
    records: RecordChanges = NO_RECORD_CHANGES

    @property
    def digest(self) -> str:
        """Names exactly these removals, moves and weakenings on this stack and cluster.

        What is created or updated does not count, so an unrelated rollout voids nothing.
        """
        named: serialise.Json = {
            "stack": self.stack,
            "cluster": self.cluster_id,
            "removed": [[live.host, *live.key] for live in self.removed],
            "moved": [[move.live.host, *move.live.key, *move.resource.key] for move in self.moved],
            "weakened": [[each.host, each.field] for each in self.weakened],
        }
        if self.records.removed:
            named["records"] = [[live.host, live.ip] for live in self.records.removed]
        text = json.dumps(named, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that the guard counts each by itself.

        Two targets may bring about the same hosts, so a part is what exists, and not a target.
        """
        hosts = [live.host for live in self.removed] + [move.live.host for move in self.moved]
        addresses = tuple(f"{live.host} ({live.ip})" for live in self.records.removed)
        return (
            Part(HOSTS, self.known, self.wanted, tuple(hosts), bool(self.moved)),
            Part(DNS_RECORDS, self.records.known, self.records.wanted, addresses),
        )

    def __bool__(self) -> bool:
        """Whether anything would change."""
        return bool(self.created or self.updated or self.removed or self.moved or self.records)


def between(
    snapshot: Snapshot,
    plan: Plan,
    stack: str,
    ownership: Ownership,
    *,
    owner_references: bool = True,
) -> Changes:
    """Compare what is live and ours with the plan.

    Args:
        snapshot: What was seen; its live objects are compared.
        plan: What should exist.
        stack: The value of the stack label.
        ownership: How live objects of ours are told from others.
        owner_references: Objects are declared with them.
    """
    if not owner_references:
        plan = replace(plan, resources=tuple(replace(each, owners=()) for each in plan.resources))
    return _Comparison(snapshot, plan, Inventory(snapshot.live, ownership)).changes(
        stack, snapshot.cluster_id
    )


class _Comparison:
    """Matches planned resources with live objects, first by name, then by host."""

    def __init__(self, snapshot: Snapshot, plan: Plan, inventory: Inventory) -> None:
        self.plan = plan
        self.inventory = inventory
        self.live_records = snapshot.records
        self.by_key = {live.key: live for live in snapshot.live}
        self.ours = {live.key: live for live in inventory.ours}
        adopted = {each.key for each in plan.resources if each.adopts} - set(self.ours)
        self.adopted = {key: self.by_key[key] for key in adopted if key in self.by_key}
        self.known = {**self.ours, **self.adopted}
        self.wanted = {resource.key for resource in plan.resources}

    def changes(self, stack: str, cluster_id: str) -> Changes:
        moved = tuple(self.moves())
        gone = set(self.ours) - self.wanted - {move.live.key for move in moved}
        removed = [self.ours[key] for key in gone]
        return Changes(
            stack=stack,
            cluster_id=cluster_id,
            known=len(self.ours) + sum(map(self.is_earlier, self.adopted)),
            wanted=len(self.plan.resources),
            created=tuple(self.created({move.resource.host for move in moved})),
            updated=tuple(self.updates()),
            removed=tuple(sorted(removed, key=lambda live: (live.host, live.key))),
            moved=moved,
            weakened=tuple(self.weakened()),
            blocked=tuple(self.blocked()),
            predecessors=tuple(self.predecessors()),
            records=record_changes(self.live_records, self.plan.records),
        )

    def is_earlier(self, key: tuple[str, str]) -> bool:
        return self.inventory.owner_kinds[key] is OwnerKind.EARLIER

    def moves(self) -> Iterator[Move]:
        for resource in self.plan.resources:
            if resource.key not in self.known:
                left = [
                    live
                    for live in self.inventory.ours_for(resource.host)
                    if live.key not in self.wanted
                ]
                if left:
                    yield Move(resource, left[0])

    def created(self, moved: set[str]) -> Iterator[Resource]:
        for resource in self.plan.resources:
            if resource.key not in self.known and resource.host not in moved:
                yield resource

    def updates(self) -> Iterator[Update]:
        for resource in self.plan.resources:
            live = self.known.get(resource.key)
            if live and (fields := tuple(differences(resource, live))):
                yield Update(resource, live, fields)

    def weakened(self) -> Iterator[Weakening]:
        for resource in self.plan.resources:
            lives = [*self.inventory.ours_for(resource.host)]
            lives += [live for key, live in self.adopted.items() if key == resource.key]
            new = resource.spec.http
            if any(live.spec.http.sso for live in lives) and not new.sso:
                yield Weakening(resource.host, "sso")
            if any(live.spec.http.block_access for live in lives) and not new.block_access:
                yield Weakening(resource.host, "blockAccess")

    def blocked(self) -> Iterator[LiveResource]:
        for resource in self.plan.resources:
            stranger = resource.key in self.by_key and resource.key not in self.known
            if stranger and self.inventory.owner_kinds[resource.key] is not OwnerKind.PREDECESSOR:
                yield self.by_key[resource.key]

    def predecessors(self) -> Iterator[LiveResource]:
        for resource in self.plan.resources:
            for live in self.inventory.predecessors_for(resource.host):
                if live.key not in self.known:
                    yield live


def differences(resource: Resource, live: LiveResource) -> Iterator[FieldChange]:
    """Yield the fields that pic plans and that differ live; fields of others are not looked at."""
    for path, (new, old) in _pairs(_view(resource.spec), _view(live.spec), "spec"):
        yield FieldChange(path, old, new)
    for label, value in sorted(resource.labels.items()):
        if live.labels.get(label) != value:
            yield FieldChange(f"metadata.labels.{label}", live.labels.get(label), value)
    wanted, there = _owner_view(resource), _owner_view(live)
    if wanted != there:
        yield FieldChange("metadata.ownerReferences", there, wanted)


def _view(spec: Spec) -> serialise.Json:
    """Return a spec to compare: a target without a path is for the whole host, which is planned."""
    view = serialise.spec(spec)
    if "targets" in view:
        view["targets"] = [{"path": None, **serialise.target(each)} for each in spec.targets]
    return view


def _owner_view(owned: Resource | LiveResource) -> list[str]:
    return sorted(f"{owner.name} ({owner.uid})" for owner in owned.owners)


def _pairs(new: object, old: object, path: str) -> Iterator[tuple[str, tuple[object, object]]]:
    if isinstance(new, Mapping):
        fields = old if isinstance(old, Mapping) else {}
        for key, value in new.items():
            yield from _pairs(value, fields.get(key), f"{path}.{key}")
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for at, value in enumerate(new):
            yield from _pairs(value, old[at], f"{path}[{at}]")
    elif new != old:
        yield path, (new, old)
