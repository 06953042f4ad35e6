"""Plans for what the cache knows, and says whether there is anything to do. Starts nothing."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pic import cluster, declared, guard, situation
from pic.assemble import Seen
from pic.changes import Changes, FieldChange
from pic.cluster import Transport
from pic.config import TargetName
from pic.model import Plan, Schema
from pic.objects import Raw
from pic.situation import Situation
from pic.sources import Run
from pic.watch.cache import Cache
from pic.watch.pace import Verdict


@dataclass(frozen=True, slots=True)
class View:
    """What a look has found.

    Attributes:
        removals: How many removals of it the guard refuses.
        deployment: What the engine's outputs would name it with.
    """

    verdict: Verdict
    removals: int
    deployment: Mapping[str, object]


@dataclass
class Looker:
    """Looks at what the cache knows; what is still as it was deployed is not planned for again.

    Attributes:
        deployed: What the last run has deployed; None where that is not known.
        plans: How often it has planned.
    """

    asked: Run
    transport: Transport
    cache: Cache
    deployed: Raw | None = None
    plans: int = 0
    _surroundings: tuple[str, Schema] | None = field(default=None, init=False)
    _view: View | None = field(default=None, init=False)
    _changes: int = field(default=-1, init=False)

    def ask(self) -> None:
        """Read which cluster this is and what its CRD can hold, which no feed follows.

        Raises:
            ClusterError: It cannot be read.
        """
        settings = self.asked.settings
        identity = cluster.cluster_id(self.transport, settings)
        found = identity, cluster.resource_schema(self.transport, settings)
        if found != self._surroundings:
            self._surroundings, self._view = found, None

    def look(self) -> tuple[View, Plan | None]:
        """Return what there is to do, and the plan where one had to be made.

        Raises:
            ClusterError: The surroundings were not known yet, and cannot be read.
        """
        if self._surroundings is None:
            self.ask()
        if self._view and self.cache.changes == self._changes:
            view = self._judged(self._view)
            # What still differs is told again, with all its notices.
            if view.verdict.same:
                return view, None
        known = self._consider()
        self._view = _view(known)
        self.plans += 1
        return self._judged(self._view), known.plan

    def _consider(self) -> Situation:
        self._changes, objects = self.cache.objects()
        identity, schema = self._surroundings or ("", Schema())
        return situation.consider(self.asked, self.transport, Seen(objects, identity, schema))

    def _judged(self, view: View) -> View:
        """Return the view with whether it is what is deployed."""
        # What Pi-hole has is known to a run only.
        blind = TargetName.PIHOLE in self.asked.settings.targets
        same = view.verdict.same and view.deployment == self.deployed and not blind
        return replace(view, verdict=replace(view.verdict, same=same))


def _view(known: Situation) -> View:
    # As it comes back from a report.
    deployment: dict[str, object] = json.loads(json.dumps(declared.deployment(known)))
    refusals = guard.refusals_of(known.changes, known.settings)
    refusal = "\n".join([known.changes.digest, *(each.message for each in refusals)])
    return View(
        Verdict(not known.changes, _wish(known.changes, deployment), refusal if refusals else ""),
        len(known.changes.removed) + len(known.changes.moved) if refusals else 0,
        deployment,
    )


def _wish(changes: Changes, deployment: Mapping[str, object]) -> str:
    """Name everything that a run would set out to do."""
    named = [
        deployment,
        [each.key for each in changes.created],
        [[each.live.key, *map(_field, each.fields)] for each in changes.updated],
        [each.key for each in changes.removed],
        [[each.live.key, each.resource.key] for each in changes.moved],
    ]
    return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()


def _field(change: FieldChange) -> list[str]:
    return [change.path, repr(change.old), repr(change.new)]
