"""Compares the cluster with and without the files of a branch, and builds the review of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from pic.core.model import Plan, Snapshot
from pic.core.notices import Notice
from pic.planning import guard
from pic.planning.changes import Changes
from pic.report import review
from pic.report.review import Review, StackRef
from pic.run import reading, situation, stack_config
from pic.run.stack_config import StackConfig
from pic.settings.stack_file import PROJECT
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, propose


@dataclass(frozen=True, slots=True)
class Comparison:
    """The cluster with a branch laid over it, and what should then exist.

    Attributes:
        known_notices: The notices that the cluster has without the branch; None where there is no
            branch.
    """

    stack: str
    config: StackConfig
    snapshot: Snapshot
    plan: Plan
    changes: Changes
    known_notices: frozenset[Notice] | None

    @property
    def review(self) -> Review:
        """The review, with what the guard refuses."""
        settings = self.config.settings
        whole = review.build(
            StackRef(PROJECT, self.stack),
            self.plan,
            self.changes,
            refusals=guard.refusals_of(self.changes, settings),
            acknowledgement=settings.acknowledge,
        )
        return (
            whole if self.known_notices is None else review.hide_notices(whole, self.known_notices)
        )


def compare(
    stack: str,
    config: StackConfig,
    environment: Mapping[str, str],
    branch: Branch,
    snapshot_file: str = "",
) -> Comparison:
    """Read the cluster or its snapshot file, lay the branch over it, and plan.

    Raises:
        SettingsError: Files cannot be read, or do not fit the flags.
        ClusterError: The cluster could not be read whole.
    """
    raw = reading.look(config.settings, environment, snapshot_file)
    proposed = propose(raw, branch, config.settings)
    snapshot, plan = _planned(config, proposed.after)
    changes = situation.changes_for(config, snapshot, plan)
    known = [notice for raw in proposed.before for notice in _planned(config, raw)[1].notices]
    return Comparison(
        stack, config, snapshot, plan, changes, frozenset(known) if proposed.before else None
    )


def _planned(config: StackConfig, raw: RawSnapshot) -> tuple[Snapshot, Plan]:
    snapshot = assemble.snapshot(raw)
    plan = situation.plan_for(config, snapshot)
    return snapshot, stack_config.with_remarks(plan, config.remarks)
