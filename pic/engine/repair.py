"""Decides which passes the engine needs before a deployment, so that it can repair everything.

The engine compares what is declared with its state, and never with the cluster. So it misses what
others changed or deleted, and it cannot delete what its state does not have. These functions find
both by comparing the state with the snapshot.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pic.core.json_values import Raw
from pic.core.model import (
    KIND,
    PUBLIC_TYPE,
    LiveResource,
    Plan,
    Record,
    Resource,
    Snapshot,
    record_id,
)
from pic.core.notices import Notice, Reason, Ref
from pic.engine.backend.state import StackState, StateResource
from pic.engine.outcome import Outcome
from pic.planning import serialise
from pic.planning.changes import Changes, differences
from pic.planning.live_form import held_spec
from pic.run import targets
from pic.run.situation import Situation
from pic.settings.parse import PiholeApi, Settings
from pic.snapshot.pangolin import live_resource

# The engine's steps after which an object is gone, if only for a moment.
REMOVING_STEPS = (
    "delete",
    "replace",
    "delete-replaced",
    "create-replacement",
    "import-replacement",
)


def declared_in_pangolin(situation: Situation) -> Mapping[str, Raw]:
    """Return what a run declares in Pangolin itself, by Pulumi name."""
    settings = situation.settings
    return {
        declaration.name: declaration.inputs
        for target in targets.active(settings)
        if target.token == PUBLIC_TYPE
        for declaration in target.declare(situation.plan, situation.snapshot, settings).resources
    }


def stale(
    snapshot: Snapshot,
    plan: Plan,
    state: StackState,
    *,
    owner_references: bool,
    declared: Mapping[str, Raw] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return the URNs that the engine must refresh before it can repair them.

    A resource that is declared differently than before needs no refresh: the engine applies it
    whole.

    Args:
        snapshot: What is live.
        plan: What should exist.
        state: What the last deployment declared.
        owner_references: Whether pic declares objects with ownerReferences.
        declared: What this run declares in Pangolin itself, by Pulumi name.
    """
    by_identity = {live.identity: live for live in snapshot.live}
    urns = []
    for resource in plan.resources:
        last = state.resources.get(resource.host)
        if last is None:
            continue
        live = by_identity.get(last.identity)
        wanted = resource if owner_references else replace(resource, owners=())
        if live is None or (_same(wanted, last, declared) and any(differences(wanted, live))):
            urns.append(last.urn)
    return (*urns, *_stale_records(snapshot, plan, state), *_lost_buckets(snapshot, plan, state))


def _lost_buckets(snapshot: Snapshot, plan: Plan, state: StackState) -> Iterator[str]:
    """Yield the ConfigMaps of the register that someone deleted."""
    if snapshot.registers is None or plan.register is None:
        return
    live = {
        digit
        for register in snapshot.registers.values()
        for digit in (*register.buckets, *register.unreadable)
    }
    for digit in plan.register.buckets:
        if digit in state.buckets and digit not in live:
            yield state.buckets[digit]


def _stale_records(snapshot: Snapshot, plan: Plan, state: StackState) -> Iterator[str]:
    if snapshot.records is None:
        return
    addresses: dict[str, set[str]] = {}
    for live in snapshot.records:
        if live.ours:
            addresses.setdefault(record_id(live), set()).add(live.ip)
    for record in plan.records:
        last = state.records.get(record_id(record))
        # An interrupted change leaves a second address next to the recorded one.
        is_as_declared = addresses.get(record_id(record)) == {record.ip}
        if last and last.ip == record.ip and not is_as_declared:
            yield last.urn


def _same(resource: Resource, last: StateResource, declared: Mapping[str, Raw]) -> bool:
    """Say whether the last deployment declared a resource like this."""
    if last.published:
        return declared.get(resource.host) == last.inputs
    before = live_resource(last.inputs)
    return (
        serialise.spec(resource.spec) == last.inputs.get("spec")
        and dict(resource.labels) == dict(before.labels)
        and serialise.owner_references(resource.owners) == serialise.owner_references(before.owners)
    )


def strays(changes: Changes, state: StackState) -> tuple[LiveResource, ...]:
    """Return our live objects that must be deleted but are not in the state.

    A run that was killed before it saved its state leaves them. The engine cannot delete them
    before it has imported them.
    """
    # A host that moves in Pangolin itself keeps its resource.
    moved = [move.live for move in changes.moved if not move.live.published]
    removals = [*changes.removed, *moved]
    known = state.identities
    return tuple(live for live in removals if live.identity not in known)


def stray_records(changes: Changes, state: StackState, settings: Settings) -> tuple[Record, ...]:
    """Return our live records that must be deleted but are not in the state.

    With `pic:piholeApi: dns-local` a record has no marker. Only the state says which records are
    ours, so this returns none.
    """
    if settings.pihole_api is PiholeApi.DNS_LOCAL:
        return ()
    return _unknown_records(changes, state)


def _unknown_records(changes: Changes, state: StackState) -> tuple[Record, ...]:
    unknown = {
        record_id(live): Record(live.host, live.ip, ())
        for live in changes.records.removed
        if record_id(live) not in state.records and not live.legacy
    }
    return tuple(record for _, record in sorted(unknown.items()))


def orphans(strays: Iterable[LiveResource], records: Iterable[Record]) -> Iterator[Notice]:
    """Yield a notice for each stray, for a plain `pulumi up`, which does not import them."""
    for live in strays:
        yield _orphan(Ref(KIND, live.namespace, live.name), live.host)
    for record in records:
        yield _orphan(Ref("DNS record", "", record_id(record)), record.host)


def _orphan(about: Ref, host: str) -> Notice:
    message = (
        "an interrupted run left it and no Ingress asks for it; the state does not have it, so this"
        " run leaves it: pic up deletes it"
    )
    return Notice(Reason.UNTRACKED_ORPHAN, about, message, host or None)


def adopting(plan: Plan, strays: Sequence[LiveResource], state: StackState) -> Plan:
    """Return a plan that imports strays, so that the engine can delete them afterwards.

    A stray gets the Pulumi name of its host if that is free. Then the resource that replaces it
    waits until the stray is deleted.
    """
    taken = set(state.resources)
    declared = {resource.host: resource for resource in plan.resources}
    for live in strays:
        name = live.host
        if not name or name in taken:
            name = "/".join([live.host, *live.key])
        taken.add(name)
        declared[name] = resource_as_live(live, name)
    return replace(plan, resources=tuple(resource for _, resource in sorted(declared.items())))


def resource_as_live(live: LiveResource, name: str) -> Resource:
    """Return the resource that declares a live object as it is, under a Pulumi name."""
    return Resource(
        host=name,
        namespace=live.namespace,
        name=live.name,
        owners=live.owners,
        labels=live.labels,
        spec=held_spec(live),
        held=True,
        adopts=True,
    )


def changed_conditions(before: Raw, after: Mapping[str, object]) -> Iterator[str]:
    """Yield the conditions that differ from those of the last deployment, such as `pic 1 → 2`."""
    for key, value in after.items():
        former = before.get(key)
        if former is not None and former != value:
            yield f"{key} {former} → {value}"


def unplanned_removals(
    snapshot: Snapshot, plan: Plan, outcome: Outcome
) -> tuple[LiveResource, ...]:
    """Return the objects that the engine would delete although the plan keeps them."""
    hosts = set(outcome.hosts(*REMOVING_STEPS))
    planned = {resource.key for resource in plan.resources}
    return tuple(live for live in snapshot.live if live.host in hosts and live.key in planned)
