"""Leaves out of a deployment what has to wait until Kubernetes has deleted an object.

The engine would wait for the end of such a deletion, or write to an object that is about to go. So
the object stays declared exactly as the state has it, for which the engine makes no call, until a
run finds it gone. An object that the state does not have is not declared at all.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from pic.core.ingress import Deletion
from pic.core.model import LiveResource
from pic.core.notices import Reason
from pic.engine.backend.state import StackState
from pic.engine.outcome import Failure, target_of
from pic.planning.deletions import description
from pic.run.situation import Situation
from pic.run.targets.interface import Declaration


def withhold(situation: Situation, state: StackState) -> Situation:
    """Return a situation without the hosts that wait, and with what the state has of them."""
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
        kept=_kept(state, blockers),
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
