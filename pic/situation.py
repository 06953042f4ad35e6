"""What a run finds, and what it would do about it: settings, snapshot, plan and changes."""

from collections.abc import Mapping
from dataclasses import dataclass

from pic import assemble, changes, cluster, plan
from pic.assemble import Seen
from pic.changes import Changes
from pic.cluster import Transport
from pic.config import Settings
from pic.model import Plan, Snapshot
from pic.sources import Run


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that is known before anything is declared."""

    asked: Run
    transport: Transport
    snapshot: Snapshot
    plan: Plan
    changes: Changes

    @property
    def settings(self) -> Settings:
        """The settings of the run."""
        return self.asked.settings


def survey(asked: Run, environment: Mapping[str, str]) -> Situation:
    """Read the cluster whole, and plan.

    Raises:
        ClusterError: It could not be read whole.
    """
    transport = cluster.connect(asked.settings, environment)
    return consider(asked, transport, cluster.read(transport, asked.settings))


def consider(asked: Run, transport: Transport, seen: Seen) -> Situation:
    """Plan for what was seen."""
    snapshot = assemble.snapshot(seen)
    planned = plan.build(snapshot, asked.settings, asked.label, asked.ownership)
    found = changes.between(
        snapshot,
        planned,
        asked.label,
        asked.ownership,
        owner_references=asked.settings.owner_references,
    )
    return Situation(asked, transport, snapshot, planned, found)
