"""Makes live resources of what Pangolin itself has, so that planning treats them like objects.

Pangolin knows no namespace. The register says whose a host is, else the engine's state. Where
neither does, the oldest Ingress with the host has it. The list of Pangolin shows neither block nor
paths, so such a resource is *shallow*: its block is the one of the register, and of its targets
only the addresses count. The register also has the *form* of the targets, which names them all. If
it is not that of the plan, `unclear` says so, and the run reads the resource on its own. No I/O.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pic.core import names
from pic.core.ingress import Ingress
from pic.core.model import (
    HttpConfig,
    LiveResource,
    Resource,
    Snapshot,
    Spec,
    Target,
    TunnelRef,
)
from pic.core.published import Detail, DetailedTarget, PublicResource, PublicTarget, Published
from pic.core.register import HostEntry
from pic.planning import hosts, routes
from pic.planning.changes import differences
from pic.planning.forms import form
from pic.planning.memory import Memory

_UNKNOWN_SITE = "#"
_PROTOCOL = "http"


@dataclass(frozen=True, slots=True)
class Markers:
    """How the niceIds begin of the resources that pic made.

    Attributes:
        own: Of those of this stack.
        earlier: Of those of the stack in `pic:adoptFrom`; empty if it has none.
        any: Of those of any stack.
    """

    own: str
    earlier: str = ""
    any: str = "pic-"


def with_live(snapshot: Snapshot, memory: Memory, markers: Markers) -> Snapshot:
    """Return a snapshot whose live resources include those in Pangolin."""
    objects = tuple(live for live in snapshot.live if not live.published)
    if snapshot.published is None:
        return replace(snapshot, live=objects)
    conversion = _Conversion(snapshot, snapshot.published, memory, markers)
    return replace(snapshot, live=(*objects, *conversion.live()))


def unclear(
    snapshot: Snapshot, planned: Iterable[Resource], memory: Memory, *, everything: bool
) -> tuple[int, ...]:
    """Return the ids of our resources that have to be read on their own, sorted.

    Args:
        snapshot: With the live resources.
        planned: What should exist, after the guard has judged it.
        memory: What pic remembers of the hosts.
        everything: Whether to read all of ours, for a comparison that trusts nothing.
    """
    by_key = {live.key: live for live in snapshot.live if live.published and live.shallow}
    if everything:
        ours = [live for live in by_key.values() if live.labels]
        return tuple(sorted(live.published for live in ours))
    return tuple(
        sorted(
            live.published
            for resource in planned
            if (live := by_key.get(resource.key)) and _is_unclear(resource, live, memory)
        )
    )


def _is_unclear(resource: Resource, live: LiveResource, memory: Memory) -> bool:
    entry = memory.register.hosts.get(resource.host)
    # What is held is declared as it is, so all of it has to be known.
    is_known = entry is not None and not resource.held and entry.form == form(resource.spec)
    return not is_known or any(differences(resource, live))


@dataclass(frozen=True, slots=True)
class _Conversion:
    """Makes live resources of the rows of one organisation."""

    snapshot: Snapshot
    published: Published
    memory: Memory
    markers: Markers

    def live(self) -> Iterator[LiveResource]:
        ingresses = {ingress.key: ingress for ingress in self.snapshot.ingresses}
        claimants = _claimants(self.snapshot.ingresses)
        taken: set[tuple[str, str]] = set()
        for row in sorted(self.published.resources, key=self._order):
            stack = self._stack(row)
            if not stack:
                yield self._foreign(row)
                continue
            entry = self._entry(row.host, claimants)
            live = self._ours(row, entry, stack, ingresses)
            if live.key in taken:
                # A second resource of a host is no object that anything asks for.
                live = replace(live, name=f"{live.name}-{row.id}")
            taken.add(live.key)
            yield live

    def _order(self, row: PublicResource) -> tuple[bool, int]:
        return not row.nice_id.startswith(self.markers.own), row.id

    def _stack(self, row: PublicResource) -> str:
        """Return the label of the stack that made a resource; empty if this is unknown."""
        ownership = self.memory.ownership
        if row.nice_id.startswith(self.markers.own) or self._is_unfinished(row):
            return ownership.stack
        is_earlier = bool(self.markers.earlier) and row.nice_id.startswith(self.markers.earlier)
        return ownership.earlier if is_earlier else ""

    def _is_unfinished(self, row: PublicResource) -> bool:
        """Say whether a run of ours was killed that had made it, but not marked it."""
        # The register is written before. Without targets, it is not public.
        is_bare = row.name == row.host and not row.targets
        is_marked = row.nice_id.startswith(self.markers.any)
        return is_bare and not is_marked and row.host in self.memory.register.hosts

    def _entry(self, host: str, claimants: Mapping[str, Ingress]) -> HostEntry:
        entry = self.memory.register.hosts.get(host)
        if entry is not None and entry.namespace:
            return entry
        ingress = claimants.get(host)
        namespace, name = ingress.key if ingress else ("", "")
        made = names.object_name(namespace, name, host)
        return HostEntry(host, namespace, made, f"Ingress/{name}" if name else "")

    def _ours(
        self,
        row: PublicResource,
        entry: HostEntry,
        stack: str,
        ingresses: Mapping[tuple[str, str], Ingress],
    ) -> LiveResource:
        detail = self.published.details.get(row.id)
        ingress_name = entry.source.partition("/")[2]
        ingress = ingresses.get((entry.namespace, ingress_name))
        labels = names.labels(
            stack,
            entry.namespace,
            ingress_name,
            ingress.uid if ingress else "",
            self.memory.ownership.stack_id if stack == self.memory.ownership.stack else "",
        )
        return LiveResource(
            namespace=entry.namespace,
            name=entry.name,
            uid=str(row.id),
            host=row.host,
            labels=labels,
            spec=self._spec(row, entry, detail),
            published=row.id,
            shallow=detail is None,
        )

    def _spec(self, row: PublicResource, entry: HostEntry, detail: Detail | None) -> Spec:
        targets = [it for it in (detail.targets if detail else row.targets) if it.enabled]
        sites = {target.site for target in targets}
        return Spec(
            enabled=detail.enabled if detail else row.enabled,
            name=row.name,
            protocol=_PROTOCOL,
            tunnel=TunnelRef(site_name(self.published, sites.pop())) if len(sites) == 1 else None,
            http=self._http(row, entry, detail),
            targets=tuple(sorted(map(_target, targets), key=routes.order)),
        )

    def _http(self, row: PublicResource, entry: HostEntry, detail: Detail | None) -> HttpConfig:
        domains = {domain.id: domain.base for domain in self.published.domains}
        base = domains.get(detail.domain_id, "") if detail else ""
        base = base or hosts.suffix_of(row.host, tuple(domains.values())) or row.host
        # Pangolin creates each resource with a login, which nobody has asked for.
        is_made = bool(row.targets) or row.nice_id.startswith(self.markers.any)
        sso = (detail or row).sso if is_made else entry.sso
        return HttpConfig(
            base,
            hosts.subdomain(row.host, base),
            sso=sso,
            block_access=detail.block if detail else entry.block_access,
            domain_id=detail.domain_id if detail else None,
        )

    def _foreign(self, row: PublicResource) -> LiveResource:
        is_stack = row.nice_id.startswith(self.markers.any)
        # The label of another stack, whose name nothing here says.
        labels = {names.STACK_LABEL: row.nice_id} if is_stack else {}
        return LiveResource(
            "",
            row.nice_id,
            str(row.id),
            row.host,
            labels,
            spec=Spec(name=row.name),
            published=row.id,
            shallow=True,
        )


def site_name(published: Published, number: int) -> str:
    """Return the niceId of a site; its number if it does not exist any more."""
    known = (site.nice_id for site in published.sites if site.id == number)
    return next(known, f"{_UNKNOWN_SITE}{number}")


def site_id(published: Published, reference: str) -> int | None:
    """Return the id of the site that a live or planned tunnel names; None if it does not exist."""
    if reference.startswith(_UNKNOWN_SITE):
        return int(reference.removeprefix(_UNKNOWN_SITE))
    return next((site.id for site in published.sites if site.nice_id == reference), None)


def _target(target: PublicTarget | DetailedTarget) -> Target:
    if isinstance(target, PublicTarget):
        return Target(target.ip, target.port)
    # A target of the whole host has a default priority, which the plan does not name.
    paths = (target.path, target.match, target.priority) if target.path else (None, None, None)
    return Target(target.ip, target.port, target.method, *paths)


def _claimants(ingresses: Collection[Ingress]) -> Mapping[str, Ingress]:
    """Return the oldest Ingress of each host that a rule names."""
    oldest: dict[str, Ingress] = {}
    for ingress in sorted(ingresses, key=lambda it: it.age):
        for rule in ingress.rules:
            try:
                oldest.setdefault(hosts.normalise(rule.host), ingress)
            except hosts.UnusableHostError:
                continue
    return oldest
