"""Judges pic from what the witness saw, and from nothing else. No I/O and no code of pic.

The rules by which an Ingress claims a host are written here a second time, so that an error of pic
does not hide itself. They cover only this world: an Ingress of class `pangolin` that is not
disabled claims the hosts of its rules. A host belongs to the first namespace that claimed it, and
for ever: no Ingress of this world gives a host to another namespace. The namespace of the attacker
owns none of these hosts, whatever its objects say.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

INGRESS, RESOURCE = "Ingress", "PangolinResource"
ADDED, MODIFIED, DELETED = "ADDED", "MODIFIED", "DELETED"
CLASS, PREFIX = "pangolin", "pangolin.ingress.k8s.io/"
ENABLED, LOGIN, BLOCK = f"{PREFIX}enabled", f"{PREFIX}sso", f"{PREFIX}block-access"
REGISTER = "pihole.io/register"
# The namespace of the attacker, and the tunnel of everyone else.
HOSTILE, TUNNEL = "chaos-evil", "chaos-a/default"
# The attacker writes with his own field manager. Where he poses as pic, he marks the object.
PIC, FORGED = "pic", "chaos.example/forged"
# A run may delete by what it read at its start, so this is the longest that a run takes.
LONGEST_RUN_SECONDS = 45.0

Place = tuple[str, str]  # namespace and host
UNPROTECTED: frozenset[str] = frozenset()


class Observation(NamedTuple):
    """One change that the API server reported.

    Attributes:
        revision: The resource version, which orders all changes.
        at: When the witness received it, in seconds of a steady clock.
        born: The revision at which the object was first seen.
        protections: `login` and `block`, as an Ingress asks for them or an object has them.
        leads_to: The tunnel of an object, and the addresses of its targets.
        records: The hosts that an Ingress registers in Pi-hole.
        by_pic: Whether pic decided the host of an object.
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
    protections: frozenset[str] = UNPROTECTED
    leads_to: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    by_pic: bool = True


@dataclass(frozen=True)
class Judgement:
    """The errors, and how much was observed.

    Attributes:
        lost: Hosts that an Ingress claims in the end, and that are not live.
        wrong: Deletions that nothing explains.
        exposed: Objects of pic that expose the host of another namespace, or lead a host elsewhere.
        weakened: Objects without a login or a block that their host had before, and the hosts that
            lack in the end what their Ingress asks for.
        extra: Hosts that are live in the end, and that no Ingress claims.
        deletions: The number of deletions.
        collected: How many of the deletions followed the deletion of an owner.
    """

    lost: tuple[str, ...] = ()
    wrong: tuple[Observation, ...] = ()
    exposed: tuple[Observation, ...] = ()
    weakened: tuple[Observation, ...] = ()
    extra: tuple[str, ...] = ()
    deletions: int = 0
    collected: int = 0


@dataclass
class _World:
    """The state at a revision, without the Ingresses of the attacker.

    Attributes:
        claims: The uids of the Ingresses that claim a place.
        places: The places that an Ingress claims, by its uid.
        unclaimed: The last revision and time at which no Ingress claimed a place.
        deleted: The uids of deleted Ingresses.
        live: The live resources by uid.
        homes: The namespace that each host belongs to: the first in which pic exposed it.
        had: The protections that each host has had.
        asked: What each Ingress asks for, by uid.
    """

    claims: dict[Place, set[str]] = field(default_factory=lambda: defaultdict(set))
    places: dict[str, set[Place]] = field(default_factory=lambda: defaultdict(set))
    unclaimed: dict[Place, tuple[int, float]] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    live: dict[str, Observation] = field(default_factory=dict)
    homes: dict[str, str] = field(default_factory=dict)
    had: dict[str, frozenset[str]] = field(default_factory=dict)
    asked: dict[str, frozenset[str]] = field(default_factory=dict)

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
        self.asked[event.uid] = event.protections

    def settle_in(self, event: Observation) -> None:
        """Remember where pic first exposed a host. Until then the oldest Ingress gets it."""
        if event.hosts and event.by_pic:
            self.homes.setdefault(event.hosts[0], event.namespace)

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

    def is_misplaced(self, event: Observation) -> bool:
        """Say whether pic exposes the host of another namespace, or leads a host elsewhere."""
        home = self.homes.get(event.hosts[0]) if event.hosts else None
        if home is None or not event.by_pic:
            return False
        return event.namespace != home or any(
            end != TUNNEL and f".{home}." not in end for end in event.leads_to
        )

    def is_weakened(self, event: Observation) -> bool:
        """Say whether a host lacks a protection that it has had, and remember what it has now."""
        if not event.hosts or not event.by_pic:
            return False
        before = self.had.get(event.hosts[0], UNPROTECTED)
        self.had[event.hosts[0]] = before | event.protections
        return not before <= event.protections

    def unprotected(self) -> Iterator[Observation]:
        """Yield the live objects that lack what an Ingress asks for."""
        for event in self.live.values():
            uids = {uid for host in event.hosts for uid in self.claims[event.namespace, host]}
            asked = UNPROTECTED.union(*(self.asked[uid] for uid in uids))
            if not asked <= event.protections:
                yield event


def judge(history: Iterable[Observation], hostile: str = HOSTILE) -> Judgement:
    """Judge a whole history, at the end of which nothing changes any more.

    Args:
        history: What the witness saw.
        hostile: The namespace of the attacker.
    """
    world, judgement = _World(), Judgement()
    for event in sorted(history, key=lambda event: event.revision):
        if event.kind == RESOURCE:
            judgement = _judged(judgement, world, event, hostile)
        elif event.namespace != hostile:
            world.update_ingress(event)
    claimed = {host for (_, host), uids in world.claims.items() if uids}
    live = {host for event in world.live.values() for host in event.hosts}
    return replace(
        judgement,
        lost=tuple(sorted(claimed - live)),
        extra=tuple(sorted(live - claimed)),
        weakened=(*judgement.weakened, *world.unprotected()),
    )


def _judged(judgement: Judgement, world: _World, event: Observation, hostile: str) -> Judgement:
    """Return the judgement with an event of a resource."""
    if event.change == DELETED:
        if event.namespace == hostile:
            return judgement
        world.live.pop(event.uid, None)
        return _judged_deletion(judgement, world, event)
    if event.namespace != hostile:
        world.live[event.uid] = event
        world.settle_in(event)
    if world.is_misplaced(event):
        judgement = replace(judgement, exposed=(*judgement.exposed, event))
    # What the attacker asks for protects no host of another namespace.
    if event.namespace != hostile and world.is_weakened(event):
        judgement = replace(judgement, weakened=(*judgement.weakened, event))
    return judgement


def _judged_deletion(judgement: Judgement, world: _World, event: Observation) -> Judgement:
    collected = world.is_collected(event)
    wrong = () if collected or world.is_explained(event) else (event,)
    return replace(
        judgement,
        wrong=(*judgement.wrong, *wrong),
        deletions=judgement.deletions + 1,
        collected=judgement.collected + collected,
    )


def observe(
    kind: str, change: str, raw: Mapping[str, object], at: float, born: Mapping[str, int]
) -> Observation:
    """Return the observation for an event of a watch."""
    metadata = _map(raw.get("metadata"))
    uid, revision = str(metadata["uid"]), int(str(metadata["resourceVersion"]))
    references = _list(metadata.get("ownerReferences"))
    owners = tuple(str(_map(reference).get("uid")) for reference in references)
    event = Observation(
        *(revision, at, kind, change, str(metadata["namespace"]), str(metadata["name"]), uid),
        *((), owners, born.get(uid, revision)),
    )
    return _with_ingress(event, raw) if kind == INGRESS else _with_resource(event, raw)


def _with_ingress(event: Observation, raw: Mapping[str, object]) -> Observation:
    spec, metadata = _map(raw.get("spec")), _map(raw.get("metadata"))
    annotations = _map(metadata.get("annotations"))
    hosts = tuple(str(_map(rule).get("host")) for rule in _list(spec.get("rules")))
    claims = spec.get("ingressClassName") == CLASS and annotations.get(ENABLED) != "false"
    return event._replace(
        hosts=hosts if claims else (),
        protections=_protections(annotations.get(LOGIN), annotations.get(BLOCK), "true"),
        records=hosts if annotations.get(REGISTER) == "true" else (),
    )


def _with_resource(event: Observation, raw: Mapping[str, object]) -> Observation:
    spec, metadata = _map(raw.get("spec")), _map(raw.get("metadata"))
    http, tunnel = _map(spec.get("httpConfig")), _map(spec.get("tunnelRef"))
    targets = tuple(str(_map(target).get("ip")) for target in _list(spec.get("targets")))
    if tunnel:
        targets += (f"{tunnel.get('namespace') or event.namespace}/{tunnel.get('name')}",)
    return event._replace(
        hosts=(f"{http.get('subdomain')}.{http.get('domainName')}",) if http else (),
        protections=_protections(http.get("sso"), http.get("blockAccess"), value=True),
        leads_to=targets,
        by_pic=FORGED not in _map(metadata.get("annotations"))
        and PIC in _managers_of_host(metadata),
    )


def _protections(login: object, block: object, value: object) -> frozenset[str]:
    named = (("login", login), ("block", block))
    return frozenset(name for name, protection in named if protection == value)


def _managers_of_host(metadata: Mapping[str, object]) -> Iterator[str]:
    """Yield the field managers that own the subdomain of an object."""
    for entry in map(_map, _list(metadata.get("managedFields"))):
        http = _map(_map(_map(entry.get("fieldsV1")).get("f:spec")).get("f:httpConfig"))
        if "f:subdomain" in http:
            yield str(entry.get("manager"))


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
