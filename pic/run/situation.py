"""Gathers everything that a run decides on: settings, snapshot, plan and changes.

Every verb that plans uses this module. So a review, a deployment and the watcher always make the
same plan for the same cluster.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pic.cluster.listing import Transport
from pic.core.errors import TargetError
from pic.core.model import LiveResource, Plan, Snapshot
from pic.core.register import StateMemory
from pic.planning import record_ownership
from pic.planning.changes import Changes
from pic.planning.trail import Trail
from pic.report import event_texts
from pic.report.event_texts import EventText
from pic.run import planning, reading, targets
from pic.run.planning import Closer
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import Declaration
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that a run has read and planned before it declares anything.

    Attributes:
        reported_warnings: Digests of the warnings that the last run reported as Events.
        unrecorded: The planned resources that the state does not have, by Pulumi name; empty if
            pic has not read the state.
        withheld: The hosts that this run leaves out of the plan, with the live object whose
            deletion they wait for.
        kept: What this run declares exactly as the last one did, by target.
        closer: How to look at what the reading left open.
    """

    config: StackConfig
    transport: Transport
    snapshot: Snapshot
    plan: Plan
    changes: Changes
    reported_warnings: tuple[str, ...] = ()
    unrecorded: frozenset[str] = frozenset()
    withheld: Mapping[str, LiveResource] = field(default_factory=dict)
    kept: Mapping[str, Sequence[Declaration]] = field(default_factory=dict)
    closer: Closer = planning.BLIND

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.config.settings

    @property
    def warnings(self) -> tuple[EventText, ...]:
        """The warnings to report as Events at their Ingresses; none with `pic:events: false`."""
        if not self.settings.events:
            return ()
        # The API server creates nothing in a namespace that is being deleted.
        ingresses = (
            ingress
            for ingress in self.snapshot.ingresses
            if ingress.namespace not in self.going_namespaces
        )
        return event_texts.warnings(self.plan.notices, ingresses)

    @property
    def going_namespaces(self) -> frozenset[str]:
        """The namespaces that Kubernetes is deleting, as far as pic may know."""
        namespaces = self.snapshot.namespaces or ()
        return frozenset(namespace.name for namespace in namespaces if namespace.going)

    @property
    def unread_targets(self) -> dict[str, TargetError]:
        """The active targets that could not be read, each with the reason."""
        errors = {
            str(target.name): target.read_error(self.snapshot)
            for target in targets.active(self.settings)
        }
        return {name: error for name, error in errors.items() if error}


def read_and_plan(
    config: StackConfig,
    transport: Transport,
    environment: Mapping[str, str],
    *,
    everything: bool = False,
    new_trail: Callable[[], Trail] = Trail,
) -> Situation:
    """Read the cluster and the active targets, and plan.

    If a target does not answer, the run goes on: `Situation.unread_targets` has the reason.

    Args:
        config: The settings of the run.
        transport: Connects to the cluster.
        environment: Holds the credentials of the targets.
        everything: Whether to read all that is ours whole, also where nothing suggests a change.
        new_trail: Makes the trail of each plan.

    Raises:
        ClusterError: The cluster could not be read completely.
    """
    raw = reading.read(transport, config.settings, environment)
    closer = Closer(environment, everything=everything)
    return plan_raw(config, transport, raw, closer, new_trail)


def plan_raw(
    config: StackConfig,
    transport: Transport,
    raw: RawSnapshot,
    closer: Closer = planning.BLIND,
    new_trail: Callable[[], Trail] = Trail,
) -> Situation:
    """Plan for contents that were read before."""
    snapshot = planning.decided(config, assemble.snapshot(raw))
    snapshot, plan = planning.planned(config, snapshot, closer, new_trail)
    changes = planning.changes_for(config, snapshot, plan)
    return Situation(config, transport, snapshot, plan, changes, closer=closer)


def with_memory(situation: Situation, memory: StateMemory) -> Situation:
    """Plan again with what the engine's state knows."""
    snapshot = replace(situation.snapshot, state=memory)
    return _planned_again(situation, planning.decided(situation.config, snapshot))


def with_own_records(situation: Situation, hosts: Collection[str]) -> Situation:
    """Plan again, and take the records of these hosts as ours.

    With `pic:piholeApi: dns-local` a record has no marker. But the state of the stack lists the
    records that pic registered, also where the register does not know them.
    """
    records = situation.snapshot.records
    marked = record_ownership.claimed(records or (), hosts)
    if records is None or marked == tuple(records):
        return situation
    return _planned_again(situation, replace(situation.snapshot, records=marked))


def with_judged_records(situation: Situation, hosts: Collection[str]) -> Situation:
    """Plan again if the state has to say which records with the earlier marker are ours.

    Args:
        situation: The situation so far.
        hosts: The hosts whose records the state has, without those of the current marker.
    """
    records = situation.snapshot.records
    if records is None or not any(live.legacy for live in records):
        return situation
    judged = record_ownership.judged(records, hosts)
    return _planned_again(situation, replace(situation.snapshot, records=judged))


def _planned_again(situation: Situation, snapshot: Snapshot) -> Situation:
    snapshot, plan = planning.planned(situation.config, snapshot, situation.closer)
    changes = planning.changes_for(situation.config, snapshot, plan)
    return replace(situation, snapshot=snapshot, plan=plan, changes=changes)
