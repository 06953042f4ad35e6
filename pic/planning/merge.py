"""Merges the claims on one public host into one PangolinResource.

A host has one of three outcomes. Its resource is planned from the claims. Or something that the
resource needs cannot be resolved now: then the live object is *held*, which means that pic declares
it again as it is. Or the plan has no resource for the host, and its live object is deleted.

Holding needs a declaration, because the engine deletes what a program leaves out (ADR 1).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pic.core import names
from pic.core.model import HttpConfig, LiveResource, Owner, Resource, Spec, Target, TunnelRef
from pic.core.notices import Reason
from pic.core.operator_objects import Schema
from pic.planning import deletions, in_pangolin, routes
from pic.planning.backends import Resolver
from pic.planning.claims import Claim, Contest
from pic.planning.foreign import notices as foreign_notices
from pic.planning.inventory import Inventory
from pic.planning.live_form import held_spec
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.ownership import OwnerKind
from pic.planning.routes import Route, Routes
from pic.planning.tunnels import ResolvedTunnel, crd_name
from pic.settings.parse import ForeignProtection, PathRouting, Settings

# A host that loses its last path for one of these is deleted; for any other reason it is held.
DELETING = frozenset({Reason.EXTERNAL_NAME_REFUSED})

# One path with such a backend holds the whole live host, so that the path is not lost while its
# backend is broken. A new host is declared with its other paths.
HOLDING = frozenset({Reason.BACKEND_NOT_FOUND, Reason.BACKEND_INVALID, Reason.UNSUPPORTED_PROTOCOL})

# A live object of these kinds that has the wanted name is taken over.
_TAKEN_OVER = frozenset({OwnerKind.OURS, OwnerKind.STRIPPED, OwnerKind.EARLIER})

# A live object of these kinds that has the wanted name, and that pic does not take over, keeps it.
_BLOCKING = frozenset(
    {
        OwnerKind.OTHER_STACK,
        OwnerKind.STRANGER,
        OwnerKind.FOREIGN,
        OwnerKind.PREDECESSOR,
    }
)

# Where Ingresses disagree on one of these annotations, the stricter value wins.
_PROTECTING = frozenset({"sso", "block-access"})


@dataclass(frozen=True, slots=True)
class Merger:
    """Builds the resource of a contest; the attributes are what all contests share.

    Attributes:
        stack: The value of the stack label.
        now: The time in RFC 3339 and UTC; empty if it is unknown.
        on_cluster: Whether the schema is that of a CRD in a cluster.
    """

    resolver: Resolver
    inventory: Inventory
    schema: Schema
    settings: Settings
    stack: str
    notices: NoticeLog
    now: str = ""
    on_cluster: bool = True

    def resource(self, contest: Contest) -> Resource | None:
        """Return what should exist for a host; None for nothing."""
        self.notices.trail.settle(contest)
        resource = self._wanted(contest)
        return None if resource and self._is_withheld(contest, resource) else resource

    def _is_withheld(self, contest: Contest, resource: Resource) -> bool:
        """Say whether to withhold a new host that only another controller protects; report it."""
        if resource.spec.http.sso or resource.spec.http.block_access:
            return False
        hold = self.settings.foreign_protection is ForeignProtection.HOLD and contest.live is None
        claims = [claim for claim in contest.claims if claim.options.unguarded]
        for claim in claims:
            problem = foreign_notices.unprotected(contest.host, claim.options.unguarded, hold=hold)
            self.notices.add(claim.ingress, problem)
            if hold:
                self._stop(contest, problem)
        return hold and bool(claims)

    def _wanted(self, contest: Contest) -> Resource | None:
        # This check comes first, so that it is reported even where something else holds the host.
        unprotected = self._unprotected(contest)
        self._report_going(contest)
        claims = [claim for claim in contest.claims if not _waits(claim, contest.live)]
        # One blocked claim holds a live host, even if other Ingresses of the host can be read. A
        # resource without that claim would lose its paths.
        if not claims or (contest.live and any(claim.blocked for claim in contest.claims)):
            for claim in contest.claims:
                if claim.blocked:
                    self._stop(contest, claim.blocked)
            return self._held(contest)
        head = claims[0]
        self._report_options(contest.host, claims)
        tunnel = self._tunnel(contest, head)
        routing = self._routes(contest.host, claims)
        name = contest.live.name if contest.live else _name(head)
        if tunnel is None or self._obstructed(contest, claims, name) or unprotected:
            return self._held(contest)
        if not routing.routes or (contest.live and routing.flaws & HOLDING):
            self._stop(contest, _decisive(routing))
            return None if routing.flaws <= DELETING else self._held(contest)
        return self._resource(contest, claims, self._spec(contest, head, tunnel, routing), name)

    def _stop(self, contest: Contest, problem: Problem) -> None:
        self.notices.trail.stop(contest, problem.reason, problem.message)

    @property
    def _crd(self) -> str:
        return crd_name(on_cluster=self.on_cluster)

    def _resource(
        self, contest: Contest, claims: Sequence[Claim], spec: Spec, name: str
    ) -> Resource:
        head = claims[0].ingress
        kind = self.inventory.owner_kinds.get((head.namespace, name))
        return Resource(
            host=contest.host,
            namespace=head.namespace,
            name=name,
            owners=_owners(claims),
            labels=names.labels(
                self.stack, head.namespace, head.name, head.uid, self.settings.stack_id
            ),
            spec=spec,
            adopts=contest.live is not None or kind in _TAKEN_OVER,
            inherits=contest.live is not None and kind is OwnerKind.PREDECESSOR,
        )

    def _held(self, contest: Contest) -> Resource | None:
        """Declare the live object again, owned by the Ingresses that claim it now.

        Protection is the exception: an Ingress that asks for it gets it at once.
        """
        live = contest.live
        if live is None:
            return None
        spec = held_spec(live)
        spec = replace(spec, http=self._protected(spec.http, contest))
        return replace(self._resource(contest, contest.claims, spec, live.name), held=True)

    def _protected(self, http: HttpConfig, contest: Contest) -> HttpConfig:
        """Add the protection that any claim asks for, blocked claims included."""
        # The API server drops fields that the CRD does not have, so they would differ in every run.
        if not self.schema.protection:
            return replace(http, sso=None, block_access=None)
        options = [claim.options for claim in contest.claims]
        # Both fields are always declared, also as false. Otherwise the operator writes and owns
        # them, and a later apply of true is a conflict.
        return replace(
            http,
            sso=bool(http.sso) or any(option.sso for option in options),
            block_access=bool(http.block_access) or any(option.block_access for option in options),
        )

    def _obstructed(self, contest: Contest, claims: Sequence[Claim], name: str) -> bool:
        """Say whether the host cannot be declared now, and report why."""
        problems = (
            self._claimed_elsewhere(contest, claims[0], name),
            self._unverified(contest, claims[0]),
            self._apex(claims[0]),
        )
        for problem in filter(None, problems):
            self.notices.add(claims[0].ingress, problem)
            self._stop(contest, problem)
        return any(problems)

    def _claimed_elsewhere(self, contest: Contest, head: Claim, name: str) -> Problem | None:
        # Pangolin knows each public host once, so two objects for it would overwrite each other.
        other = self.inventory.blocking(contest.host, contest.live)
        if other is not None and other.published:
            kind = self.inventory.owner_kinds[other.key]
            return in_pangolin.taken(contest.host, other, kind)
        if other is not None:
            return self._taken(f"already exposes {contest.host}", other.key, contest.host)
        key = (head.ingress.namespace, name)
        named = self.inventory.owner_kinds.get(key, OwnerKind.OURS)
        if named in _BLOCKING and not (contest.live and contest.live.key == key):
            return self._taken(f"has the name that {contest.host} needs", key, contest.host)
        return None

    def _taken(self, what: str, key: tuple[str, str], host: str) -> Problem:
        kind = self.inventory.owner_kinds[key]
        way_out = _WAYS_OUT.get(kind, "pic did not make it: delete it, or use another host")
        if kind is OwnerKind.PREDECESSOR and self.inventory.adopt:
            way_out = "the Go controller made it for another Ingress: remove the host there"
        message = f"PangolinResource {'/'.join(key)} {what}, and {way_out}"
        return Problem(Reason.HOST_CONFLICT, message, host)

    def _unverified(self, contest: Contest, head: Claim) -> Problem | None:
        if self.settings.publishes:
            return in_pangolin.uncovered(contest, head)
        if not head.unverified:
            return None
        message = f"no verified domain of the tunnel's organisation covers {contest.host}"
        # The status of a domain can change back. Until then a live host keeps its base domain.
        if contest.live:
            message = f"{message}: it stays unchanged until a domain is verified"
            return Problem(Reason.DOMAIN_NOT_VERIFIED, message, contest.host)
        # A new host is declared all the same, since Pangolin may accept its domain.
        message = f"{message}: pic uses base domain {head.domain}"
        self.notices.add(head.ingress, Problem(Reason.DOMAIN_NOT_VERIFIED, message, contest.host))
        return None

    def _apex(self, head: Claim) -> Problem | None:
        if head.subdomain is not None or self.schema.subdomain_optional:
            return None
        message = (
            f"{head.host} is its own base domain, and {self._crd} requires a subdomain: use a"
            " subdomain, name a parent domain in the annotation domain-name or in pic:domains, or"
            " upgrade the Pangolin operator"
        )
        return Problem(Reason.APEX_UNSUPPORTED, message, head.host)

    def _report_going(self, contest: Contest) -> None:
        """Report the Ingresses of a host that Kubernetes is deleting."""
        effect, now = f"nothing new is made for {contest.host}", ""
        if contest.live:
            effect, now = f"{contest.host} stays until the Ingress is gone", self.now
        for claim in contest.claims:
            ingress = claim.ingress
            if going := ingress.going:
                notice = deletions.source_notice(ingress, going, contest.host, effect, now)
                self.notices.put(notice)
                if _waits(claim, contest.live):
                    self.notices.trail.stop(contest, notice.reason, notice.message)

    def _unprotected(self, contest: Contest) -> bool:
        """Say whether claims ask for protection that the CRD cannot express, and report them."""
        if self.schema.protection:
            return False
        claims = [
            claim for claim in contest.claims if claim.options.sso or claim.options.block_access
        ]
        message = (
            f"{self._crd} has no sso and no blockAccess, so the host would be open to the"
            " public: upgrade the Pangolin operator, or remove the annotation"
        )
        for claim in claims:
            problem = Problem(Reason.PROTECTION_UNSUPPORTED, message, contest.host)
            self.notices.add(claim.ingress, problem)
            self._stop(contest, problem)
        return bool(claims)

    def _report_options(self, host: str, claims: Sequence[Claim]) -> None:
        """Report where the Ingresses of a host disagree, and which of them block all access."""
        views: dict[str, set[object]] = {
            "sso": {claim.options.sso for claim in claims},
            "block-access": {claim.options.block_access for claim in claims},
            "tunnel": {_tunnel_view(claim) for claim in claims},
            "domain": {(claim.domain, claim.subdomain) for claim in claims},
        }
        for option in (option for option, values in views.items() if len(values) > 1):
            first = claims[0].ingress.precedence
            rule = "true wins" if option in _PROTECTING else f"{first} decides"
            message = f"the Ingresses of {host} disagree on {option}: {rule}"
            for claim in claims:
                self.notices.add(claim.ingress, Problem(Reason.ANNOTATION_CONFLICT, message, host))
        message = "block-access blocks all access, for logged-in users as well"
        for claim in claims:
            if claim.options.block_access:
                self.notices.add(claim.ingress, Problem(Reason.BLOCK_ACCESS, message))

    def _tunnel(self, contest: Contest, head: Claim) -> TunnelRef | None:
        tunnel = head.tunnel
        if isinstance(tunnel, Problem):
            self.notices.add(head.ingress, tunnel)
            self._stop(contest, tunnel)
        elif tunnel and tunnel.waiting:
            message = (
                f"tunnel {tunnel.ref.name} is not ready (status: {tunnel.waiting}); its hosts are"
                " declared all the same"
            )
            if self.settings.publishes:
                message = in_pangolin.offline(tunnel.ref.name)
            self.notices.add(head.ingress, Problem(Reason.TUNNEL_NOT_READY, message))
        return tunnel.ref if isinstance(tunnel, ResolvedTunnel) else None

    def _routes(self, host: str, claims: Sequence[Claim]) -> Routes:
        routing = Routes(host, self.resolver, self.notices)
        self.notices.trail.route(routing)
        for claim in claims:
            routing.add(claim)
        # This loop comes second, because a root path of any Ingress wins over every default
        # backend.
        for claim in claims:
            routing.add_default(claim)
        return routing

    def _spec(self, contest: Contest, head: Claim, tunnel: TunnelRef, routing: Routes) -> Spec:
        # The operator finds the resource in Pangolin by `spec.name`. So the name is the host, which
        # is stable and unique, and an adopted object keeps its own (docs/limits.md).
        # In Pangolin itself pic finds it by its marker, so it is always named by its host.
        keeps_name = contest.live is not None and not contest.live.published
        live_name = contest.live.spec.name if contest.live and keeps_name else None
        return Spec(
            enabled=True,
            name=live_name or head.host,
            protocol="http",
            tunnel=tunnel,
            http=self._protected(self._http(head), contest),
            targets=self._targets(head, routing),
            single=self.schema.single_target,
        )

    def _http(self, head: Claim) -> HttpConfig:
        tunnel = head.tunnel
        organization = tunnel.organization if isinstance(tunnel, ResolvedTunnel) else None
        # The API server drops a field that the CRD does not have.
        known = organization.domain_ids if organization and self.schema.domain_id else {}
        return HttpConfig(head.domain, head.subdomain, domain_id=known.get(head.domain))

    def _targets(self, head: Claim, routing: Routes) -> tuple[Target, ...]:
        if self.schema.single_target:
            return (self._single(routing),)
        routes.report_ambiguity(routing)
        targets = tuple(sorted((route.target for route in routing.routes), key=routes.order))
        backends = {(target.ip, target.port, target.method) for target in targets}
        mixes = self.settings.path_routing is PathRouting.WARN and not self.settings.publishes
        if len(backends) > 1 and mixes:
            message = (
                f"{head.host} has {len(backends)} backends on different paths, which operators that"
                " ignore paths would mix: if yours routes by path, set pic:pathRouting to trusted"
            )
            self.notices.add(head.ingress, Problem(Reason.PATHS_MAY_MIX, message, head.host))
        return targets

    def _single(self, routing: Routes) -> Target:
        """Return the target of the root or of the shortest path, and report the other paths."""
        best, *others = sorted(routing.routes, key=_single_order)
        for route in others:
            message = f"{self._crd} allows one target per host: {route.written} is left out"
            self.notices.add(
                route.ingress, Problem(Reason.SINGLE_TARGET_ONLY, message, routing.host)
            )
        return replace(best.target, path=None, match=None, priority=None)


def _decisive(routing: Routes) -> Problem:
    """Return the flaw for which a host loses its last path, or is held."""
    problems = [problem for _, problem in routing.broken]
    holding = (problem for problem in problems if problem.reason in HOLDING)
    return next(holding) if routing.routes else problems[0]


# What to do about an object that blocks a host.
_WAYS_OUT = {
    OwnerKind.OTHER_STACK: "it belongs to another stack: remove the host there",
    OwnerKind.EARLIER: "it belongs to the stack in pic:adoptFrom: remove the host there",
    OwnerKind.PREDECESSOR: (
        "it belongs to the Go controller: scale that controller to 0 replicas, then set pic:adopt"
    ),
    OwnerKind.STRANGER: "it has the labels of this stack, but pic did not make it: delete it",
}


def _single_order(route: Route) -> tuple[bool, int, tuple[int, str, str]]:
    return not route.match.is_root, route.match.length, routes.order(route.target)


def _waits(claim: Claim, live: LiveResource | None) -> bool:
    # If an Ingress is deleted in the foreground, Kubernetes first deletes every object that it
    # owns. A new object would only delay that.
    going = claim.ingress.foreground or (claim.ingress.going is not None and live is None)
    return going or claim.blocked is not None


def _tunnel_view(claim: Claim) -> object:
    return claim.tunnel.ref if isinstance(claim.tunnel, ResolvedTunnel) else claim.tunnel


def _name(head: Claim) -> str:
    return names.object_name(head.ingress.namespace, head.ingress.name, head.host)


def _owners(claims: Sequence[Claim]) -> tuple[Owner, ...]:
    ingresses = (claim.ingress for claim in claims)
    # Two hosts of one Ingress may become the same public host.
    return tuple(
        dict.fromkeys(Owner(ingress.namespace, ingress.name, ingress.uid) for ingress in ingresses)
    )
