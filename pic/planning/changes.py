"""Compares our live objects and records with the plan: what a run would create, change and remove.

A planned resource belongs to the live object with the same namespace and name. If no object has
that name but one of ours serves the host elsewhere, the host moves. The digest names the dangerous
part of the changes, so that an acknowledgement covers exactly that (ADR 2).
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pic.core.held import Held, acknowledging
from pic.core.model import LiveResource, Plan, Resource, Snapshot, Spec, Target
from pic.planning import serialise
from pic.planning.inventory import Inventory
from pic.planning.memory import Memory
from pic.planning.ownership import OwnerKind
from pic.planning.record_changes import RecordChanges, record_changes
from pic.planning.registering import changed_buckets

DIGEST_LENGTH = 12


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that differs; `None` means that the field is absent."""

    path: str
    old: object
    new: object


@dataclass(frozen=True, slots=True)
class Update:
    """A live object that a run changes in place."""

    resource: Resource
    live: LiveResource
    fields: tuple[FieldChange, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """A host whose object moves to another namespace: deleted there, created here."""

    resource: Resource
    live: LiveResource


@dataclass(frozen=True, slots=True)
class Waiting:
    """A resource whose name or host a live object has that Kubernetes is deleting."""

    resource: Resource
    live: LiveResource


@dataclass(frozen=True, slots=True)
class Weakening:
    """A host that loses login or block; `field` is `sso` or `blockAccess`."""

    host: str
    field: str


NO_RECORD_CHANGES = RecordChanges()


class Noun(NamedTuple):
    """What messages call the things of one part, in the singular and in the plural."""

    one: str
    many: str


HOSTS, DNS_RECORDS = Noun("host", "hosts"), Noun("DNS record", "DNS records")


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the changes, as the guard counts it.

    Attributes:
        live_count: How many things are live and ours.
        planned_count: How many the plan has.
        removals: The things that would be removed or moved, as a refusal lists them.
        moves: Whether some of the removals are moves to another namespace.
    """

    noun: Noun
    live_count: int
    planned_count: int
    removals: tuple[str, ...]
    moves: bool = False


@dataclass(frozen=True, slots=True)
class Changes:
    """Everything that would change, each part sorted by host.

    Attributes:
        live_count: How many live objects are ours, or are taken over from an earlier stack.
        planned_count: How many resources the plan has.
        no_host_survives: Whether every host would go, which the guard refuses.
        no_record_survives: The same for the DNS records.
        other_stack_id: The id of another stack that wrote our register; empty if none has.
        held: The changes that wait for an acknowledgement. They are in no other part.
        register: The buckets of the register that a run writes or deletes, by their digit.
        records: What would change in Pi-hole. Everything else here is in the cluster.
        going: Objects of ours that Kubernetes is deleting. They count as gone.
        waiting: The resources that have to wait for one of those. Everything else here counts
            them as if they had not to.
        departures: Why objects are removed, by namespace and name, and DNS records, by host and
            family.
        weakenings: Why hosts lose protection, by host.
    """

    stack: str
    cluster_id: str
    live_count: int = 0
    planned_count: int = 0
    created: tuple[Resource, ...] = ()
    updated: tuple[Update, ...] = ()
    removed: tuple[LiveResource, ...] = ()
    moved: tuple[Move, ...] = ()
    weakened: tuple[Weakening, ...] = ()
    no_host_survives: bool = False
    no_record_survives: bool = False
    other_stack_id: str = ""
    held: tuple[Held, ...] = ()
    register: tuple[str, ...] = ()
    records: RecordChanges = NO_RECORD_CHANGES
    going: tuple[LiveResource, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    # These say why and not what, so changes do not differ by them.
    departures: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    weakenings: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def digest(self) -> str:
        """Names exactly these removals, moves and weakenings on this stack and cluster.

        Creations and updates do not count, so an unrelated rollout keeps an acknowledgement valid.
        """
        content: serialise.Json = {
            "stack": self.stack,
            "cluster": self.cluster_id,
            "removed": [[live.host, *live.key] for live in self.removed],
            "moved": [[move.live.host, *move.live.key, *move.resource.key] for move in self.moved],
            "weakened": [[weakening.host, weakening.field] for weakening in self.weakened],
        }
        # Without removed records the key is absent, so a digest does not depend on whether Pi-hole
        # is a target.
        if self.records.removed:
            content["records"] = [[live.host, live.ip] for live in self.records.removed]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_LENGTH]

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that the guard counts separately: hosts and DNS records.

        A part is a kind of thing and not a target, because two targets may serve the same hosts.
        """
        hosts = [live.host for live in self.removed] + [move.live.host for move in self.moved]
        addresses = tuple(f"{live.host} ({live.ip})" for live in self.records.removed)
        return (
            Part(HOSTS, self.live_count, self.planned_count, tuple(hosts), bool(self.moved)),
            Part(DNS_RECORDS, self.records.live_count, self.records.planned_count, addresses),
        )

    @property
    def acknowledge_all(self) -> str:
        """The digest that acknowledges everything that is held; empty if nothing is."""
        return acknowledging(self.held)

    @property
    def needs_run(self) -> bool:
        """Whether a run has something to do: changes, or only the register to write."""
        return bool(self) or bool(self.register)

    def __bool__(self) -> bool:
        """Whether any host or record would change."""
        return bool(self.created or self.updated or self.removed or self.moved or self.records)


def between(
    snapshot: Snapshot,
    plan: Plan,
    stack: str,
    memory: Memory,
    *,
    owner_references: bool = True,
) -> Changes:
    """Compare our live objects and records with the plan.

    Args:
        snapshot: The snapshot whose live objects and records are compared.
        plan: What should exist.
        stack: The value of the stack label.
        memory: What pic remembers, and so which live objects are ours.
        owner_references: Whether pic declares objects with ownerReferences.
    """
    if not owner_references:
        resources = tuple(replace(resource, owners=()) for resource in plan.resources)
        plan = replace(plan, resources=resources)
    changes = _Comparison(snapshot, plan, Inventory(snapshot.live, memory)).changes(
        stack, snapshot.cluster_id
    )
    return replace(
        changes,
        no_host_survives=plan.no_host_survives,
        no_record_survives=plan.no_record_survives,
        other_stack_id=memory.other_stack_id,
        held=plan.held,
        register=changed_buckets(plan.register, memory.stored),
        departures={**_given_up(changes, plan.held), **plan.departures},
        weakenings=plan.weakenings,
    )


def _given_up(changes: Changes, held: Sequence[Held]) -> dict[tuple[str, str], str]:
    """Return why objects go whose host waits in another way, by namespace and name."""
    reasons = {change.host: change.reason for change in held}
    return {live.key: reasons[live.host] for live in changes.removed if live.host in reasons}


class _Comparison:
    """Matches planned resources with live objects, first by name, then by host."""

    def __init__(self, snapshot: Snapshot, plan: Plan, inventory: Inventory) -> None:
        self.plan = plan
        self.inventory = inventory
        self.live_records = snapshot.records
        # What is going counts as gone.
        self.by_key = {
            live.key: live for live in snapshot.live if live.key in inventory.owner_kinds
        }
        self.ours = {live.key: live for live in inventory.ours}
        adopting = {resource.key for resource in plan.resources if resource.adopts}
        # If the object to adopt does not exist, the resource is created.
        self.adopted = {
            key: self.by_key[key] for key in adopting & set(self.by_key) - set(self.ours)
        }
        self.ours_or_adopted = {**self.ours, **self.adopted}
        self.planned = {resource.key for resource in plan.resources}

    def changes(self, stack: str, cluster_id: str) -> Changes:
        moved = tuple(self.moves())
        unplanned = set(self.ours) - self.planned - {move.live.key for move in moved}
        removed = [self.ours[key] for key in unplanned]
        return Changes(
            stack=stack,
            cluster_id=cluster_id,
            # Once pic takes over an object of an earlier stack, the object counts as ours (ADR 11).
            live_count=len(self.ours) + sum(map(self.is_earlier, self.adopted)),
            planned_count=len(self.plan.resources),
            created=tuple(self.created({move.resource.host for move in moved})),
            updated=tuple(self.updates()),
            removed=tuple(sorted(removed, key=lambda live: (live.host, live.key))),
            moved=moved,
            weakened=tuple(self.weakened()),
            records=record_changes(self.live_records, self.plan.records),
            going=self.inventory.going,
            waiting=tuple(self.waiting()),
        )

    def is_earlier(self, key: tuple[str, str]) -> bool:
        return self.inventory.owner_kinds[key] is OwnerKind.EARLIER

    def moves(self) -> Iterator[Move]:
        for resource in self.plan.resources:
            if resource.key not in self.ours_or_adopted:
                # An object that is planned under its own name stays, even if a user edited its host
                # to this one.
                unplanned = [
                    live
                    for live in self.inventory.ours_for(resource.host)
                    if live.key not in self.planned
                ]
                if unplanned:
                    yield Move(resource, unplanned[0])

    def created(self, moved: set[str]) -> Iterator[Resource]:
        for resource in self.plan.resources:
            if resource.key not in self.ours_or_adopted and resource.host not in moved:
                yield resource

    def updates(self) -> Iterator[Update]:
        for resource in self.plan.resources:
            live = self.ours_or_adopted.get(resource.key)
            if live and (fields := tuple(differences(resource, live))):
                yield Update(resource, live, fields)

    def weakened(self) -> Iterator[Weakening]:
        for resource in self.plan.resources:
            # Objects of ours in two namespaces may serve the host. It counts as protected if any of
            # them protects it.
            objects = [
                *self.inventory.ours_for(resource.host),
                # A host that loses its object for a moment must not lose its login with it.
                *self.inventory.going_for(resource.host),
            ]
            objects += [live for key, live in self.adopted.items() if key == resource.key]
            new = resource.spec.http
            if any(live.spec.http.sso for live in objects) and not new.sso:
                yield Weakening(resource.host, "sso")
            if any(live.spec.http.block_access for live in objects) and not new.block_access:
                yield Weakening(resource.host, "blockAccess")

    def waiting(self) -> Iterator[Waiting]:
        by_key = {live.key: live for live in self.inventory.going}
        for resource in self.plan.resources:
            if resource.key in self.ours_or_adopted:
                continue
            # The operator knows a host once. What it does when the old object goes would undo what
            # it did for a new one of another name.
            same_host = self.inventory.going_for(resource.host)
            live = by_key.get(resource.key) or next(iter(same_host), None)
            if live:
                yield Waiting(resource, live)


def differences(resource: Resource, live: LiveResource) -> Iterator[FieldChange]:
    """Yield the fields that pic plans and whose live value differs.

    Defaults of the CRD, and fields and labels of other controllers, do not count.
    """
    if live.published:
        yield from _published_differences(resource, live)
        return
    yield from spec_changes(resource.spec, live.spec)
    for label, value in sorted(resource.labels.items()):
        if live.labels.get(label) != value:
            yield FieldChange(f"metadata.labels.{label}", live.labels.get(label), value)
    planned_owners, live_owners = _owner_view(resource), _owner_view(live)
    if planned_owners != live_owners:
        yield FieldChange("metadata.ownerReferences", live_owners, planned_owners)


def _published_differences(resource: Resource, live: LiveResource) -> Iterator[FieldChange]:
    """Yield what differs in Pangolin itself, which has no labels and no owners."""
    new, old = (
        _view(_published_spec(spec, shallow=live.shallow)) for spec in (resource.spec, live.spec)
    )
    for path, (planned, found) in _unequal(new, old, "spec"):
        yield FieldChange(path, found, planned)


def _published_spec(spec: Spec, *, shallow: bool) -> Spec:
    """Return what to compare: the base domain is part of the host, which is the same."""
    targets = spec.targets
    if shallow:
        # The list of Pangolin shows the addresses alone. The register knows the rest.
        addresses = sorted((target.ip, target.port) for target in targets)
        targets = tuple(Target(ip, port) for ip, port in addresses)
    http = replace(spec.http, domain_name=None, domain_id=None, subdomain=None)
    return replace(spec, protocol=None, http=http, targets=targets)


def spec_changes(new: Spec, old: Spec) -> Iterator[FieldChange]:
    """Yield the fields that a new spec has and whose old value differs."""
    for path, (value, before) in _unequal(_view(new), _view(old), "spec"):
        yield FieldChange(path, before, value)


def _view(spec: Spec) -> serialise.Json:
    """Return a spec to compare, with `path: None` in each target of the whole host.

    Otherwise a target that is opened from one path to the whole host would equal the live one,
    since only planned fields are compared.
    """
    view = serialise.spec(spec)
    if "targets" in view:
        view["targets"] = [{"path": None, **serialise.target(target)} for target in spec.targets]
    return view


def _owner_view(owned: Resource | LiveResource) -> list[str]:
    # Kubernetes identifies owner references by their uid, so their order is not a difference.
    return sorted(f"{owner.name} ({owner.uid})" for owner in owned.owners)


def _unequal(new: object, old: object, path: str) -> Iterator[tuple[str, tuple[object, object]]]:
    # The keys of the planned map decide. The live map also has the defaults of the CRD.
    if isinstance(new, Mapping):
        fields = old if isinstance(old, Mapping) else {}
        for key, value in new.items():
            yield from _unequal(value, fields.get(key), f"{path}.{key}")
    elif isinstance(new, list) and isinstance(old, list) and len(new) == len(old):
        for index, value in enumerate(new):
            yield from _unequal(value, old[index], f"{path}[{index}]")
    # The list of targets is atomic in the CRD: whoever applies it owns all of it, its length too.
    elif new != old:
        yield path, (new, old)
