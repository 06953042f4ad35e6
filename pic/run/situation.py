"""Gathers what is known before a run declares anything: settings, snapshot, plan and changes.

Each verb that plans comes through here, so that a review, a deployment and the watcher cannot
disagree on what the same cluster asks for.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.core.errors import TargetError
from pic.core.model import Plan, Snapshot
from pic.planning import changes as comparing
from pic.planning.changes import Changes
from pic.report import event_texts
from pic.report.event_texts import EventText
from pic.run import reading, targets
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that is known before anything is declared.

    Attributes:
        told: Digests of the warnings that the last run reported as Events.
        bulk: So much is new to the engine that no host gets an Event of its own.
    """

    config: StackConfig
    transport: Transport
    snapshot: Snapshot
    plan: Plan
    changes: Changes
    told: tuple[str, ...] = ()
    bulk: bool = False

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.config.settings

    @property
    def warnings(self) -> tuple[EventText, ...]:
        """The warnings to report as Events at their Ingresses; none with `pic:events: false`."""
        if not self.settings.events:
            return ()
        return event_texts.warnings(self.plan.notices, self.snapshot.ingresses)

    @property
    def unread(self) -> dict[str, TargetError]:
        """The active targets that could not be read, each with the reason."""
        reasons = {
            str(target.name): target.unread(self.snapshot)
            for target in targets.active(self.settings)
        }
        return {name: error for name, error in reasons.items() if error}


def survey(config: StackConfig, environment: Mapping[str, str]) -> Situation:
    """Connect to the cluster, read it and plan.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    return look(config, listing.connect(config.settings, environment), environment)


def look(config: StackConfig, transport: Transport, environment: Mapping[str, str]) -> Situation:
    """Read the cluster whole, then the targets that hold something themselves, and plan.

    A target that does not answer ends nothing: `Situation.unread` says why.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    return consider(config, transport, reading.read(transport, config.settings, environment))


def consider(config: StackConfig, transport: Transport, raw: RawSnapshot) -> Situation:
    """Plan for what was read."""
    return _situation(config, transport, assemble.snapshot(raw))


def owning(situation: Situation, hosts: Collection[str]) -> Situation:
    """Plan again, with the records of some hosts as ours.

    With `pic:piholeApi: dns-local` a record bears no marker. The engine's state knows which records
    it registered, also where no Ingress is annotated with them.
    """
    records = situation.snapshot.records
    if records is None or not any(live.host in hosts and not live.ours for live in records):
        return situation
    marked = tuple(replace(live, ours=live.ours or live.host in hosts) for live in records)
    snapshot = replace(situation.snapshot, records=marked)
    planned = _situation(situation.config, situation.transport, snapshot)
    return replace(situation, snapshot=snapshot, plan=planned.plan, changes=planned.changes)


def _situation(config: StackConfig, transport: Transport, snapshot: Snapshot) -> Situation:
    plan = plan_for(config, snapshot)
    return Situation(config, transport, snapshot, plan, changes_for(config, snapshot, plan))


def plan_for(config: StackConfig, snapshot: Snapshot) -> Plan:
    """Return what should exist."""
    return targets.build_plan(snapshot, config.settings, config.label, config.ownership)


def changes_for(config: StackConfig, snapshot: Snapshot, plan: Plan) -> Changes:
    """Return the difference between what is live and ours, and a plan."""
    return comparing.between(
        snapshot,
        plan,
        config.label,
        config.ownership,
        owner_references=config.settings.owner_references,
    )
