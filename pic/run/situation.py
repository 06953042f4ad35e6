"""What a run finds, and what it would do about it: settings, snapshot, plan and changes."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from pic.cluster import listing
from pic.cluster.listing import Transport
from pic.core.errors import PiholeError
from pic.core.model import Plan, Snapshot
from pic.planning import plan
from pic.planning.changes import Changes
from pic.report import event_texts
from pic.report.event_texts import Warned
from pic.run import reading
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that is known before anything is declared.

    Attributes:
        told: Digests of the warnings that Ingresses were told of in the last run.
        bulk: So much is new to the engine that no host is told of in an Event.
    """

    asked: StackConfig
    transport: Transport
    snapshot: Snapshot
    plan: Plan
    changes: Changes
    told: tuple[str, ...] = ()
    bulk: bool = False

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.asked.settings

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What Ingresses are to be told of in Events, if they are."""
        if not self.settings.events:
            return ()
        return event_texts.warnings(self.plan.notices, self.snapshot.ingresses)

    @property
    def pihole(self) -> PiholeError | None:
        """Why Pi-hole did not tell its records; None where it did, or was not asked."""
        return self.snapshot.unanswered.error if self.snapshot.unanswered else None


def survey(asked: StackConfig, environment: Mapping[str, str]) -> Situation:
    """Connect to the cluster, look and plan.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    return look(asked, listing.connect(asked.settings, environment), environment)


def look(asked: StackConfig, transport: Transport, environment: Mapping[str, str]) -> Situation:
    """Read the cluster whole and then Pi-hole, if it is a target, and plan.

    A Pi-hole that does not answer is in `pihole`, and ends nothing.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    return consider(asked, transport, reading.read(transport, asked.settings, environment))


def consider(asked: StackConfig, transport: Transport, seen: RawSnapshot) -> Situation:
    """Plan for what was seen."""
    return _situation(asked, transport, assemble.snapshot(seen))


def owning(known: Situation, hosts: Collection[str]) -> Situation:
    """Plan anew, knowing that the records of some hosts are ours.

    It is for `pic:piholeApi: dns-local`, where a record can bear no marker: the engine remembers
    what it has registered, also where no Ingress is annotated with it.
    """
    there = known.snapshot.records
    if there is None or not any(each.host in hosts and not each.ours for each in there):
        return known
    marked = tuple(replace(each, ours=each.ours or each.host in hosts) for each in there)
    snapshot = replace(known.snapshot, records=marked)
    found = _situation(known.asked, known.transport, snapshot)
    return replace(known, snapshot=snapshot, plan=found.plan, changes=found.changes)


def _situation(asked: StackConfig, transport: Transport, snapshot: Snapshot) -> Situation:
    planned = plan.build(snapshot, asked.settings, asked.label, asked.ownership)
    return Situation(asked, transport, snapshot, planned, asked.changes(snapshot, planned))
