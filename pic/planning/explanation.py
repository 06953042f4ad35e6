"""Explains what became of one host: the whole way from its Ingresses to the guard.

It reads the trail of the plan and decides nothing itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pic.core.held import Held
from pic.core.model import LiveResource, Plan, Resource, Snapshot, TunnelRef
from pic.core.notices import Notice
from pic.core.register import HostEntry
from pic.core.sources import Ending, HostFate, Source, Stop
from pic.planning import annotations, hosts, selection
from pic.planning.backends import BY_SETTING
from pic.planning.base_domains import Basis
from pic.planning.changes import Changes
from pic.planning.claims import Claim
from pic.planning.notice_log import Problem
from pic.planning.selection import Selected
from pic.planning.trail import FullTrail, Key
from pic.planning.tunnels import ResolvedTunnel
from pic.settings.parse import Settings

_DEFAULTS = Settings()
DEFAULT, LIVE = "default", "live object"


@dataclass(frozen=True, slots=True)
class Fact:
    """One value that planning used, and where it came from."""

    name: str
    value: str
    origin: str


@dataclass(frozen=True, slots=True)
class PathFact:
    """One path of a host.

    Attributes:
        backend: Where it leads; empty if it leads nowhere.
        problem: Why it leads nowhere; empty if it does not.
    """

    written: str
    ingress: str
    backend: str = ""
    scheme_origin: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Claimant:
    """An Ingress that has a rule for a host, and what became of that."""

    source: Source
    rule: str
    facts: tuple[Fact, ...]
    fate: HostFate


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that decided about a host.

    Attributes:
        ending: What became of the host; None if no Ingress asks for it.
        stop: The first rule that stopped it; empty if it is exposed.
        claimants: The Ingresses with a rule for it, the one that has it first.
        resource: What the plan has for it; None for nothing.
        live: Our live object; None without one.
        change: What a deployment does to the object.
        entry: What the register remembers of it; None for nothing.
        judged: Whether a guard judged the plan; none judges a plan from files alone.
    """

    host: str
    ending: Ending | None
    stop: Stop
    claimants: tuple[Claimant, ...] = ()
    facts: tuple[Fact, ...] = ()
    paths: tuple[PathFact, ...] = ()
    resource: Resource | None = None
    held: tuple[Held, ...] = ()
    live: LiveResource | None = None
    change: str = ""
    entry: HostEntry | None = None
    notices: tuple[Notice, ...] = ()
    judged: bool = False


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains the hosts of one plan."""

    snapshot: Snapshot
    settings: Settings
    plan: Plan
    changes: Changes
    trail: FullTrail
    register: Mapping[str, HostEntry]
    judged: bool = True

    @property
    def hosts(self) -> frozenset[str]:
        """Every host that the plan, an Ingress, a live object or the register names."""
        named = (host for ingress in self.snapshot.ingresses for host in ingress.hosts)
        return frozenset(
            {
                *map(_normalised, named),
                *(fate.host for source in self.plan.sources for fate in source.hosts if fate.host),
                *(resource.host for resource in self.plan.resources),
                *(live.host for live in self.changes.removed),
                *self.register,
            }
        )

    def source(self, key: Key) -> Source | None:
        """Return what became of an Ingress; None if it was not read."""
        keys = ((it.about.namespace, it.about.name) for it in self.plan.sources)
        return next((it for it, of in zip(self.plan.sources, keys, strict=True) if of == key), None)

    def hosts_of(self, source: Source) -> list[str]:
        """Return the hosts that an Ingress asks for; those of its rules if it is ignored."""
        fated = [fate.host for fate in source.hosts if fate.host]
        key = source.about.namespace, source.about.name
        ingress = next((it for it in self.snapshot.ingresses if it.key == key), None)
        return fated or [_normalised(host) for host in (ingress.hosts if ingress else ())]

    def explain(self, host: str) -> Explanation:
        """Explain a host that `hosts` has."""
        claimants = tuple(sorted(self._claimants(host), key=lambda it: _rank(it.fate)))
        resource = next((it for it in self.plan.resources if it.host == host), None)
        held = tuple(it for it in self.plan.held if it.host == host)
        removed = next((it for it in self.changes.removed if it.host == host), None)
        contest = self.trail.contests.get(host)
        first = claimants[0].fate if claimants else None
        stop = first.stop if first else Stop()
        if removed and not first:
            stop = Stop("", self.plan.departures.get(removed.key, ""))
        return Explanation(
            host,
            first.ending if first else (Ending.HELD if held else None),
            stop,
            claimants,
            tuple(self._facts(host, resource)),
            tuple(self._paths(host)),
            resource,
            held,
            removed or (contest.live if contest else None),
            self._change(host),
            self.register.get(host),
            tuple(it for it in self.plan.notices if host in (it.host, *it.hosts)),
            self.judged,
        )

    def _claimants(self, host: str) -> Iterator[Claimant]:
        rules = {
            ingress.key: [rule for rule in ingress.hosts if _normalised(rule) == host]
            for ingress in self.snapshot.ingresses
        }
        for source in self.plan.sources:
            key = source.about.namespace, source.about.name
            fate = next((it for it in source.hosts if it.host == host), None)
            if fate is None and source.ending is Ending.IGNORED and rules.get(key):
                fate = HostFate(host, Ending.IGNORED, source.stop)
            if fate:
                claim = self._claim(host, key)
                rule = claim.rule_host if claim else next(iter(rules.get(key, ())), host)
                yield Claimant(source, rule, tuple(self._class_facts(key)), fate)

    def _claim(self, host: str, key: Key) -> Claim | None:
        return next((it for it in self.trail.claims.get(key, ()) if it.host == host), None)

    def _class_facts(self, key: Key) -> Iterator[Fact]:
        ingress = next((it for it in self.snapshot.ingresses if it.key == key), None)
        if ingress is None:
            return
        selected = self.trail.selected.get(key)
        name = selected.class_name if selected else selection.class_of(ingress)
        yield Fact("class", name or "none", selection.class_origin(ingress))
        enabled = f"{annotations.PREFIX}enabled"
        if enabled in ingress.annotations:
            yield Fact("enabled", str(ingress.annotations[enabled]), f"annotation {enabled}")

    def _facts(self, host: str, resource: Resource | None) -> Iterator[Fact]:
        contest = self.trail.contests.get(host)
        if contest is None:
            return
        head = contest.claims[0]
        selected = self.trail.selected.get(head.ingress.key)
        if selected is None or head.basis is None:
            return
        yield self._tunnel(head, selected)
        yield Fact("domain", head.domain, _basis(head.basis))
        moved = f"annotation {annotations.PREFIX}subdomain"
        yield Fact(
            "subdomain",
            head.subdomain or "none",
            moved if head.options.subdomain else f"host {head.rule_host}",
        )
        yield from self._access(contest.claims, resource)
        regex = f"{annotations.PREFIX}path-regex"
        given = regex in head.ingress.annotations
        origin = f"annotation {regex}" if given else DEFAULT
        yield Fact("path-regex", _word(head.options.path_regex), origin)

    def _tunnel(self, head: Claim, selected: Selected) -> Fact:
        is_default = (
            selected.tunnel_origin == "pic:defaultTunnel"
            and self.settings.default_tunnel == _DEFAULTS.default_tunnel
        )
        origin = DEFAULT if is_default else selected.tunnel_origin
        if not isinstance(head.tunnel, ResolvedTunnel):
            return Fact("tunnel", f"{selected.tunnel} (cannot be used)", origin)
        state = f" (status: {head.tunnel.waiting})" if head.tunnel.waiting else ""
        return Fact("tunnel", f"{_ref(head.tunnel.ref, head.ingress.namespace)}{state}", origin)

    def _access(self, claims: Sequence[Claim], resource: Resource | None) -> Iterator[Fact]:
        http = resource.spec.http if resource else None
        logins = [claim for claim in claims if claim.options.sso]
        blocks = [claim for claim in claims if claim.options.block_access]
        for name, asked, is_on in (
            ("sso", logins, http and http.sso),
            ("block-access", blocks, http and http.block_access),
        ):
            key = f"{annotations.PREFIX}{name}"
            given = [it.ingress for it in asked or claims if key in it.ingress.annotations]
            origin = DEFAULT
            if given:
                origin = f"annotation {key} of {'/'.join(given[0].key)}"
            elif asked:
                origin = f"another spelling of {key} at {'/'.join(asked[0].ingress.key)}"
            elif is_on:
                origin = LIVE
            yield Fact(name, _word(bool(is_on or asked)), origin)

    def _paths(self, host: str) -> Iterator[PathFact]:
        routing = self.trail.routes.get(host)
        if routing is None:
            return
        for route in routing.routes:
            target, origin = route.target, route.scheme_origin
            if origin == BY_SETTING and self.settings.backend_scheme == _DEFAULTS.backend_scheme:
                origin = DEFAULT
            backend = f"{target.method}://{target.ip}:{target.port}"
            yield PathFact(route.written, "/".join(route.ingress.key), backend, origin)
        for ingress, problem in routing.broken:
            yield _broken("/".join(ingress.key), problem)

    def _change(self, host: str) -> str:
        """Say what a deployment does to the object of a host."""
        changes = self.changes
        if any(it.host == host for it in changes.created):
            return "a deployment creates it"
        if any(it.host == host for it in changes.removed):
            return "a deployment removes it"
        if any(it.resource.host == host for it in changes.moved):
            return "a deployment moves it"
        for update in changes.updated:
            if update.resource.host == host:
                fields = ", ".join(field.path for field in update.fields)
                return f"a deployment changes {fields}"
        return ""


def _broken(ingress: str, problem: Problem) -> PathFact:
    return PathFact("", ingress, problem=problem.message)


def _rank(fate: HostFate) -> int:
    order = (Ending.EXPOSED, Ending.HELD, Ending.REFUSED, Ending.IGNORED)
    return order.index(fate.ending)


def _basis(basis: Basis) -> str:
    is_annotation = basis is Basis.ANNOTATION
    return f"annotation {annotations.PREFIX}domain-name" if is_annotation else basis.value


def _ref(ref: TunnelRef, namespace: str) -> str:
    return f"{ref.namespace or namespace}/{ref.name}"


def _word(flag: bool | None) -> str:  # noqa: FBT001 - it turns a flag into a word
    return "true" if flag else "false"


def _normalised(host: str) -> str:
    try:
        return hosts.normalise(host)
    except hosts.UnusableHostError:
        return host[:253]
