"""Which Ingress asks for which public host, and who gets a contested one. No I/O."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pic.core import names
from pic.core.model import (
    Ingress,
    IngressPath,
    LiveResource,
    Organization,
    Rule,
    Unreadable,
)
from pic.core.notices import Reason
from pic.planning import annotations, hosts
from pic.planning.annotations import IngressOptions
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.ownership import Inventory
from pic.planning.selection import Managed, is_solver_path
from pic.planning.tunnels import ResolvedTunnel, Tunnels
from pic.settings.parse import Settings


@dataclass(frozen=True, slots=True)
class Claim:
    """One Ingress asking for one public host.

    Attributes:
        domain: The base domain of the public host.
        subdomain: What stands before it, None at the apex.
        unverified: The tunnel's organisation has no verified domain that covers the host.
        blocked: Why nothing can be said now of what this Ingress wants here.
    """

    host: str
    ingress: Ingress
    wishes: IngressOptions = annotations.NONE
    domain: str = ""
    subdomain: str | None = None
    unverified: bool = False
    tunnel: ResolvedTunnel | Problem | None = None
    paths: tuple[IngressPath, ...] = ()
    blocked: Reason | None = None


@dataclass(frozen=True, slots=True)
class Contest:
    """A public host and the claims on it that count, the oldest first, all of one namespace.

    Attributes:
        live: Our object for this host in that namespace, where there is one.
    """

    host: str
    claims: tuple[Claim, ...]
    live: LiveResource | None


class Claims:
    """Finds the claims of Ingresses."""

    def __init__(
        self, tunnels: Tunnels, inventory: Inventory, settings: Settings, notices: NoticeLog
    ) -> None:
        self._tunnels = tunnels
        self._inventory = inventory
        self._settings = settings
        self._notices = notices

    def of(self, managed: Managed) -> Iterator[Claim]:
        """Yield the claims of an Ingress that its namespace may make."""
        return filter(self._allowed, self._of(managed))

    def of_unreadable(self, unreadable: Unreadable) -> Iterator[Claim]:
        """Yield claims on whatever an Ingress of wrong shape has already."""
        if unreadable.kind != "Ingress":
            return iter(())
        ingress = Ingress(unreadable.namespace, unreadable.name, unreadable.uid, unreadable.created)
        return filter(self._allowed, self._kept(ingress, IngressOptions(), Reason.INVALID_OBJECT))

    def _of(self, managed: Managed) -> Iterator[Claim]:
        found = self._paths_by_host(managed.ingress)
        wishes = managed.wishes
        if wishes.subdomain and len(found) > 1:
            self._notices.add(managed.ingress, _ambiguous(len(found)))
        elif not wishes.renames:
            for host, paths in found.items():
                yield from self._claim(managed, host, tuple(paths))
            return
        yield from self._kept(managed.ingress, wishes, Reason.INVALID_ANNOTATION)

    def _kept(self, ingress: Ingress, wishes: IngressOptions, blocked: Reason) -> Iterator[Claim]:
        for live in self._inventory.owned_by(ingress.key):
            yield Claim(live.host, ingress, wishes, blocked=blocked)

    def _paths_by_host(self, ingress: Ingress) -> dict[str, list[IngressPath]]:
        found: dict[str, list[IngressPath]] = defaultdict(list)
        for rule in ingress.rules:
            if rule.host in ("", "_"):
                problem = Problem(
                    Reason.EMPTY_HOST, "a rule without a host is skipped: name the host"
                )
                self._notices.add(ingress, problem)
                continue
            try:
                host = hosts.public(rule.host)
            except hosts.UnusableHostError as error:
                shown = rule.host[:253]
                self._notices.add(ingress, Problem(Reason.INVALID_HOST, f"{shown}: {error}", shown))
                continue
            paths = self._without_solvers(ingress, host, rule)
            # A rule that holds nothing but a challenge is no claim on its host.
            if paths or not rule.paths:
                found[host] += paths
        if not ingress.rules:
            self._no_rules(ingress)
        return found

    def _without_solvers(self, ingress: Ingress, host: str, rule: Rule) -> list[IngressPath]:
        for path in filter(is_solver_path, rule.paths):
            message = f"the path {path.path} of a cert-manager solver is left out"
            self._notices.add(ingress, Problem(Reason.SOLVER_IGNORED, message, host))
        return [path for path in rule.paths if not is_solver_path(path)]

    def _no_rules(self, ingress: Ingress) -> None:
        problem = Problem(Reason.NO_RULES, "the Ingress has no rules")
        if ingress.default_backend is not None:
            problem = Problem(
                Reason.EMPTY_HOST, "a default backend alone has no host to be exposed at"
            )
        self._notices.add(ingress, problem)

    def _claim(
        self, managed: Managed, host: str, paths: tuple[IngressPath, ...]
    ) -> Iterator[Claim]:
        ingress, wishes = managed.ingress, managed.wishes
        tunnel = self._tunnels.find(managed.tunnel, ingress.namespace)
        organization = tunnel.organization if isinstance(tunnel, ResolvedTunnel) else None
        domain, subdomain, unverified = _split(host, wishes, organization, self._settings)
        try:
            public = hosts.public(f"{subdomain}.{domain}" if subdomain else domain)
        except hosts.UnusableHostError as error:
            self._notices.add(ingress, Problem(Reason.INVALID_HOST, f"{host}: {error}", host))
            return
        doubt = _doubt(host, tunnel, unverified=unverified) if public != host else None
        owned = {live.host for live in self._inventory.owned_by(ingress.key)}
        if doubt and owned and public not in owned:
            self._notices.add(ingress, doubt)
            yield from self._kept(ingress, wishes, doubt.reason)
            return
        blocked = Reason.INVALID_ANNOTATION if wishes.holds else None
        yield Claim(public, ingress, wishes, domain, subdomain, unverified, tunnel, paths, blocked)

    def _allowed(self, claim: Claim) -> bool:
        policy = self._settings.host_policy
        if policy is None:
            return True
        patterns = policy.get(claim.ingress.namespace, ())
        if any(fnmatchcase(claim.host, pattern) for pattern in patterns):
            return True
        message = (
            f"pic:hostPolicy lets {claim.ingress.namespace} claim"
            f" {', '.join(patterns) or 'nothing'}, not {claim.host}"
        )
        self._notices.add(claim.ingress, Problem(Reason.HOST_NOT_ALLOWED, message, claim.host))
        return False


def _ambiguous(count: int) -> Problem:
    message = (
        f"subdomain needs an Ingress with exactly one host, this one has {count}: its hosts stay"
        " as they are"
    )
    key = f"{annotations.PREFIX}subdomain"
    return Problem(Reason.INVALID_ANNOTATION, message, annotation=key)


def _doubt(host: str, tunnel: ResolvedTunnel | Problem, *, unverified: bool) -> Problem | None:
    """Return why the base domain may be another one when all is well, or None."""
    if isinstance(tunnel, Problem):
        return tunnel
    if unverified:
        return Problem(
            Reason.DOMAIN_NOT_VERIFIED,
            f"no verified domain of the tunnel's organisation covers {host}: the hosts of the"
            " Ingress stay as they are",
            host,
        )
    return None


def _split(
    host: str, wishes: IngressOptions, organization: Organization | None, settings: Settings
) -> tuple[str, str | None, bool]:
    """Return base domain, subdomain, and whether the organisation leaves the host uncovered."""
    verified = hosts.suffix_of(host, organization.verified) if organization else None
    base = verified or hosts.suffix_of(host, settings.domains) or hosts.registrable(host)
    domain = wishes.domain or base
    stem = domain if hosts.is_under(host, domain) else base
    subdomain = wishes.subdomain or hosts.subdomain(host, stem)
    told = wishes.domain is not None and stem == wishes.domain
    return domain, subdomain, organization is not None and verified is None and not told


def settle(claims: Iterable[Claim], inventory: Inventory, notices: NoticeLog) -> Iterator[Contest]:
    """Yield one contest a host, sorted by host; who loses one is told by whom."""
    by_host: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_host[claim.host].append(claim)
    made_for = {_wanted_key(claim): host for host, found in by_host.items() for claim in found}
    for host in sorted(by_host):
        found = sorted(by_host[host], key=lambda claim: claim.ingress.age)
        incumbents = {
            live.namespace: live
            for live in reversed(_candidates(host, found, inventory))
            # An object made for another claimed host shows this one by a change made by hand.
            if made_for.get(live.key, host) == host
        }
        yield _decide(host, found, incumbents, notices)


def _wanted_key(claim: Claim) -> tuple[str, str]:
    ingress = claim.ingress
    return ingress.namespace, names.object_name(ingress.namespace, ingress.name, claim.host)


def _candidates(host: str, claims: Sequence[Claim], inventory: Inventory) -> list[LiveResource]:
    adoptable = inventory.adoptable(host, (claim.ingress for claim in claims))
    return [*inventory.ours_for(host), *adoptable]


def _decide(
    host: str, claims: Sequence[Claim], incumbents: Mapping[str, LiveResource], notices: NoticeLog
) -> Contest:
    """Give the host to the oldest claim of an incumbent's namespace, else to the oldest of all."""
    ranked = sorted(claims, key=lambda claim: claim.ingress.namespace not in incumbents)
    winner = ranked[0].ingress
    why = "has it already" if winner.namespace in incumbents else "is older"
    for claim in claims:
        if claim.ingress.namespace != winner.namespace:
            message = f"{host} goes to Ingress {winner.namespace}/{winner.name}, which {why}"
            notices.add(claim.ingress, Problem(Reason.HOST_CONFLICT, message, host))
    winners = tuple(claim for claim in claims if claim.ingress.namespace == winner.namespace)
    return Contest(host, winners, incumbents.get(winner.namespace))
