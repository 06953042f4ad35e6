"""Which passes of the engine a run needs besides the one that does it. No I/O."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from pic.core.json_values import Raw
from pic.core.model import (
    KIND,
    LiveResource,
    Plan,
    Record,
    Resource,
    Snapshot,
    record_id,
)
from pic.core.notices import Notice, Reason, Ref
from pic.engine.backend.state import StackState
from pic.planning import serialise
from pic.planning.changes import Changes, differences
from pic.planning.merge import held_spec
from pic.settings.parse import PiholeApi, Settings
from pic.snapshot.pangolin import live_resource as read_resource


def stale(
    snapshot: Snapshot, plan: Plan, state: StackState, *, owner_references: bool
) -> tuple[str, ...]:
    """Return the URNs that the engine has to read anew before it can repair them.

    It compares what is declared with what it remembers, so it misses what was changed or deleted
    by others. What is declared anew it applies whole in any case.
    """
    live = {each.key: each for each in snapshot.live}
    found = []
    for wanted in plan.resources:
        remembered = state.resources.get(wanted.host)
        if remembered is None:
            continue
        there = live.get(remembered.key)
        declared = wanted if owner_references else replace(wanted, owners=())
        if there is None or (
            _same(declared, remembered.inputs) and any(differences(declared, there))
        ):
            found.append(remembered.urn)
    return (*found, *_stale_records(snapshot, plan, state))


def _stale_records(snapshot: Snapshot, plan: Plan, state: StackState) -> Iterator[str]:
    if snapshot.records is None:
        return
    live: dict[str, set[str]] = {}
    for each in snapshot.records:
        if each.ours:
            live.setdefault(record_id(each), set()).add(each.ip)
    for wanted in plan.records:
        remembered = state.records.get(record_id(wanted))
        # An interrupted change leaves a second address beside the one that is remembered.
        is_as_declared = live.get(record_id(wanted)) == {wanted.ip}
        if remembered and remembered.ip == wanted.ip and not is_as_declared:
            yield remembered.urn


def _same(wanted: Resource, inputs: Raw) -> bool:
    """Say whether a resource was declared like this the last time."""
    last = read_resource(inputs)
    return (
        serialise.spec(wanted.spec) == inputs.get("spec")
        and dict(wanted.labels) == dict(last.labels)
        and serialise.owner_references(wanted.owners) == serialise.owner_references(last.owners)
    )


def strays(changes: Changes, state: StackState) -> tuple[LiveResource, ...]:
    """Return what is live, ours and to go, and unknown to the engine, which so cannot delete it.

    It is left of a run that was killed before it saved its state (DESIGN 9.3).
    """
    going = [*changes.removed, *(move.live for move in changes.moved)]
    return tuple(live for live in going if live.key not in state.keys)


def stray_records(changes: Changes, state: StackState, settings: Settings) -> tuple[Record, ...]:
    """Return the records that are live, ours and to go, and unknown to the engine.

    With `pic:piholeApi: dns-local` a record bears no marker. Only the state tells which records are
    ours, so there are none.
    """
    if settings.pihole_api is PiholeApi.DNS_LOCAL:
        return ()
    return _unknown_records(changes, state)


def _unknown_records(changes: Changes, state: StackState) -> tuple[Record, ...]:
    lost = {
        record_id(each): Record(each.host, each.ip, ())
        for each in changes.records.removed
        if record_id(each) not in state.records
    }
    return tuple(each for _, each in sorted(lost.items()))


def orphans(strays: Iterable[LiveResource], records: Iterable[Record]) -> Iterator[Notice]:
    """Yield what to tell of strays where nobody takes them up (DESIGN 9.3)."""
    for live in strays:
        yield _orphan(Ref(KIND, live.namespace, live.name), live.host)
    for record in records:
        yield _orphan(Ref("DNS record", "", record_id(record)), record.host)


def _orphan(about: Ref, host: str) -> Notice:
    message = (
        "an interrupted run has left it and nothing asks for it; the engine does not know it, so it"
        " stays: pic up deletes it"
    )
    return Notice(Reason.UNTRACKED_ORPHAN, about, message, host or None)


def adopting(plan: Plan, found: Sequence[LiveResource], state: StackState) -> Plan:
    """Return a plan that makes strays known to the engine, which may then delete them.

    A stray takes the engine's name of its host where that is free, so that what replaces it
    waits until it is gone.
    """
    taken = set(state.resources)
    declared: dict[str, Resource] = {each.host: each for each in plan.resources}
    for live in found:
        name = live.host
        if not name or name in taken:
            name = "/".join([live.host, *live.key])
        taken.add(name)
        declared[name] = as_live(live, name)
    return replace(plan, resources=tuple(each for _, each in sorted(declared.items())))


def as_live(live: LiveResource, name: str) -> Resource:
    """Return a live object as a resource that declares it as it is, under some name."""
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


def scope_changes(before: Raw, after: Mapping[str, object]) -> Iterator[str]:
    """Yield in words what differs from the last deployment, in how a plan is seen or found."""
    for key, value in after.items():
        known = before.get(key)
        if known is not None and known != value:
            yield f"{key} {known} → {value}"
