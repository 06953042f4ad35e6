"""Finds the public hosts that each Ingress claims, and decides who gets a contested host.

A public host is the host of a rule after the annotations `domain-name` and `subdomain` have moved
it. Several Ingresses of one namespace may share it. Of several namespaces only one gets it: the one
that has it by the register and the live objects, else the one with the oldest Ingress (ADR 6). So
neither the order of a listing nor a newcomer can take a host away from its owner.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pic.core import names
from pic.core.ingress import Ingress, IngressPath, Rule
from pic.core.model import LiveResource, TunnelRef
from pic.core.notices import Reason
from pic.core.unread import Unreadable
from pic.planning import annotations, base_domains, host_policy, hosts
from pic.planning.annotations import IngressOptions
from pic.planning.base_domains import Basis, Split
from pic.planning.inventory import Inventory
from pic.planning.memory import Memory
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.paths import shown as shown_path
from pic.planning.selection import Selected, is_solver_path
from pic.planning.sites import Sites
from pic.planning.tunnels import ResolvedTunnel, Tunnels, declared_tunnel
from pic.settings.parse import Settings


@dataclass(frozen=True, slots=True)
class Claim:
    """One Ingress that asks for one public host.

    Attributes:
        domain: The base domain of the public host.
        subdomain: What precedes the base domain; None at the apex.
        unverified: The tunnel's organisation has no verified domain that covers the host.
        blocked: Why pic cannot tell what this Ingress wants for the host; None if it can.
        rule_host: The host of the rule, before annotations move it.
        basis: What decided the base domain; None for a blocked claim.
    """

    host: str
    ingress: Ingress
    options: IngressOptions = annotations.NO_OPTIONS
    domain: str = ""
    subdomain: str | None = None
    unverified: bool = False
    tunnel: ResolvedTunnel | Problem | None = None
    paths: tuple[IngressPath, ...] = ()
    blocked: Problem | None = None
    rule_host: str = ""
    basis: Basis | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """A public host with the claims of the namespace that gets it, the oldest first.

    Attributes:
        live: Our object for this host in that namespace; None if the host is new there.
    """

    host: str
    claims: tuple[Claim, ...]
    live: LiveResource | None


class Claims:
    """Finds the claims of Ingresses."""

    def __init__(
        self,
        tunnels: Tunnels | Sites,
        inventory: Inventory,
        settings: Settings,
        notices: NoticeLog,
    ) -> None:
        self._tunnels = tunnels
        self._inventory = inventory
        self._settings = settings
        self._notices, self._trail = notices, notices.trail

    def of(self, selected: Selected) -> Iterator[Claim]:
        """Yield the claims of an Ingress that `pic:hostPolicy` allows."""
        return filter(self._keeps, self._of(selected))

    def of_unreadable(self, unreadable: Unreadable) -> Iterator[Claim]:
        """Yield claims on the live hosts of an Ingress that cannot be read."""
        if unreadable.kind != "Ingress":
            return iter(())
        ingress = Ingress(unreadable.namespace, unreadable.name, unreadable.uid, unreadable.created)
        problem = Problem(Reason.INVALID_OBJECT, unreadable.problem)
        return filter(self._keeps, self._held(ingress, IngressOptions(), problem))

    def _keeps(self, claim: Claim) -> bool:
        """Record a claim, and say whether it is allowed."""
        self._trail.claim(claim)
        return self._allowed(claim)

    def _of(self, selected: Selected) -> Iterator[Claim]:
        by_host = self._paths_by_host(selected.ingress)
        problem = self._hosts_problem(selected, len(by_host))
        if problem is None:
            for host, paths in by_host.items():
                yield from self._claim(selected, host, tuple(paths))
            return
        # Without live hosts there is nothing that could stay as it is.
        if not self._inventory.owned_by(selected.ingress.key):
            for host in by_host:
                self._trail.refuse(selected.ingress, host, problem)
        yield from self._held(selected.ingress, selected.options, problem)

    def _hosts_problem(self, selected: Selected, count: int) -> Problem | None:
        """Return why the public hosts of an Ingress are unknown; None if they are known."""
        options = selected.options
        # One subdomain for several hosts would give all of them the same public host.
        if options.subdomain and count > 1:
            problem = _needs_one_host(count)
            self._notices.add(selected.ingress, problem)
            return problem
        return options.unusable if options.hosts_unknown else None

    def _held(self, ingress: Ingress, options: IngressOptions, blocked: Problem) -> Iterator[Claim]:
        """Yield a blocked claim on each live host of an Ingress, so that it stays as it is."""
        for live in self._inventory.owned_by(ingress.key):
            yield Claim(live.host, ingress, options, blocked=blocked)

    def _paths_by_host(self, ingress: Ingress) -> dict[str, list[IngressPath]]:
        by_host: dict[str, list[IngressPath]] = defaultdict(list)
        for rule in ingress.rules:
            host = self._host(ingress, rule)
            if host is None:
                continue
            paths = self._without_solvers(ingress, host, rule)
            # A rule that has only the path of a challenge does not claim its host.
            if paths or not rule.paths:
                by_host[host] += paths
        if not ingress.rules:
            self._notices.refuse(ingress, "", _no_rules(ingress))
        return by_host

    def _host(self, ingress: Ingress, rule: Rule) -> str | None:
        """Return the normalised host of a rule; None if it cannot be exposed."""
        # `_` is how nginx configurations write "any host".
        if rule.host in ("", "_"):
            message = "a rule without a host is skipped: set its host"
            self._notices.refuse(ingress, "", Problem(Reason.EMPTY_HOST, message))
            return None
        try:
            return hosts.public(rule.host)
        except hosts.UnusableHostError as error:
            # 253 characters are the most that a host name may have.
            host = rule.host[:253]
            self._notices.refuse(ingress, host, _not_exposed(host, error))
            return None

    def _without_solvers(self, ingress: Ingress, host: str, rule: Rule) -> list[IngressPath]:
        for path in filter(is_solver_path, rule.paths):
            written = shown_path(path)
            message = f"{written} serves a challenge of cert-manager, so pic leaves it out"
            self._notices.add(ingress, Problem(Reason.SOLVER_IGNORED, message, host))
        return [path for path in rule.paths if not is_solver_path(path)]

    def _claim(
        self, selected: Selected, host: str, paths: tuple[IngressPath, ...]
    ) -> Iterator[Claim]:
        ingress, options = selected.ingress, selected.options
        tunnel = self._tunnel(selected, host)
        split = self._split(host, options, tunnel)
        domain, subdomain, unverified = split.domain, split.subdomain, split.unverified
        try:
            public = base_domains.public(domain, subdomain)
        except hosts.UnusableHostError as error:
            self._notices.refuse(ingress, host, _not_exposed(host, error))
            return
        # If annotations move a host, the result depends on the base domain. While that domain is
        # uncertain, the result may be wrong, so the live hosts stay.
        problem = _uncertain(host, tunnel, unverified=unverified) if public != host else None
        owned = {live.host for live in self._inventory.owned_by(ingress.key)}
        if problem and owned and public not in owned:
            self._notices.add(ingress, problem)
            yield from self._held(ingress, options, problem)
            return
        yield Claim(
            public,
            ingress,
            options,
            domain,
            subdomain,
            unverified,
            tunnel,
            paths,
            options.unusable,
            rule_host=host,
            basis=split.basis,
        )

    def _tunnel(self, selected: Selected, host: str) -> ResolvedTunnel | Problem:
        """Return the tunnel that the live object of a host keeps, else the one of the settings."""
        ingress = selected.ingress
        if self._tunnels.live_keep:
            for ref, live_hosts in self._live_tunnels(selected, host).items():
                tunnel = self._tunnels.keep(selected.tunnel, ingress.namespace, ref)
                if tunnel and self._leads_to(live_hosts, selected, host, tunnel):
                    return tunnel
        return self._tunnels.find(selected.tunnel, ingress.namespace)

    def _live_tunnels(self, selected: Selected, host: str) -> dict[TunnelRef, set[str]]:
        """Return the tunnels of the live objects that a host may have, with their hosts.

        Without a live object, the tunnel is the one in the register.
        """
        ingress, options = selected.ingress, selected.options
        candidates = _candidates(host, [ingress], self._inventory)
        # An annotation may move the host. Then its object is one of those of the Ingress.
        if options.domain or options.subdomain:
            candidates += self._inventory.owned_by(ingress.key)
        by_tunnel: dict[TunnelRef, set[str]] = defaultdict(set)
        for live in candidates:
            tunnel = declared_tunnel(live)
            if tunnel and live.namespace == ingress.namespace:
                by_tunnel[tunnel].add(live.host)
        # Its owner may just have deleted the Ingress and created it again.
        remembered = self._inventory.remembered_tunnel(host, ingress.namespace)
        if remembered and not by_tunnel:
            by_tunnel[remembered].add(host)
        return by_tunnel

    def _leads_to(
        self,
        live_hosts: Collection[str],
        selected: Selected,
        host: str,
        tunnel: ResolvedTunnel | Problem,
    ) -> bool:
        """Say whether a host with a tunnel becomes one of some live hosts."""
        split = self._split(host, selected.options, tunnel)
        # Without a verified domain, nothing says where an annotation moves the host.
        if split.unverified or isinstance(tunnel, Problem):
            return True
        try:
            return base_domains.public(split.domain, split.subdomain) in live_hosts
        except hosts.UnusableHostError:
            return False

    def _split(self, host: str, options: IngressOptions, tunnel: ResolvedTunnel | Problem) -> Split:
        organization = tunnel.organization if isinstance(tunnel, ResolvedTunnel) else None
        return base_domains.split(host, options, organization, self._settings)

    def _allowed(self, claim: Claim) -> bool:
        problem = host_policy.refusal(claim.host, claim.ingress.namespace, self._settings)
        if problem:
            self._notices.refuse(claim.ingress, claim.host, problem)
        return problem is None


def _not_exposed(host: str, error: hosts.UnusableHostError) -> Problem:
    return Problem(Reason.INVALID_HOST, f"{host} is not exposed: {error}", host)


def _no_rules(ingress: Ingress) -> Problem:
    if ingress.default_backend is None:
        return Problem(Reason.NO_RULES, "the Ingress has no rules: add a rule with a host")
    message = "the Ingress has a default backend but no host: add a rule with a host"
    return Problem(Reason.EMPTY_HOST, message)


def _needs_one_host(count: int) -> Problem:
    key = f"{annotations.PREFIX}subdomain"
    message = f"{key} needs an Ingress with one host, but this one has {count}: {annotations.HOLDS}"
    return Problem(Reason.INVALID_ANNOTATION, message, annotation=key)


def _uncertain(host: str, tunnel: ResolvedTunnel | Problem, *, unverified: bool) -> Problem | None:
    """Return what may give the host a wrong base domain now; None if the domain is certain."""
    if isinstance(tunnel, Problem):
        return tunnel
    if unverified:
        return Problem(
            Reason.DOMAIN_NOT_VERIFIED,
            f"no verified domain of the tunnel's organisation covers {host}: the live hosts of the"
            " Ingress stay unchanged",
            host,
        )
    return None


def settle(
    claims: Iterable[Claim], inventory: Inventory, memory: Memory, notices: NoticeLog
) -> Iterator[Contest]:
    """Yield one contest for each host, sorted by host; the losers get a notice."""
    by_host: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_host[claim.host].append(claim)
    made_for = {_wanted_key(claim): host for host in by_host for claim in by_host[host]}
    for host in sorted(by_host):
        contenders = sorted(by_host[host], key=lambda claim: claim.ingress.age)
        claimants = [claim.ingress for claim in contenders]
        # Reversed, so that of several objects in a namespace the first one stays: ours come before
        # those to adopt, and both before those that are going.
        incumbents = {
            live.namespace: live
            for live in reversed(_candidates(host, claimants, inventory))
            # The name of an object may show that pic made it for another claimed host. Then a user
            # has edited its host, and it is no incumbent here.
            if made_for.get(live.key, host) == host
        }
        entry = memory.entry(host)
        # Where the register and the live objects contradict each other, the live ones count: an
        # entry that someone has edited gains nothing.
        known = entry and (entry.namespace in incumbents or not inventory.ours_for(host))
        first = entry.namespace if entry and known else ""
        yield _decide(host, contenders, incumbents, first, notices)


def _wanted_key(claim: Claim) -> tuple[str, str]:
    ingress = claim.ingress
    return ingress.namespace, names.object_name(ingress.namespace, ingress.name, claim.host)


def _candidates(
    host: str, claimants: Sequence[Ingress], inventory: Inventory
) -> list[LiveResource]:
    adoptable = inventory.adoptable(host, claimants)
    # An object that is going leaves its host to its namespace, or a deletion would be a way to take
    # the host of another namespace.
    return [*inventory.ours_for(host), *adoptable, *inventory.going_for(host)]


def _decide(
    host: str,
    claims: Sequence[Claim],
    incumbents: Mapping[str, LiveResource],
    first: str,
    notices: NoticeLog,
) -> Contest:
    """Give the host to the oldest claim of an incumbent's namespace, else to the oldest of all.

    An Ingress that is being deleted comes last.

    Args:
        host: The contested host.
        claims: All claims, the oldest first.
        incumbents: Our live objects for the host, by their namespace.
        first: The namespace that has the host by the register; empty for none.
        notices: Gets a notice for each claim that loses.
    """

    def owns(claim: Claim) -> bool:
        namespace = claim.ingress.namespace
        return namespace == first or namespace in incumbents

    def rank(claim: Claim) -> tuple[bool, bool, bool]:
        # Nothing is made for an Ingress that is going, so it must not keep a new host from others.
        ingress = claim.ingress
        return ingress.namespace != first, not owns(claim), ingress.going is not None

    # The sort is stable, so within each group the claims stay in the order of their age.
    ranked = sorted(claims, key=rank)
    winner = ranked[0].ingress
    # Ingresses in files have no age.
    precedes = "it is older" if winner.created else "it is the first by name"
    why = "its namespace already has it" if owns(ranked[0]) else precedes
    if not owns(ranked[0]) and winner.age > min(claim.ingress.age for claim in claims):
        why = "the older Ingress is being deleted"
    message = f"{host} goes to Ingress {winner.namespace}/{winner.name}, because {why}"
    for claim in claims:
        if claim.ingress.namespace != winner.namespace:
            notices.refuse(claim.ingress, host, Problem(Reason.HOST_CONFLICT, message, host))
    winners = tuple(claim for claim in claims if claim.ingress.namespace == winner.namespace)
    live = incumbents.get(winner.namespace)
    return Contest(host, winners, None if live is None or live.going else live)
