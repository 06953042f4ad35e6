"""Leaves out of a deployment what the engine must not touch.

The engine would wait for the end of a deletion that Kubernetes has begun, or write to an object
that is about to go. And it would fail to delete an object that someone has taken over since pic
made it. So such an object stays declared exactly as the state has it, for which the engine makes no
call, until a run finds it gone. An object that the state does not have is not declared at all.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from pic.core.ingress import Deletion
from pic.core.model import KIND, LiveResource
from pic.core.notices import Notice, Reason, Ref
from pic.engine.backend.state import StackState
from pic.engine.outcome import Failure, target_of
from pic.planning.deletions import description
from pic.planning.ownership import OwnerKind
from pic.run.situation import Situation
from pic.run.targets.interface import Declaration

_OURS = frozenset({OwnerKind.OURS, OwnerKind.STRIPPED})


def withhold(situation: Situation, state: StackState) -> Situation:
    """Return a situation without what waits, and with what the state has of what must stay."""
    situation = _without_silent(situation, state)
    disowned = _disowned(situation, state)
    waiting = _without_waiting(situation, state)
    if not disowned:
        return waiting
    config = waiting.config
    return replace(
        waiting,
        config=replace(
            config, remarks=(*config.remarks, *map(_disowned_notice, disowned.values()))
        ),
        kept=_kept(state, {*disowned, *_names(waiting.kept)}),
    )


def _without_silent(situation: Situation, state: StackState) -> Situation:
    """Keep all that is in Pangolin itself as the state has it, if Pangolin does not answer."""
    if not situation.snapshot.silent:
        return situation
    return replace(situation, kept=_kept(state, _published(state)))


def _published(state: StackState) -> set[str]:
    return {name for name, resource in state.resources.items() if resource.published}


def _disowned(situation: Situation, state: StackState) -> Mapping[str, LiveResource]:
    """Return the live objects that the state has, that nothing asks for, and that are not ours."""
    others = {
        live.identity: live
        for live in situation.snapshot.live
        if not live.going and situation.config.ownership.of(live) not in _OURS
    }
    planned = {resource.host for resource in situation.plan.resources}
    return {
        name: others[entry.identity]
        for name, entry in state.resources.items()
        if entry.identity in others and name not in planned
    }


def _disowned_notice(live: LiveResource) -> Notice:
    if live.published:
        message = (
            "someone gave its resource in Pangolin another niceId, so pic neither changes nor"
            " deletes it: delete it in the dashboard of Pangolin"
        )
        return Notice(Reason.NO_LONGER_OURS, Ref("Resource", "", live.name), message, live.host)
    message = (
        "someone gave it other labels, so pic neither changes nor deletes it, and no Ingress asks"
        " for its host: delete it with kubectl"
    )
    about = Ref(KIND, live.namespace, live.name)
    return Notice(Reason.NO_LONGER_OURS, about, message, live.host or None)


def _names(kept: Mapping[str, Sequence[Declaration]]) -> Iterator[str]:
    return (declaration.name for declarations in kept.values() for declaration in declarations)


def _without_waiting(situation: Situation, state: StackState) -> Situation:
    going = {live.key: live for live in situation.changes.going}
    blockers = {
        name: going[entry.key] for name, entry in state.resources.items() if entry.key in going
    }
    for waiting in situation.changes.waiting:
        blockers.setdefault(waiting.resource.host, waiting.live)
    if not blockers:
        return situation
    planned = {resource.host: resource for resource in situation.plan.resources}
    ready = tuple(planned[host] for host in planned if host not in blockers)
    return replace(
        situation,
        plan=replace(situation.plan, resources=ready),
        withheld={host: blockers[host] for host in planned if host in blockers},
        kept=_kept(state, {*blockers, *_names(situation.kept)}),
    )


def _kept(state: StackState, names: Collection[str]) -> Mapping[str, Sequence[Declaration]]:
    """Return what the state declares under these names, by target."""
    kept: dict[str, list[Declaration]] = {}
    for name in sorted(state.resources.keys() & set(names)):
        entry = state.resources[name]
        kept.setdefault(target_of(entry.urn), []).append(Declaration(name, entry.inputs))
    return kept


def failures(withheld: Mapping[str, LiveResource]) -> tuple[Failure, ...]:
    """Return the hosts that wait as failures, each with the object that it waits for."""
    return tuple(Failure(host, _message(live)) for host, live in sorted(withheld.items()))


def _message(live: LiveResource) -> str:
    return (
        f"{Reason.HELD_BY_FINALIZER}: Kubernetes is still deleting PangolinResource"
        f" {'/'.join(live.key)}{description(live.going or Deletion())}, which has this host: run"
        " pic up again once it is gone"
    )
