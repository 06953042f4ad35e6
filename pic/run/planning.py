"""Plans and compares with the settings of one run.

This module reads nothing and imports no client, so that a verb that works on files starts quickly.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from pic.core.model import Plan, Snapshot
from pic.planning import changes as comparing
from pic.planning import publishing, record_ownership
from pic.planning.changes import Changes
from pic.planning.memory import recall
from pic.planning.publishing import Markers
from pic.planning.trail import Trail
from pic.run import targets
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import Look, ReadTimeouts
from pic.run.targets.pangolin_api import declaration
from pic.settings.parse import PiholeApi


@dataclass(frozen=True, slots=True)
class Closer:
    """Looks closer at what a first reading left open; without an environment, at nothing.

    Attributes:
        environment: Holds the credentials of the targets.
        everything: Whether to look at all that is ours.
    """

    environment: Mapping[str, str] | None = field(default=None, repr=False)
    timeouts: ReadTimeouts | None = None
    everything: bool = False

    def look(self, config: StackConfig, snapshot: Snapshot, plan: Plan) -> Snapshot:
        """Return a snapshot with more, or the same one."""
        if self.environment is None:
            return snapshot
        memory = recall(snapshot, config.ownership, config.settings)
        look = Look(memory, self.environment, self.timeouts, self.everything)
        return targets.look_closer(snapshot, plan, config.settings, look)


BLIND = Closer()


def planned(
    config: StackConfig,
    snapshot: Snapshot,
    closer: Closer = BLIND,
    new_trail: Callable[[], Trail] = Trail,
) -> tuple[Snapshot, Plan]:
    """Plan, and plan again as long as looking closer shows more.

    Args:
        config: The settings of the run.
        snapshot: What was read so far.
        closer: Looks closer.
        new_trail: Makes the trail of each plan.
    """
    while True:
        plan = plan_for(config, snapshot, new_trail())
        closest = closer.look(config, snapshot, plan)
        if closest is snapshot:
            return snapshot, plan
        snapshot = _with_live(config, closest)


def decided(config: StackConfig, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which the register decides whose hosts and DNS records are."""
    return _with_records(config, _with_live(config, snapshot))


def _with_live(config: StackConfig, snapshot: Snapshot) -> Snapshot:
    if not config.settings.publishes:
        return snapshot
    memory = recall(snapshot, config.ownership, config.settings)
    return publishing.with_live(snapshot, memory, _markers(config, snapshot))


def _markers(config: StackConfig, snapshot: Snapshot) -> Markers:
    ownership = config.ownership
    earlier = (snapshot.registers or {}).get(ownership.earlier)
    ids = sorted({it.stack_id for it in earlier.buckets.values()} - {""}) if earlier else []
    return Markers(
        declaration.marker(ownership.stack, ownership.stack_id),
        declaration.marker(ownership.earlier, ids[0]) if ids else "",
    )


def _with_records(config: StackConfig, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot in which the register decides whose the DNS records are.

    Where there is a register, or the state was read, a record without a marker, or with the one of
    earlier versions, is ours if one of them has it.
    """
    is_local = config.settings.pihole_api is PiholeApi.DNS_LOCAL
    if not any(record.legacy or is_local for record in snapshot.records or ()):
        return snapshot
    memory = recall(snapshot, config.ownership, config.settings)
    if is_local:
        records = record_ownership.unmarked(snapshot, memory, config.settings)
        return replace(snapshot, records=records)
    return replace(snapshot, records=record_ownership.remembered(snapshot, memory))


def plan_for(config: StackConfig, snapshot: Snapshot, trail: Trail | None = None) -> Plan:
    """Return what should exist; the trail gets the decisions."""
    return targets.build_plan(snapshot, config.settings, config.label, config.ownership, trail)


def changes_for(config: StackConfig, snapshot: Snapshot, plan: Plan) -> Changes:
    """Return the difference between what is live and ours, and a plan."""
    return comparing.between(
        snapshot,
        plan,
        config.label,
        recall(snapshot, config.ownership, config.settings),
        owner_references=config.settings.owner_references and not config.settings.publishes,
    )
