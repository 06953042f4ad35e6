"""Compares the cluster with and without the files of a branch, and builds the review of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from pic.core.model import Plan, Snapshot
from pic.core.notices import Notice
from pic.core.outside import OutsideExposure
from pic.planning import guard
from pic.planning.changes import Changes
from pic.planning.trail import FullTrail, Trail
from pic.report import review as reviews
from pic.report.review import Review, StackRef
from pic.run import planning, reading, stack_config
from pic.run.planning import Closer
from pic.run.stack_config import StackConfig
from pic.settings.stack_file import PROJECT
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, propose


@dataclass(frozen=True, slots=True)
class Comparison:
    """The cluster with a branch laid over it, and what should then exist.

    Attributes:
        notices_before: The notices that the cluster has without the branch. The review hides them.
            None if there is no branch, and then the review shows all notices.
        outside: The PangolinResources that the branch itself adds, changes or removes.
    """

    stack: str
    config: StackConfig
    snapshot: Snapshot
    plan: Plan
    changes: Changes
    notices_before: frozenset[Notice] | None
    outside: tuple[OutsideExposure, ...] = ()

    @property
    def review(self) -> Review:
        """The review, with what the guard refuses."""
        settings = self.config.settings
        review = reviews.build(
            StackRef(PROJECT, self.stack),
            self.plan,
            self.changes,
            refusals=guard.refusals_of(self.changes, settings),
            acknowledgement=settings.acknowledge,
        )
        if self.notices_before is None:
            return review
        review = replace(review, outside=self.outside)
        return reviews.hide_notices(review, self.notices_before)


def compare(
    stack: str,
    config: StackConfig,
    environment: Mapping[str, str],
    branch: Branch,
    snapshot_path: str = "",
) -> Comparison:
    """Read the cluster or its snapshot file, lay the branch over it, and plan.

    Raises:
        SettingsError: Files cannot be read, or do not fit the flags.
        ClusterError: The cluster could not be read completely.
    """
    raw = reading.read_cluster_or_file(config.settings, environment, snapshot_path)
    proposed = propose(raw, branch, config.settings)
    # A snapshot file holds all that may be read.
    closer = planning.BLIND if snapshot_path else Closer(environment)
    snapshot, plan = _planned(config, proposed.after, closer, FullTrail)
    changes = planning.changes_for(config, snapshot, plan)
    before = [
        notice for raw in proposed.before for notice in _planned(config, raw, closer)[1].notices
    ]
    notices = frozenset(before) if proposed.before else None
    if notices is not None and _empties(snapshot, changes):
        changes = replace(changes, no_host_survives=True)
    return Comparison(stack, config, snapshot, plan, changes, notices, proposed.outside)


def _empties(snapshot: Snapshot, changes: Changes) -> bool:
    """Say whether a branch deletes the Ingresses of every host, so that Kubernetes deletes all.

    A run on the cluster takes such deletions as they are. A branch may only have lost its files.
    """
    uids = {ingress.uid for ingress in snapshot.ingresses}
    return not changes.planned_count and any(
        uids.isdisjoint(owner.uid for owner in live.owners) for live in changes.removed
    )


def _planned(
    config: StackConfig, raw: RawSnapshot, closer: Closer, new_trail: Callable[[], Trail] = Trail
) -> tuple[Snapshot, Plan]:
    snapshot = planning.decided(config, assemble.snapshot(raw))
    snapshot, plan = planning.planned(config, snapshot, closer, new_trail)
    return snapshot, stack_config.with_remarks(plan, config.remarks)
