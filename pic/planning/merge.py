"""One public host and its claims become one PangolinResource, or stay as they are. No I/O."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pic.core import names
from pic.core.model import (
    HttpConfig,
    Ingress,
    LiveResource,
    Owner,
    Resource,
    Schema,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.notices import Notice, Reason, Ref
from pic.planning import routes
from pic.planning.backends import Resolver
from pic.planning.claims import Claim, Contest
from pic.planning.notice_log import NoticeLog, Problem
from pic.planning.ownership import Inventory, OwnerKind
from pic.planning.routes import Routes
from pic.planning.tunnels import ResolvedTunnel
from pic.settings.parse import PathRouting, Settings

# Losing the last path to one of these takes the host away; losing it to any other holds it.
GOING = frozenset({Reason.EXTERNAL_NAME_REFUSED})

# One path with such a backend holds the whole host while an object of it is live.
HOLDING = frozenset({Reason.BACKEND_NOT_FOUND, Reason.BACKEND_INVALID, Reason.UNSUPPORTED_PROTOCOL})

# An object of these that bears a wanted name is that object.
_TAKEN_UP = frozenset({OwnerKind.OURS, OwnerKind.STRIPPED, OwnerKind.EARLIER})


@dataclass(frozen=True, slots=True)
class Merger:
    """Builds resources; everything it needs besides the contest itself."""

    resolver: Resolver
    inventory: Inventory
    schema: Schema
    settings: Settings
    stack: str
    notices: NoticeLog

    def resource(self, contest: Contest) -> Resource | None:
        """Return what should exist for a host, or None for nothing."""
        unprotected = self._unprotected(contest)
        asking = [claim for claim in contest.claims if not _waits(claim)]
        if not asking or (contest.live and any(claim.blocked for claim in contest.claims)):
            return self._held(contest)
        head = asking[0]
        self._compare(contest.host, asking)
        tunnel = self._tunnel(head)
        found = self._routes(contest.host, asking)
        name = contest.live.name if contest.live else _name(head)
        if tunnel is None or self._obstructed(contest, asking, name) or unprotected:
            return self._held(contest)
        if not found.targets or (contest.live and found.flaws & HOLDING):
            return None if found.flaws <= GOING else self._held(contest)
        return self._resource(contest, asking, self._spec(contest, head, tunnel, found), name)

    def _resource(
        self, contest: Contest, claims: Sequence[Claim], spec: Spec, name: str
    ) -> Resource:
        head = claims[0].ingress
        whose = self.inventory.whose.get((head.namespace, name))
        return Resource(
            host=contest.host,
            namespace=head.namespace,
            name=name,
            owners=_owners(claims),
            labels=names.labels(self.stack, head.namespace, head.name, head.uid),
            spec=spec,
            adopts=contest.live is not None or whose in _TAKEN_UP,
            inherits=contest.live is not None and whose is OwnerKind.PREDECESSOR,
        )

    def _held(self, contest: Contest) -> Resource | None:
        """Declare the live object again, with its present Ingresses; protection is not put off."""
        live = contest.live
        if live is None:
            return None
        kept = kept_spec(live)
        spec = replace(kept, http=self._protected(kept.http, contest))
        return replace(self._resource(contest, contest.claims, spec, live.name), held=True)

    def _protected(self, http: HttpConfig, contest: Contest) -> HttpConfig:
        """Add the protection that any Ingress of the host asks for, also one that is unclear."""
        if not self.schema.protection:
            return replace(http, sso=None, block_access=None)
        return replace(
            http,
            sso=bool(http.sso) or any(each.wishes.sso for each in contest.claims),
            block_access=bool(http.block_access)
            or any(each.wishes.block_access for each in contest.claims),
        )

    def _obstructed(self, contest: Contest, asking: Sequence[Claim], name: str) -> bool:
        """Say whether the host cannot be declared now, and tell why."""
        problems = (
            self._claimed_elsewhere(contest, asking, name),
            self._unverified(contest, asking),
            self._apex(asking[0]),
        )
        for problem in filter(None, problems):
            self.notices.add(asking[0].ingress, problem)
        return any(problems)

    def _claimed_elsewhere(
        self, contest: Contest, asking: Sequence[Claim], name: str
    ) -> Problem | None:
        foreign = self.inventory.foreign_for(contest.host)
        foreign = foreign or self.inventory.left_for(contest.host, contest.live)
        if foreign is not None:
            message = (
                f"PangolinResource {foreign.namespace}/{foreign.name} exposes {contest.host}, and"
                " it is not ours: delete it, or give the host up"
            )
            return Problem(Reason.HOST_CONFLICT, message, contest.host)
        key = (asking[0].ingress.namespace, name)
        if self.inventory.whose.get(key) is OwnerKind.OTHER_STACK:
            message = f"PangolinResource {'/'.join(key)} belongs to another stack"
            return Problem(Reason.HOST_CONFLICT, message, contest.host)
        return None

    def _unverified(self, contest: Contest, asking: Sequence[Claim]) -> Problem | None:
        if not asking[0].unverified:
            return None
        message = f"no verified domain of the tunnel's organisation covers {contest.host}"
        if contest.live:
            return Problem(
                Reason.DOMAIN_NOT_VERIFIED, f"{message}: it stays as it is", contest.host
            )
        message = f"{message}: it is split at {asking[0].domain}"
        self.notices.add(
            asking[0].ingress, Problem(Reason.DOMAIN_NOT_VERIFIED, message, contest.host)
        )
        return None

    def _apex(self, head: Claim) -> Problem | None:
        if head.subdomain is not None or self.schema.subdomain_optional:
            return None
        message = (
            f"{head.host} is its own base domain, which the installed CRD cannot express; ways"
            " out: another subdomain, a parent domain in domain-name or pic:domains, or an"
            " operator whose CRD lets subdomain be absent"
        )
        return Problem(Reason.APEX_UNSUPPORTED, message, head.host)

    def _unprotected(self, contest: Contest) -> bool:
        """Say whether protection is asked for that the CRD cannot express, and tell who asks."""
        if self.schema.protection:
            return False
        asking = [each for each in contest.claims if each.wishes.sso or each.wishes.block_access]
        message = (
            "the installed CRD has no sso and blockAccess, so the host would be open to everybody"
        )
        for claim in asking:
            self.notices.add(
                claim.ingress, Problem(Reason.PROTECTION_UNSUPPORTED, message, contest.host)
            )
        return bool(asking)

    def _compare(self, host: str, asking: Sequence[Claim]) -> None:
        """Tell every Ingress of a host where they disagree."""
        views: dict[str, set[object]] = {
            "sso": {each.wishes.sso for each in asking},
            "block-access": {each.wishes.block_access for each in asking},
            "tunnel": {_tunnel_view(each) for each in asking},
            "domain": {(each.domain, each.subdomain) for each in asking},
        }
        for what, values in views.items():
            if len(values) > 1:
                rule = "the protecting value wins" if what in _PROTECTING else "the oldest decides"
                message = f"the Ingresses of {host} disagree on {what}: {rule}"
                for claim in asking:
                    self.notices.add(
                        claim.ingress, Problem(Reason.ANNOTATION_CONFLICT, message, host)
                    )
        message = "block-access blocks everybody, people who are logged in too"
        for claim in asking:
            if claim.wishes.block_access:
                self.notices.add(claim.ingress, Problem(Reason.BLOCK_ACCESS, message))

    def _tunnel(self, head: Claim) -> TunnelRef | None:
        tunnel = head.tunnel
        if isinstance(tunnel, Problem):
            self.notices.add(head.ingress, tunnel)
        elif tunnel and tunnel.waiting:
            message = f"tunnel {tunnel.ref.name} is {tunnel.waiting}"
            self.notices.add(head.ingress, Problem(Reason.TUNNEL_NOT_READY, message))
        return tunnel.ref if isinstance(tunnel, ResolvedTunnel) else None

    def _routes(self, host: str, asking: Sequence[Claim]) -> Routes:
        found = Routes(host)
        for claim in asking:
            found.add(claim, self.resolver, self.notices)
        for claim in asking:
            found.add_default(claim, self.resolver, self.notices)
        return found

    def _spec(self, contest: Contest, head: Claim, tunnel: TunnelRef, found: Routes) -> Spec:
        known = contest.live.spec.name if contest.live else None
        return Spec(
            enabled=True,
            name=known or head.host,
            protocol="http",
            tunnel=tunnel,
            http=self._protected(HttpConfig(head.domain, head.subdomain), contest),
            targets=self._targets(head, found),
            single=self.schema.single_target,
        )

    def _targets(self, head: Claim, found: Routes) -> tuple[Target, ...]:
        if self.schema.single_target:
            return (self._single(found),)
        routes.remark(found, self.notices)
        targets = tuple(sorted((target for target, _, _ in found.targets), key=routes.order))
        backends = {(each.ip, each.port, each.method) for each in targets}
        if len(backends) > 1 and self.settings.path_routing is PathRouting.WARN:
            message = (
                f"{head.host} has {len(backends)} backends by path, and operators that do not send"
                " paths on mix them; pic:pathRouting: trusted says yours does"
            )
            self.notices.add(head.ingress, Problem(Reason.PATHS_MAY_MIX, message, head.host))
        return targets

    def _single(self, found: Routes) -> Target:
        best, *others = sorted(
            found.targets,
            key=lambda each: (not each[1].is_root, each[1].length, routes.order(each[0])),
        )
        for target, _, ingress in others:
            message = (
                f"the installed CRD takes one target a host, so the path {target.path} is left out"
            )
            self.notices.add(ingress, Problem(Reason.SINGLE_TARGET_ONLY, message, found.host))
        return replace(best[0], path=None, match=None, priority=None)


_PROTECTING = frozenset({"sso", "block-access"})


def stripped_notices(inventory: Inventory, plan: Sequence[Resource]) -> list[Notice]:
    """Tell of objects of ours whose labels somebody took, which the plan puts back."""
    return [
        Notice(
            Reason.LABELS_REPAIRED,
            Ref("PangolinResource", resource.namespace, resource.name),
            "its labels were taken off by somebody; they are put back",
            resource.host,
        )
        for resource in plan
        if inventory.whose.get(resource.key) is OwnerKind.STRIPPED
    ]


def left_notices(inventory: Inventory, plan: Sequence[Resource]) -> list[Notice]:
    """Tell of objects of the earlier stack that nothing in the plan takes over."""
    wanted = {resource.key for resource in plan}
    return [
        Notice(
            Reason.LEFT_BEHIND,
            Ref("PangolinResource", live.namespace, live.name),
            "it is of the stack in pic:adoptFrom and nothing here asks for it: it stays as it is",
            live.host or None,
        )
        for live in inventory.earlier
        if live.key not in wanted
    ]


def kept_spec(live: LiveResource) -> Spec:
    """Return what a held object declares: the fields that pic owns, without the CRD's defaults."""
    spec, owned = live.spec, live.owned
    spec = replace(spec, targets=tuple(map(_without_default, spec.targets)))
    if not owned:
        return spec
    http = spec.http
    return Spec(
        enabled=spec.enabled if "enabled" in owned else None,
        name=spec.name if "name" in owned else None,
        protocol=spec.protocol if "protocol" in owned else None,
        tunnel=_kept_tunnel(spec.tunnel, owned) if "tunnelRef" in owned else None,
        http=replace(
            http,
            domain_name=http.domain_name if "httpConfig.domainName" in owned else None,
            subdomain=http.subdomain if "httpConfig.subdomain" in owned else None,
        ),
        targets=spec.targets if owned & {"targets", "target"} else (),
        single=spec.single,
    )


def _kept_tunnel(tunnel: TunnelRef | None, owned: frozenset[str]) -> TunnelRef | None:
    return tunnel if "tunnelRef.namespace" in owned else tunnel and TunnelRef(tunnel.name)


def _without_default(target: Target) -> Target:
    return target if target.path is not None else replace(target, priority=None, match=None)


def _waits(claim: Claim) -> bool:
    """Nothing is made for an Ingress that is unclear now, or being deleted in the foreground."""
    return claim.blocked is not None or claim.ingress.foreground


def _tunnel_view(claim: Claim) -> object:
    return claim.tunnel.ref if isinstance(claim.tunnel, ResolvedTunnel) else claim.tunnel


def _name(head: Claim) -> str:
    ingress: Ingress = head.ingress
    return names.object_name(ingress.namespace, ingress.name, head.host)


def _owners(claims: Sequence[Claim]) -> tuple[Owner, ...]:
    found = (claim.ingress for claim in claims)
    return tuple(dict.fromkeys(Owner(each.namespace, each.name, each.uid) for each in found))
