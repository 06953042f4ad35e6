"""Which Ingress asks for which public host, and who gets a contested one. No I/O."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pic import annotations, hosts
from pic.annotations import Switch, Wishes
from pic.config import Settings
from pic.inventory import Inventory
from pic.model import Ingress, IngressPath, LiveResource, Organization, Unreadable
from pic.notices import Reason
from pic.select import Managed, Notices
from pic.tunnels import Route, TunnelError, Tunnels


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
    wishes: Wishes = annotations.NONE
    domain: str = ""
    subdomain: str | None = None
    unverified: bool = False
    tunnel: Route | TunnelError | None = None
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

    @property
    def controller(self) -> Ingress:
        """The oldest Ingress, which rules where they disagree."""
        return self.claims[0].ingress


class Claims:
    """Finds the claims of Ingresses."""

    def __init__(
        self, tunnels: Tunnels, inventory: Inventory, settings: Settings, notices: Notices
    ) -> None:
        self._tunnels = tunnels
        self._inventory = inventory
        self._settings = settings
        self._notices = notices

    def of(self, managed: Managed) -> Iterator[Claim]:
        """Yield the claims of an Ingress that its namespace may make."""
        return (claim for claim in self._of(managed) if self._allowed(claim))

    def of_unreadable(self, unreadable: Unreadable) -> Iterator[Claim]:
        """Yield claims on whatever an Ingress of wrong shape has already."""
        if unreadable.kind != "Ingress":
            return iter(())
        ingress = Ingress(unreadable.namespace, unreadable.name, uid="")
        return self._kept(ingress, Wishes(), Reason.INVALID_OBJECT)

    def _of(self, managed: Managed) -> Iterator[Claim]:
        found = self._paths_by_host(managed.ingress)
        wishes = managed.wishes
        if wishes.subdomain and len(found) > 1:
            self._notices.add(
                Reason.INVALID_ANNOTATION,
                managed.ingress,
                f"subdomain needs an Ingress with exactly one host, this one has {len(found)}:"
                " its hosts stay as they are",
            )
        elif not wishes.renames:
            for host, paths in found.items():
                yield from self._claim(managed, host, tuple(paths))
            return
        yield from self._kept(managed.ingress, wishes, Reason.INVALID_ANNOTATION)

    def _kept(self, ingress: Ingress, wishes: Wishes, blocked: Reason) -> Iterator[Claim]:
        for live in self._inventory.owned_by(ingress.key):
            owner = next(each for each in live.owners if each.name == ingress.name)
            known = ingress if ingress.uid else Ingress(ingress.namespace, ingress.name, owner.uid)
            yield Claim(live.host, known, wishes, blocked=blocked)

    def _paths_by_host(self, ingress: Ingress) -> dict[str, list[IngressPath]]:
        found: dict[str, list[IngressPath]] = defaultdict(list)
        for rule in ingress.rules:
            if rule.host in ("", "_"):
                self._notices.add(
                    Reason.EMPTY_HOST, ingress, "a rule without a host is skipped: name the host"
                )
                continue
            try:
                found[hosts.public(rule.host)] += rule.paths
            except hosts.UnusableHostError as error:
                shown = rule.host[:253]
                self._notices.add(Reason.INVALID_HOST, ingress, f"{shown}: {error}", shown)
        if not ingress.rules:
            self._no_rules(ingress)
        return found

    def _no_rules(self, ingress: Ingress) -> None:
        if ingress.default_backend is None:
            self._notices.add(Reason.NO_RULES, ingress, "the Ingress has no rules")
        else:
            self._notices.add(
                Reason.EMPTY_HOST, ingress, "a default backend alone has no host to be exposed at"
            )

    def _claim(
        self, managed: Managed, host: str, paths: tuple[IngressPath, ...]
    ) -> Iterator[Claim]:
        ingress, wishes = managed.ingress, managed.wishes
        tunnel = self._tunnels.find(managed.tunnel, ingress.namespace)
        organization = tunnel.organization if isinstance(tunnel, Route) else None
        domain, subdomain, unverified = _split(host, wishes, organization, self._settings)
        try:
            public = hosts.public(f"{subdomain}.{domain}" if subdomain else domain)
        except hosts.UnusableHostError as error:
            self._notices.add(Reason.INVALID_HOST, ingress, f"{host}: {error}", host)
            return
        if unverified and public != host and self._inventory.owned_by(ingress.key):
            yield from self._kept(ingress, wishes, Reason.DOMAIN_NOT_VERIFIED)
            return
        blocked = _blocked(wishes)
        yield Claim(public, ingress, wishes, domain, subdomain, unverified, tunnel, paths, blocked)

    def _allowed(self, claim: Claim) -> bool:
        policy = self._settings.host_policy
        if policy is None:
            return True
        patterns = policy.get(claim.ingress.namespace, ())
        if any(fnmatchcase(claim.host, pattern) for pattern in patterns):
            return True
        self._notices.add(
            Reason.HOST_NOT_ALLOWED,
            claim.ingress,
            f"pic:hostPolicy lets {claim.ingress.namespace} claim"
            f" {', '.join(patterns) or 'nothing'}, not {claim.host}",
            claim.host,
        )
        return False


def _blocked(wishes: Wishes) -> Reason | None:
    unclear = wishes.holds or wishes.enabled is Switch.UNREADABLE
    return Reason.INVALID_ANNOTATION if unclear else None


def _split(
    host: str, wishes: Wishes, organization: Organization | None, settings: Settings
) -> tuple[str, str | None, bool]:
    """Return base domain, subdomain, and whether the organisation leaves the host uncovered."""
    verified = hosts.suffix_of(host, organization.verified) if organization else None
    base = verified or hosts.suffix_of(host, settings.domains) or hosts.registrable(host)
    domain = wishes.domain or base
    stem = domain if hosts.is_under(host, domain) else base
    subdomain = wishes.subdomain or hosts.subdomain(host, stem)
    told = wishes.domain is not None and stem == wishes.domain
    return domain, subdomain, organization is not None and verified is None and not told


def settle(claims: Iterable[Claim], inventory: Inventory, notices: Notices) -> Iterator[Contest]:
    """Yield one contest a host, sorted by host; who loses one is told by whom."""
    by_host: dict[str, list[Claim]] = defaultdict(list)
    for claim in claims:
        by_host[claim.host].append(claim)
    for host in sorted(by_host):
        found = sorted(by_host[host], key=lambda claim: claim.ingress.age)
        yield _decide(host, found, inventory, notices)


def _decide(host: str, claims: Sequence[Claim], inventory: Inventory, notices: Notices) -> Contest:
    namespaces = {claim.ingress.namespace for claim in claims}
    incumbents = [live for live in inventory.ours_for(host) if live.namespace in namespaces]
    namespace = incumbents[0].namespace if incumbents else claims[0].ingress.namespace
    winners = tuple(claim for claim in claims if claim.ingress.namespace == namespace)
    why = "has it already" if incumbents else "is older"
    for claim in claims:
        if claim.ingress.namespace != namespace:
            winner = winners[0].ingress
            notices.add(
                Reason.HOST_CONFLICT,
                claim.ingress,
                f"{host} goes to Ingress {winner.namespace}/{winner.name}, which {why}",
                host,
            )
    live = incumbents[0] if incumbents else inventory.predecessor_of(host, winners[0].ingress)
    return Contest(host, winners, live)
