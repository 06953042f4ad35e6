"""Plans and compares with the settings of one run.

This module reads nothing and imports no client, so that a verb that works on files starts quickly.
"""

from dataclasses import replace

from pic.core.model import Plan, Snapshot
from pic.planning import changes as comparing
from pic.planning import record_ownership
from pic.planning.changes import Changes
from pic.planning.memory import recall
from pic.run import targets
from pic.run.stack_config import StackConfig
from pic.settings.parse import PiholeApi


def decided(config: StackConfig, snapshot: Snapshot) -> Snapshot:
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


def plan_for(config: StackConfig, snapshot: Snapshot) -> Plan:
    """Return what should exist."""
    return targets.build_plan(snapshot, config.settings, config.label, config.ownership)


def changes_for(config: StackConfig, snapshot: Snapshot, plan: Plan) -> Changes:
    """Return the difference between what is live and ours, and a plan."""
    return comparing.between(
        snapshot,
        plan,
        config.label,
        recall(snapshot, config.ownership, config.settings),
        owner_references=config.settings.owner_references,
    )
