"""Plans for what the cache knows, and says whether there is anything to do. Starts nothing."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pic.cluster import listing, managed_hosts
from pic.cluster.listing import Transport
from pic.cluster.managed_hosts import HostsAnnotation
from pic.core.json_values import Raw
from pic.core.model import (
    LiveRecord,
    Plan,
    Schema,
    Unanswered,
)
from pic.planning import guard
from pic.planning.changes import Changes, FieldChange
from pic.planning.record_changes import RecordChanges
from pic.run import fingerprint, reading, situation
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import ReadTimeouts
from pic.snapshot.assemble import RawSnapshot
from pic.watch.schedule import Verdict
from pic.watch.store import Store

# Seconds for which the loop may stand still, that renews a lease. A run has more patience.
TIMEOUTS = ReadTimeouts(lock=1.0, connect=2.0, answer=5.0)

Registered = tuple[tuple[LiveRecord, ...] | None, Unanswered | None]
"""What Pi-hole has, or why that is not known."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a look has found.

    Attributes:
        removals: How many removals of it the guard refuses.
        deployment: What the engine's outputs would name it with.
    """

    verdict: Verdict
    removals: int
    deployment: Mapping[str, object]


@dataclass
class Evaluator:
    """Looks at what the cache knows; what is still as it was deployed is not planned for again.

    Attributes:
        environment: Has the password of Pi-hole.
        deployed: What the last run has deployed; None where that is not known.
        plans: How often it has planned.
    """

    config: StackConfig
    transport: Transport
    cache: Store
    environment: Mapping[str, str] = field(default_factory=dict)
    deployed: Raw | None = None
    plans: int = 0
    _surroundings: tuple[str, Schema] | None = field(default=None, init=False)
    _view: Evaluation | None = field(default=None, init=False)
    _held: Registered = field(default=(None, None), init=False)
    _stamp: tuple[int, Registered] | None = field(default=None, init=False)

    def ask(self) -> None:
        """Read which cluster this is and what its CRD can hold, which no feed follows.

        Raises:
            ClusterError: It cannot be read.
        """
        settings = self.config.settings
        identity = listing.read_cluster_id(self.transport, settings)
        found = identity, listing.read_schema(self.transport, settings)
        if found != self._surroundings:
            self._surroundings, self._view = found, None

    def look(self, *, read_targets: bool = True) -> tuple[Evaluation, Plan | None]:
        """Return what there is to do, and the plan where one had to be made.

        Args:
            read_targets: Read again what targets hold themselves; else what was read last counts.

        Raises:
            ClusterError: The surroundings were not known yet, and cannot be read.
        """
        if self._surroundings is None:
            self.ask()
        seen, stamp = self._see(read_targets=read_targets)
        if self._view and stamp == self._stamp:
            view = self._judged(self._view)
            # What still differs is told again, with all its notices.
            if view.verdict.same:
                return view, None
        known = situation.consider(self.config, self.transport, seen)
        self._view, self._stamp = _view(known), stamp
        self.plans += 1
        return self._judged(self._view), known.plan

    def _see(self, *, read_targets: bool) -> tuple[RawSnapshot, tuple[int, Registered]]:
        """Return what there is, and what is another one whenever that is."""
        changes, objects = self.cache.objects()
        seen = RawSnapshot(objects, *(self._surroundings or ("", Schema())))
        settings = self.config.settings
        if read_targets:
            found = reading.read_targets(seen, settings, self.environment, TIMEOUTS)
            self._held = found.records, found.unanswered
        records, unanswered = self._held
        return replace(seen, records=records, unanswered=unanswered), (changes, self._held)

    def _judged(self, view: Evaluation) -> Evaluation:
        """Return the view with whether it is what is deployed."""
        same = view.verdict.same and view.deployment == self.deployed
        return replace(view, verdict=replace(view.verdict, same=same))


def _view(known: Situation) -> Evaluation:
    # As it comes back from a report.
    deployment: dict[str, object] = json.loads(json.dumps(fingerprint.deployment(known)))
    notes = managed_hosts.stale_annotations(known.snapshot.ingresses, known.plan, known.settings)
    # A run has more patience with a Pi-hole that does not answer, and says when to try again.
    same = not known.changes and not notes and not known.unread
    refusals = guard.refusals_of(known.changes, known.settings)
    refusal = "\n".join([known.changes.digest, *(each.message for each in refusals)])
    return Evaluation(
        Verdict(same, _wish(known, notes, deployment), refusal if refusals else ""),
        _removals(known.changes) if refusals else 0,
        deployment,
    )


def _removals(changes: Changes) -> int:
    return len(changes.removed) + len(changes.moved) + len(changes.records.removed)


def _wish(
    known: Situation, notes: Sequence[HostsAnnotation], deployment: Mapping[str, object]
) -> str:
    """Name everything that a run would set out to do."""
    changes = known.changes
    named: list[object] = [
        deployment,
        [each.key for each in changes.created],
        [[each.live.key, *map(_field, each.fields)] for each in changes.updated],
        [each.key for each in changes.removed],
        [[each.live.key, each.resource.key] for each in changes.moved],
        _records(changes.records),
        [[each.ingress.uid, *each.hosts] for each in notes],
        {name: error.kind.value for name, error in known.unread.items()},
    ]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def _records(changes: RecordChanges) -> list[object]:
    return [
        [[each.host, each.ip] for each in changes.created],
        [[each.record.host, each.record.ip, each.live.ip] for each in changes.updated],
        [[each.host, each.ip] for each in changes.removed],
    ]


def _field(change: FieldChange) -> list[str]:
    return [change.path, repr(change.old), repr(change.new)]
