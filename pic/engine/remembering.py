"""Reads from the engine's state what the register does not say, and plans again with it.

The state knows which objects the stack made, and it is where tenants cannot write. Reading it takes
time, so pic reads it only where the register leaves a question open.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from pic.core.json_values import Raw, integer, mapping
from pic.core.model import record_id
from pic.core.register import HostEntry, RecordEntry, RegisterStatus, StateMemory
from pic.engine import public_state
from pic.engine.backend.state import StackState
from pic.planning.inventory import Inventory
from pic.planning.memory import recall
from pic.planning.ownership import OwnerKind
from pic.planning.registering import entry_of_live
from pic.run import situation as situations
from pic.run.situation import Situation
from pic.settings.parse import PiholeApi
from pic.snapshot.pangolin import live_resource

OUTPUT = "register"
_DOUBTFUL = frozenset({OwnerKind.STRANGER, OwnerKind.FOREIGN})


def needs_state(situation: Situation, outputs: Raw) -> bool:
    """Say whether the register leaves open what is ours, so that the state has to say it."""
    snapshot = situation.snapshot
    memory = recall(snapshot, situation.config.ownership, situation.settings)
    stored = memory.stored
    written = serials(outputs)
    if stored.status is RegisterStatus.FORBIDDEN and written:
        return True
    if stored.status is RegisterStatus.ABSENT or stored.unreadable:
        return True
    if any(
        digit not in stored.buckets or stored.buckets[digit].serial < serial
        for digit, serial in written.items()
    ):
        return True
    kinds = Inventory(snapshot.live, memory).owner_kinds
    return any(
        live.managed and live.key not in memory.hosts and kinds.get(live.key) in _DOUBTFUL
        for live in snapshot.live
    )


def with_state(situation: Situation, state: StackState, outputs: Raw) -> Situation:
    """Plan again with what the state knows."""
    memory = StateMemory(tuple(_hosts(state)), tuple(_records(situation, state)), serials(outputs))
    return situations.with_memory(situation, memory)


def with_own_records(situation: Situation, state: StackState | None) -> Situation:
    """Plan again with the records of the state as ours, if their markers do not say so.

    Args:
        situation: The situation so far.
        state: None if the stack has no state.
    """
    if situation.settings.pihole_api is not PiholeApi.DNS_LOCAL:
        hosts = state.unmarked_hosts if state else ()
        return situations.with_judged_records(situation, hosts)
    if state is None:
        return situation
    return situations.with_own_records(situation, {it.host for it in state.records.values()})


def serials(outputs: Raw) -> Mapping[str, int]:
    """Return the serial of each bucket that the last deployment wrote, by its digit."""
    written = mapping(outputs.get(OUTPUT) or {}, OUTPUT)
    return {digit: integer(written[digit]) or 0 for digit in written}


def _hosts(state: StackState) -> Iterator[HostEntry]:
    for name, resource in state.resources.items():
        # A refresh may have read an object whose host someone edited, or removed: the register has
        # a key for each host, and the API server refuses an empty one. The name stays.
        host = name.partition("/")[0]
        if resource.published:
            yield public_state.entry(host, resource)
        else:
            yield replace(entry_of_live(live_resource(resource.inputs)), host=host)


def _records(situation: Situation, state: StackState) -> Iterator[RecordEntry]:
    owners = {record_id(record): record.owners for record in situation.plan.records}
    for name, record in state.records.items():
        namespace = owners[name][0].namespace if owners.get(name) else ""
        yield RecordEntry(name, record.ip, namespace)
