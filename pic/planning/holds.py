"""Holds the changes of hosts that need an acknowledgement, and lets all others through.

A verdict is about one host. What it does not let through is planned as it is: the live object is
declared again, or the host keeps its login. A host that is gone stays gone. A host that its own
namespace gives up goes as if no other one claimed it: a claim that waits changes nothing. So one
held host stops no other, and a run that holds something still does the rest (docs/promises.md).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from pic.core import names
from pic.core.held import Held, Verdict, digest_of
from pic.core.ingress import Ingress
from pic.core.model import LiveResource, Resource, Target
from pic.core.register import GoneBy, HostEntry
from pic.planning import annotations, departures, removals
from pic.planning.annotations import Switch
from pic.planning.inventory import Inventory
from pic.planning.live_form import live_form
from pic.planning.registering import entry_of_live, tunnel_of
from pic.planning.removals import Removal
from pic.planning.request import PlanRequest
from pic.planning.trail import Key, Trail

LOGIN, BLOCK = "login", "access block"
_ANNOTATIONS = {LOGIN: departures.SSO, BLOCK: departures.BLOCK}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change of a host that needs an acknowledgement.

    Attributes:
        entry: What pic remembers of the host.
        live: Our live object, which is declared again while the change is held; None without one.
        about: What the plan would declare; None if it would remove the host.
    """

    held: Held
    entry: HostEntry
    live: LiveResource | None
    about: Resource | None

    @property
    def leaves_namespace(self) -> bool:
        """Whether the host would move to another namespace."""
        return self.held.verdict is Verdict.MOVED and (
            self.about is not None and self.about.namespace != self.held.namespace
        )


class HostGuard:
    """Judges the changes of hosts.

    Args:
        request: What the plan is made for.
        inventory: The live objects.
        planned: The planned resources by host.
        permitted: The hosts whose move is acknowledged.
        trail: Why planning decided as it did.
    """

    def __init__(
        self,
        request: PlanRequest,
        inventory: Inventory,
        planned: Mapping[str, Resource],
        permitted: Collection[str] = (),
        trail: Trail | None = None,
    ) -> None:
        self._trail = trail or Trail()
        self._settings, self._snapshot = request.settings, request.snapshot
        self._memory, self._limits = request.memory, request.memory.limits
        self._inventory = inventory
        self._planned = planned
        self._ingresses = {
            names.label_value(ingress.uid): ingress for ingress in request.snapshot.ingresses
        }
        self._waiting_moves = _beyond(self._moves(), self._limits.moves)
        moving = {it.held.host for it in self._waiting_moves if it.leaves_namespace}
        given_up = moving - set(permitted)
        self._staying = {host: it for host, it in planned.items() if host not in given_up}

    def candidates(self) -> list[Candidate]:
        """Return every change that a limit does not let through."""
        moves = self._waiting_moves
        waiting = {candidate.held.host for candidate in moves}
        # A move to another namespace names the protection of both places, so its acknowledgement
        # includes that. A move to another tunnel does not.
        judged = {candidate.held.host for candidate in moves if candidate.leaves_namespace}
        entries = [entry for entry in self._memory.register.hosts.values() if not entry.gone]
        protected = sum(entry.sso or entry.block_access for entry in entries)
        count = max(len(entries), len(self._inventory.ours))
        return [
            *moves,
            *_beyond(self._weakened(judged), self._limits.weakened(protected)),
            *_beyond(self._retargeted(waiting), self._limits.retargeted(count)),
            *(() if self.nothing_survives else self._removals()),
        ]

    @cached_property
    def _by_key(self) -> Mapping[Key, Ingress]:
        return {ingress.key: ingress for ingress in self._snapshot.ingresses}

    @property
    def nothing_survives(self) -> bool:
        """Whether pic would remove every live host, and no Ingress of theirs stays exposed."""
        removed = [live for live in self._gone() if not self._is_free(live)]
        exposed = {
            names.label_value(owner.uid) for it in self._staying.values() for owner in it.owners
        }
        return bool(removed) and not any(
            live.host in self._staying or exposed & _owner_uids(live)
            for live in self._inventory.ours
        )

    @property
    def removal_reasons(self) -> dict[str, GoneBy]:
        """Why hosts are gone whose removal no limit counts."""
        reasons = {
            host: GoneBy.KUBERNETES
            for host in self._memory.register.hosts
            if not any(not self._is_collected(live) for live in self._inventory.ours_for(host))
        }
        free = {live.host: GoneBy.OWNER for live in self._gone() if self._is_free(live)}
        return {**reasons, **free}

    def _moves(self) -> Iterator[Candidate]:
        for resource in self._planned.values():
            entry, live = self._entry(resource)
            if entry is None:
                continue
            if entry.namespace != resource.namespace:
                if self._settings.host_policy is None:
                    places = (_place(entry.namespace, entry), _place(resource.namespace, resource))
                    reason = f"Ingress {_source(resource)} of another namespace claims it"
                    yield self._candidate(Verdict.MOVED, entry, places, reason, (None, resource))
            elif not resource.held and _leaves_tunnel(entry.tunnel, tunnel_of(resource)):
                tunnels = (entry.tunnel, tunnel_of(resource))
                reason = "its new tunnel is in another namespace"
                yield self._candidate(Verdict.MOVED, entry, tunnels, reason, (live, resource))

    def _weakened(self, judged: Collection[str]) -> Iterator[Candidate]:
        for _, resource in self._without(judged):
            entry, live = self._entry(resource)
            objects = self._objects(resource)
            entry = entry or next(map(entry_of_live, objects), None)
            lost = entry and _lost_protection(entry, objects, resource)
            if entry and lost:
                names_ = [_ANNOTATIONS[it] for it in (LOGIN, BLOCK) if it in lost]
                why = departures.unasked(resource, self._by_key, names_)
                reason = (
                    f"no Ingress asks for its {lost} any more{f': {why.text}' if why.text else ''}"
                )
                change = (lost, _protection(resource))
                yield self._candidate(Verdict.WEAKENED, entry, change, reason, (live, resource))

    def _retargeted(self, judged: Collection[str]) -> Iterator[Candidate]:
        for _, resource in self._without(judged):
            entry, live = self._entry(resource)
            if entry and live and not resource.held and _leads_elsewhere(live, resource):
                change = (_addresses(live.spec.targets), _addresses(resource.spec.targets))
                reason = "too many hosts would lead elsewhere in one run (pic:maxRetargeted)"
                objects = (live, resource)
                yield self._candidate(Verdict.RETARGETED, entry, change, reason, objects)

    def _without(self, judged: Collection[str]) -> Iterator[tuple[str, Resource]]:
        return ((host, it) for host, it in self._planned.items() if host not in judged)

    def _removals(self) -> Iterator[Candidate]:
        counted = {}
        for live in self._gone():
            if self._is_outside(live):
                reason = f"pic:namespaces does not list {live.namespace}"
                yield self._removal(Verdict.OUTSIDE, live, reason)
            elif not self._is_free(live):
                counted[live.host] = live
        going = [Removal(live.host, live.namespace) for live in counted.values()]
        entries = self._memory.register.hosts.values()
        for removal in removals.beyond_limits(going, entries, self._memory, self._live_count()):
            live = counted[removal.name]
            reason = "pic has removed as many hosts as it may (pic:maxRemovals, pic:removalWindow)"
            why = self._trail.departures.get(live.key)
            yield self._removal(
                Verdict.REMOVED, live, f"{why.text}, but {reason}" if why else reason
            )

    def _removal(self, verdict: Verdict, live: LiveResource, reason: str) -> Candidate:
        entry = self._memory.entry(live.host) or entry_of_live(live)
        change = (_place(live.namespace, entry), "")
        return self._candidate(verdict, entry, change, reason, (live, None))

    def _candidate(
        self,
        verdict: Verdict,
        entry: HostEntry,
        change: tuple[str, str],
        reason: str,
        objects: tuple[LiveResource | None, Resource | None],
    ) -> Candidate:
        digest = digest_of(
            self._snapshot.cluster_id,
            self._memory.ownership.stack,
            entry.host,
            verdict,
            *change,
            entry.serial,
            entry.since,
        )
        held = Held(entry.host, verdict, entry.namespace, *change, reason, digest)
        return Candidate(held, entry, *objects)

    def _entry(self, resource: Resource) -> tuple[HostEntry | None, LiveResource | None]:
        """Return what pic remembers of a planned host, and our live object for it."""
        entry = self._memory.entry(resource.host)
        preferred = (entry.key if entry else None, resource.key)
        # Of several objects, the remembered one counts, else the one that stays.
        ours = sorted(
            self._inventory.ours_for(resource.host),
            key=lambda live: preferred.index(live.key) if live.key in preferred else 2,
        )
        live = next(iter(ours), None)
        if live and (entry is None or entry.namespace != live.namespace):
            entry = entry_of_live(live)
        return entry, live

    def _objects(self, resource: Resource) -> list[LiveResource]:
        """Return the live objects whose protection the host must not lose."""
        return [
            *self._inventory.ours_for(resource.host),
            # A host that loses its object for a moment must not lose its login with it.
            *self._inventory.going_for(resource.host),
            *self._inventory.taken_over(resource.host, resource.key),
        ]

    def _gone(self) -> Iterator[LiveResource]:
        """Yield our live objects that pic would delete: Kubernetes deletes the others itself."""
        for live in self._inventory.ours:
            if live.host and live.host not in self._staying and not self._is_collected(live):
                yield live

    def _is_collected(self, live: LiveResource) -> bool:
        """Say whether Kubernetes deletes an object, since every Ingress that owns it is gone."""
        if not live.owners or self._is_outside(live):
            return False
        unreadable = {names.label_value(it.uid) for it in self._snapshot.unreadable}
        return not _owner_uids(live) & (self._ingresses.keys() | unreadable)

    def _is_outside(self, live: LiveResource) -> bool:
        namespaces = self._settings.namespaces
        return bool(namespaces) and live.namespace not in namespaces

    def _is_free(self, live: LiveResource) -> bool:
        """Say whether the owner of a host wants its removal."""
        owners = [self._ingresses[uid] for uid in _owner_uids(live) & self._ingresses.keys()]
        switches = [annotations.read(ingress.annotations).enabled for ingress in owners]
        disabled = bool(owners) and all(switch is Switch.OFF for switch in switches)
        return disabled or self._limits.is_ephemeral(live.namespace)

    def _live_count(self) -> Mapping[str, int]:
        """Return how many hosts each namespace has, for namespaces without a register."""
        counts: dict[str, int] = {}
        for live in self._inventory.ours:
            counts[live.namespace] = counts.get(live.namespace, 0) + 1
        return counts


def apply(planned: Mapping[str, Resource], waiting: Sequence[Candidate]) -> dict[str, Resource]:
    """Return the planned resources by host, with what waits as it is."""
    resources = dict(planned)
    for candidate in sorted(waiting, key=_order):
        host, verdict = candidate.held.host, candidate.held.verdict
        if verdict is Verdict.WEAKENED:
            if host in resources:
                resources[host] = _protected(resources[host], candidate.held.old)
        elif candidate.live:
            # Someone may have edited the live object, so what pic remembers counts as well.
            lost = _lost_protection(candidate.entry, (), live_form(candidate.live))
            resources[host] = _protected(live_form(candidate.live), lost)
        else:
            # It is gone, so it is not exposed again.
            resources.pop(host, None)
    return resources


def _order(candidate: Candidate) -> int:
    """Return the place of a candidate, since a host may have several.

    A host that moves away may have to stay, as a removal. Its login is a part of what is declared.
    """
    if candidate.held.verdict is Verdict.WEAKENED:
        return 2
    return 0 if candidate.leaves_namespace else 1


def _beyond(candidates: Iterator[Candidate], limit: float) -> list[Candidate]:
    """Return all candidates if they are more than the limit, or else none."""
    listed = list(candidates)
    return listed if len(listed) > limit else []


def _protected(resource: Resource, protection: str) -> Resource:
    if not protection:
        return resource
    http = resource.spec.http
    http = replace(
        http,
        sso=bool(http.sso) or LOGIN in protection,
        block_access=bool(http.block_access) or BLOCK in protection,
    )
    return replace(resource, spec=replace(resource.spec, http=http))


def _lost_protection(entry: HostEntry, objects: Sequence[LiveResource], resource: Resource) -> str:
    """Return what the host loses, as a report shows it; an empty text for nothing."""
    http = resource.spec.http
    login = entry.sso or any(live.spec.http.sso for live in objects)
    block = entry.block_access or any(live.spec.http.block_access for live in objects)
    lost = [
        *([LOGIN] if login and not http.sso else []),
        *([BLOCK] if block and not http.block_access else []),
    ]
    return " and ".join(lost)


def _leads_elsewhere(live: LiveResource, resource: Resource) -> bool:
    """Say whether an address of a live object is gone, or its tunnel has another name."""
    tunnel, planned = live.spec.tunnel, resource.spec.tunnel
    moved = bool(tunnel and planned and tunnel.name != planned.name)
    before = {(target.ip, target.port) for target in live.spec.targets}
    return moved or not before <= {(target.ip, target.port) for target in resource.spec.targets}


def _owner_uids(live: LiveResource) -> set[str]:
    """Return the uids of the owners, as labels have them."""
    if live.owners:
        return {names.label_value(owner.uid) for owner in live.owners}
    # With pic:ownerReferences false, only the label names an owner: the oldest Ingress.
    return {live.labels.get(names.UID_LABEL, "")} - {""}


def _addresses(targets: Collection[Target]) -> str:
    return ", ".join(sorted({f"{target.ip}:{target.port}" for target in targets}))


def _place(namespace: str, protected: HostEntry | Resource) -> str:
    """Return a namespace with the protection of the host there, as a report shows it."""
    return f"{namespace} ({_protection(protected)})"


def _protection(protected: HostEntry | Resource) -> str:
    if isinstance(protected, Resource):
        http = protected.spec.http
        flags = bool(http.sso), bool(http.block_access)
    else:
        flags = protected.sso, protected.block_access
    words = [word for word, flag in zip((LOGIN, BLOCK), flags, strict=True) if flag]
    return " and ".join(words) or "public"


def _source(resource: Resource) -> str:
    owner = resource.owners[0]
    return f"{owner.namespace}/{owner.name}"


def _leaves_tunnel(old: str, new: str) -> bool:
    """Say whether the tunnel would be in another namespace. An unknown tunnel is no other one."""
    return bool(old and new) and old.partition("/")[0] != new.partition("/")[0]
