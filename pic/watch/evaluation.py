"""Plans from what the store holds, and says whether a run would do anything. Starts no run.

The test is the same as that of `pic up`: no live object differs from the plan, and the digest of
the plan is that of the last deployment. If everything was in sync at the last evaluation and
nothing has changed since then, no new plan is made.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pic.cluster import listing, managed_hosts
from pic.cluster.listing import Transport
from pic.cluster.managed_hosts import HostsAnnotation
from pic.core.json_values import Raw
from pic.core.model import LiveRecord, Plan
from pic.core.operator_objects import Schema
from pic.core.published import Published
from pic.core.register import moment
from pic.core.unread import Silent, Unanswered
from pic.planning import guard
from pic.planning.changes import Changes, FieldChange
from pic.planning.record_changes import RecordChanges
from pic.run import fingerprint, reading
from pic.run.planning import Closer
from pic.run.situation import Situation, plan_raw
from pic.run.stack_config import StackConfig
from pic.run.targets.interface import ReadTimeouts
from pic.settings.kinds import NAMESPACE
from pic.snapshot.assemble import RawSnapshot
from pic.watch.schedule import Verdict
from pic.watch.store import Store, UnpackedObjects, pack

# The loop that renews the Lease waits for an evaluation, so these are shorter than those of a run.
TIMEOUTS = ReadTimeouts(lock=1.0, connect=2.0, answer=5.0)


@dataclass(frozen=True, slots=True)
class TargetReading:
    """What the targets hold themselves, or why they could not be read, as in a `RawSnapshot`."""

    records: tuple[LiveRecord, ...] | None = None
    unanswered: Unanswered | None = None
    shadows: Mapping[str, str] = field(default_factory=dict)
    published: Published | None = None
    silent: Silent | None = None

    @classmethod
    def of(cls, raw: RawSnapshot) -> "TargetReading":
        """Return the part of a reading that is of the targets."""
        return cls(raw.records, raw.unanswered, raw.shadows, raw.published, raw.silent)

    def added_to(self, raw: RawSnapshot) -> RawSnapshot:
        """Return the contents of the cluster together with these."""
        return replace(
            raw,
            records=self.records,
            unanswered=self.unanswered,
            shadows=self.shadows,
            published=self.published,
            silent=self.silent,
        )


Version = tuple[int, TargetReading, tuple[bytes, ...] | None]
"""The changes of the store so far, the records, and the namespaces."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The result of an evaluation.

    Attributes:
        removals: How many removals the guard refuses.
        deployment: What the stack outputs would record of a run: digest, means and Events.
    """

    verdict: Verdict
    removals: int
    deployment: Mapping[str, object]


@dataclass
class Evaluator:
    """Evaluates the objects of the store.

    Attributes:
        environment: Holds the credentials of the targets.
        timeouts: How long to wait for the records of a target.
        deployed: What the last run has deployed; None if unknown.
        plan_count: How many plans were made.
    """

    config: StackConfig
    transport: Transport
    store: Store
    environment: Mapping[str, str] = field(default_factory=dict)
    timeouts: ReadTimeouts = TIMEOUTS
    deployed: Raw | None = None
    plan_count: int = 0
    _cluster: tuple[str, Schema] | None = field(default=None, init=False)
    _of_operator: Mapping[str, list[Raw]] = field(default_factory=dict, init=False)
    _evaluation: Evaluation | None = field(default=None, init=False)
    _reading: TargetReading = field(default=TargetReading(), init=False)
    _version: Version | None = field(default=None, init=False)
    _next_change: str = field(default="", init=False)

    def refresh(self) -> None:
        """Read the id of the cluster and the schema of the CRD, which no follower watches.

        Raises:
            ClusterError: They cannot be read.
        """
        settings = self.config.settings
        identity = listing.read_cluster_id(self.transport, settings)
        cluster = identity, listing.read_schema(self.transport, settings)
        # No follower watches them where pic changes Pangolin itself.
        of_operator = listing.read_objects_of_operator(self.transport, settings)
        # Planning depends on all of it, so a change needs a new plan.
        if (cluster, of_operator) != (self._cluster, self._of_operator):
            self._cluster, self._of_operator, self._evaluation = cluster, of_operator, None

    def evaluate(self, *, read_targets: bool = True) -> tuple[Evaluation, Plan | None]:
        """Return what a run would do, and the plan if one had to be made.

        Args:
            read_targets: Whether to read the records of the targets; if not, the last reading
                counts.

        Raises:
            ClusterError: The first evaluation could not read the cluster id or the schema.
        """
        if self._cluster is None:
            self.refresh()
        raw, version = self._read(read_targets=read_targets)
        if self._evaluation and version == self._version and not self._is_due():
            evaluation = self._compare(self._evaluation)
            # While something differs, each evaluation plans again and so reports its notices.
            if evaluation.verdict.in_sync:
                return evaluation, None
        register = listing.read_register(self.transport, self.config.settings)
        now = self.transport.now()
        raw = replace(raw, objects={**raw.objects, **register, **self._of_operator}, now=now)
        closer = Closer(self.environment, self.timeouts)
        situation = plan_raw(self.config, self.transport, raw, closer)
        self._evaluation, self._version = _evaluation(situation), version
        self._next_change = situation.plan.next_change
        self.plan_count += 1
        return self._compare(self._evaluation), situation.plan

    def _read(self, *, read_targets: bool) -> tuple[RawSnapshot, Version]:
        """Return everything that planning reads, and a version that changes with it."""
        change_count, objects = self.store.objects()
        namespaces = self._read_namespaces()
        if namespaces is not None:
            objects = {**objects, NAMESPACE: UnpackedObjects(namespaces)}
        raw = RawSnapshot(objects, *(self._cluster or ("", Schema())))
        if read_targets:
            settings = self.config.settings
            raw = reading.read_targets(raw, settings, self.environment, self.timeouts)
            self._reading = TargetReading.of(raw)
        version = change_count, self._reading, namespaces
        return self._reading.added_to(raw), version

    @property
    def next_change(self) -> float | None:
        """Seconds until time alone changes the last plan; None for never."""
        if not self._next_change:
            return None
        wait = moment(self._next_change) - moment(self.transport.now())
        return max(0.0, wait.total_seconds())

    def _is_due(self) -> bool:
        return self.next_change == 0.0

    def _read_namespaces(self) -> tuple[bytes, ...] | None:
        """Return the namespaces as far as pic may read them, packed.

        No follower watches them: when a namespace begins to go, so does what is in it, and an
        evaluation is due.
        """
        bodies = listing.read_namespaces(self.transport, self.config.settings)
        return None if bodies is None else tuple(sorted(pack(NAMESPACE, it) for it in bodies))

    def _compare(self, evaluation: Evaluation) -> Evaluation:
        """Return an evaluation that is in sync only if the same plan is deployed."""
        in_sync = evaluation.verdict.in_sync and evaluation.deployment == self.deployed
        return replace(evaluation, verdict=replace(evaluation.verdict, in_sync=in_sync))


def _evaluation(situation: Situation) -> Evaluation:
    # The copy through JSON turns tuples into lists, as in the report that it is compared with.
    deployment: dict[str, object] = json.loads(json.dumps(fingerprint.deployment(situation)))
    annotations = managed_hosts.stale_annotations(
        situation.snapshot.ingresses, situation.plan, situation.settings
    )
    # A target that does not answer is a reason for a run, which waits longer and reports the error.
    in_sync = not situation.changes.needs_run and not annotations and not situation.unread_targets
    refusals = guard.refusals_of(situation.changes, situation.settings)
    lines = [situation.changes.digest, *(refusal.message for refusal in refusals)]
    work = _work(situation, annotations, deployment)
    return Evaluation(
        Verdict(in_sync, work, "\n".join(lines) if refusals else ""),
        _removal_count(situation.changes) if refusals else 0,
        deployment,
    )


def _removal_count(changes: Changes) -> int:
    return len(changes.removed) + len(changes.moved) + len(changes.records.removed)


def _work(
    situation: Situation, annotations: Sequence[HostsAnnotation], deployment: Mapping[str, object]
) -> str:
    """Return a digest of everything that a run would set out to do."""
    changes = situation.changes
    parts: list[object] = [
        deployment,
        [resource.key for resource in changes.created],
        [[update.live.key, *map(_field, update.fields)] for update in changes.updated],
        [live.key for live in changes.removed],
        [[move.live.key, move.resource.key] for move in changes.moved],
        # A host that waits for an object to go is due once the object is gone.
        [waiting.resource.key for waiting in changes.waiting],
        _records(changes.records),
        changes.register,
        [[annotation.ingress.uid, *annotation.hosts] for annotation in annotations],
        {name: error.kind.value for name, error in situation.unread_targets.items()},
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _records(changes: RecordChanges) -> list[object]:
    return [
        [[record.host, record.ip] for record in changes.created],
        [[update.record.host, update.record.ip, update.live.ip] for update in changes.updated],
        [[live.host, live.ip] for live in changes.removed],
    ]


def _field(change: FieldChange) -> list[str]:
    return [change.path, repr(change.old), repr(change.new)]
