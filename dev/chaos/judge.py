"""Judges pic from what the witness saw, and from nothing else. No I/O and no code of pic.

The rule by which an Ingress claims a host is written here a second time, so that an error of pic
does not hide itself. It covers only this world: an Ingress of class `pangolin` that is not disabled
claims the hosts of its rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

INGRESS, RESOURCE = "Ingress", "PangolinResource"
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
CLASS, DISABLED = "pangolin", ("pangolin.ingress.k8s.io/enabled", "false")
# A run may delete by what it read at its start, so this is the longest that a run takes.
LONGEST_RUN_SECONDS = 45.0

Place = tuple[str, str]  # namespace and host


class Observation(NamedTuple):
    """One change that the API server reported.

    Attributes:
        revision: The resource version, which orders all changes.
        at: When the witness received it, in seconds of a steady clock.
        born: The revision at which the object was first seen.
    """

    revision: int
    at: float
    kind: str
    change: str
    namespace: str
    name: str
    uid: str
    hosts: tuple[str, ...]
    owners: tuple[str, ...] = ()
    born: int = 0


@dataclass(frozen=True)
class Judgement:
    """The errors, and how much was observed.

    Attributes:
        lost: Hosts that an Ingress claims in the end, and that are not live.
        wrong: Deletions that nothing explains.
        extra: Hosts that are live in the end, and that no Ingress claims.
        deletions: The number of deletions.
        collected: How many of the deletions followed the deletion of an owner.
    """

    lost: tuple[str, ...] = ()
    wrong: tuple[Observation, ...] = ()
    extra: tuple[str, ...] = ()
    deletions: int = 0
    collected: int = 0


@dataclass
class _World:
    """The state at a revision.

    Attributes:
        claims: The uids of the Ingresses that claim a place.
        places: The places that an Ingress claims, by its uid.
        unclaimed: The last revision and time at which no Ingress claimed a place.
        deleted: The uids of deleted Ingresses.
        live: The live resources by uid.
    """

    claims: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    places: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    unclaimed: dict[Place, tuple[int, float]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    live: dict[str, Observation] = field(default_factory=dict)

    def update_ingress(self, event: Observation) -> None:
        places = {(event.namespace, host) for host in event.hosts}
        if event.change == DELETED:
            places = set()
            self.deleted.add(event.uid)
        for place in places - self.places[event.uid]:
            if not self.claims[place]:
                # Until just before this event no Ingress did.
                self.unclaimed[place] = (event.revision - 1, event.at)
            self.claims[place].add(event.uid)
        for place in self.places[event.uid] - places:
            self.claims[place].discard(event.uid)
        self.places[event.uid] = places

    def is_explained(self, deletion: Observation) -> bool:
        """Say whether pic had a reason to delete an object."""
        place = (deletion.namespace, deletion.hosts[0]) if deletion.hosts else None
        if place is None or not self.claims[place]:
            return True
        revision, at = self.unclaimed.get(place, (0, 0.0))
        return revision >= deletion.born and deletion.at - at <= LONGEST_RUN_SECONDS

    def is_collected(self, deletion: Observation) -> bool:
        """Say whether an owner of the object was deleted."""
        return any(owner in self.deleted for owner in deletion.owners)


def judge(history: Iterable[Observation]) -> Judgement:
    """Judge a whole history, at the end of which nothing changes any more."""
    world, wrong, deletions, collected = _World(), [], 0, 0
    for event in sorted(history, key=lambda event: event.revision):
        if event.kind == INGRESS:
            world.update_ingress(event)
        elif event.change != DELETED:
            world.live[event.uid] = event
        else:
            world.live.pop(event.uid, None)
            deletions += 1
            if world.is_collected(event):
                collected += 1
            elif not world.is_explained(event):
                wrong.append(event)
    claimed = {host for (_, host), uids in world.claims.items() if uids}
    live = {host for event in world.live.values() for host in event.hosts}
    return Judgement(
        tuple(sorted(claimed - live)),
        tuple(wrong),
        tuple(sorted(live - claimed)),
        deletions,
        collected,
    )


def observe(
    kind: str, change: str, raw: Mapping[str, object], at: float, born: Mapping[str, int]
) -> Observation:
    """Return the observation for an event of a watch."""
    metadata = _map(raw.get("metadata"))
    uid, revision = str(metadata["uid"]), int(str(metadata["resourceVersion"]))
    hosts = _claimed(raw) if kind == INGRESS else _exposed(raw)
    references = _list(metadata.get("ownerReferences"))
    owners = tuple(str(_map(reference).get("uid")) for reference in references)
    return Observation(
        *(revision, at, kind, change, str(metadata["namespace"]), str(metadata["name"]), uid),
        *(tuple(hosts), owners, born.get(uid, revision)),
    )


def _claimed(raw: Mapping[str, object]) -> Iterator[str]:
    spec, metadata = _map(raw.get("spec")), _map(raw.get("metadata"))
    key, off = DISABLED
    if spec.get("ingressClassName") == CLASS and _map(metadata.get("annotations")).get(key) != off:
        for rule in _list(spec.get("rules")):
            yield str(_map(rule).get("host"))


def _exposed(raw: Mapping[str, object]) -> Iterator[str]:
    http = _map(_map(raw.get("spec")).get("httpConfig"))
    if http:
        yield f"{http.get('subdomain')}.{http.get('domainName')}"


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
