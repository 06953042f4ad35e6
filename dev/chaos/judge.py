"""The verdict, from what the witness saw and nothing else. No I/O, and nothing of pic.

What an Ingress asks for is told here anew, in the few words that this world needs: one of class
`pangolin` that is not disabled claims the hosts of its rules.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

INGRESS, RESOURCE = "Ingress", "PangolinResource"
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
CLASS, DISABLED = "pangolin", ("pangolin.ingress.k8s.io/enabled", "false")
# How old the reading may be by which a run deletes: that is how long a run takes at most.
LONGEST_RUN_SECONDS = 45.0

Place = tuple[str, str]  # namespace and host


class Seen(NamedTuple):
    """One change that the API server told.

    Attributes:
        revision: The order of all changes.
        at: When it was heard of, in seconds of a clock that only grows.
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
class Verdict:
    """What is found wrong, and how much was seen.

    Attributes:
        lost: Hosts that are asked for in the end, and are not there.
        wrong: Deletions that nothing explains.
        extra: Hosts that nothing asks for, and are there.
        deletions: How many deletions there were.
        collected: How many of them took an owner's end as their reason.
    """

    lost: tuple[str, ...] = ()
    wrong: tuple[Seen, ...] = ()
    extra: tuple[str, ...] = ()
    deletions: int = 0
    collected: int = 0


@dataclass
class _World:
    """What is so at a revision.

    Attributes:
        claims: The Ingresses that claim a place, by uid.
        unclaimed: The last revision and time at which nothing claimed a place.
    """

    claims: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    held: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    unclaimed: dict[Place, tuple[int, float]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    live: dict[str, Seen] = field(default_factory=dict)

    def ingress(self, seen: Seen) -> None:
        wanted = {(seen.namespace, host) for host in seen.hosts}
        if seen.change == DELETED:
            wanted = set()
            self.gone.add(seen.uid)
        for place in wanted - self.held[seen.uid]:
            if not self.claims[place]:
                # Until just before this nothing did.
                self.unclaimed[place] = (seen.revision - 1, seen.at)
            self.claims[place].add(seen.uid)
        for place in self.held[seen.uid] - wanted:
            self.claims[place].discard(seen.uid)
        self.held[seen.uid] = wanted

    def is_explained(self, seen: Seen) -> bool:
        """Say whether an object of one host may be deleted."""
        place = (seen.namespace, seen.hosts[0]) if seen.hosts else None
        if place is None or not self.claims[place]:
            return True
        revision, at = self.unclaimed.get(place, (0, 0.0))
        return revision >= seen.born and seen.at - at <= LONGEST_RUN_SECONDS

    def is_collected(self, seen: Seen) -> bool:
        """Say whether an owner that it still named is gone."""
        return any(owner in self.gone for owner in seen.owners)


def judge(history: Iterable[Seen]) -> Verdict:
    """Judge a whole history, which ends after everything has come to rest."""
    world, wrong, deletions, collected = _World(), [], 0, 0
    for seen in sorted(history, key=lambda each: each.revision):
        if seen.kind == INGRESS:
            world.ingress(seen)
        elif seen.change != DELETED:
            world.live[seen.uid] = seen
        else:
            world.live.pop(seen.uid, None)
            deletions += 1
            if world.is_collected(seen):
                collected += 1
            elif not world.is_explained(seen):
                wrong.append(seen)
    asked = {host for (_, host), by in world.claims.items() if by}
    there = {host for seen in world.live.values() for host in seen.hosts}
    return Verdict(
        tuple(sorted(asked - there)),
        tuple(wrong),
        tuple(sorted(there - asked)),
        deletions,
        collected,
    )


def seen_of(
    kind: str, change: str, raw: Mapping[str, object], at: float, born: Mapping[str, int]
) -> Seen:
    """Return what an event of a watch tells."""
    metadata = _map(raw.get("metadata"))
    uid, revision = str(metadata["uid"]), int(str(metadata["resourceVersion"]))
    hosts = _claimed(raw) if kind == INGRESS else _exposed(raw)
    owners = tuple(str(_map(each).get("uid")) for each in _list(metadata.get("ownerReferences")))
    return Seen(
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
