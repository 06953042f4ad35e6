"""Says why a live host of ours is not planned any more, or loses its protection.

The Ingress that a live object names as its owner tells: it is gone, it does not count any more, it
does not get the host, or it has no rule for it.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial

from pic.core import names
from pic.core.ingress import Ingress
from pic.core.model import HttpConfig, LiveResource, Record, Resource, record_id
from pic.core.register import RecordEntry
from pic.core.sources import Ignored
from pic.planning import annotations, record_ownership
from pic.planning.inventory import Inventory
from pic.planning.request import PlanRequest
from pic.planning.trail import Key, Trail, Why, join

# The annotations that protect a host.
SSO, BLOCK = "sso", "block-access"
# Neither the register nor an object names a class.
OLD_CLASS = " (pic does not know which class it had)"
_BY_CLASS = frozenset({Ignored.OTHER_CLASS, Ignored.MISSPELT_CLASS, Ignored.NO_CLASS})


def record(
    request: PlanRequest, inventory: Inventory, planned: Sequence[Resource], trail: Trail
) -> None:
    """Record why live hosts are not planned, and why planned ones lose their protection."""
    hosts, ours = {resource.host: resource for resource in planned}, inventory.ours
    if gone := [live for live in ours if live.host not in hosts]:
        departures = _Departures(request, trail)
        trail.departures.update((live.key, departures.reason(live)) for live in gone)
    lost: dict[str, set[str]] = defaultdict(set)
    for live in (*ours, *inventory.going):
        if resource := hosts.get(live.host):
            for name in _lost(live.spec.http, resource.spec.http):
                lost[live.host].add(name)
    by_key = {ingress.key: ingress for ingress in request.snapshot.ingresses} if lost else {}
    for host, names_ in lost.items():
        trail.weakenings[host] = unasked(hosts[host], by_key, names_)


def record_of_records(request: PlanRequest, planned: Sequence[Record], trail: Trail) -> None:
    """Record why live DNS records of ours are not planned."""
    snapshot, ids = request.snapshot, {record_id(record) for record in planned}
    live = record_ownership.counted(snapshot.records or (), ids)
    if gone := [record for record in live if record_id(record) not in ids]:
        departures = _Departures(request, trail)
        for record in gone:
            entry = request.memory.record(record_id(record))
            trail.departures[record.key] = departures.record_reason(record.host, entry)


def _lost(live: HttpConfig, planned: HttpConfig) -> Iterator[str]:
    """Yield the annotations whose protection a host loses."""
    if live.sso and not planned.sso:
        yield SSO
    if live.block_access and not planned.block_access:
        yield BLOCK


class _Departures:
    """Looks up the owners of live objects and records."""

    def __init__(self, request: PlanRequest, trail: Trail) -> None:
        self._namespaces: Collection[str] = request.settings.namespaces
        self._trail = trail
        self._ingresses = {ingress.key: ingress for ingress in request.snapshot.ingresses}

    def reason(self, live: LiveResource) -> Why:
        """Return why a live object is not planned."""
        if outside := self._outside(live.namespace):
            return outside
        reasons = [
            self._reason(key, partial(self._change, key, live.host)) for key in _owners(live)
        ]
        return join(reasons) if reasons else Why("no Ingress asks for it")

    def record_reason(self, host: str, entry: RecordEntry | None) -> Why:
        """Return why a DNS record is not planned, of which the register may know the Ingress."""
        kind, _, name = entry.source.partition("/") if entry else ("", "", "")
        if entry is None or kind != "Ingress":
            return Why("no Ingress requests it")
        key = entry.namespace, name
        return self._outside(entry.namespace) or self._reason(
            key, partial(self._record_change, key, host)
        )

    def _outside(self, namespace: str) -> Why | None:
        if not self._namespaces or namespace in self._namespaces:
            return None
        return Why(f"pic:namespaces does not list {namespace}")

    def _reason(self, key: Key, change: Callable[[], str]) -> Why:
        name = f"Ingress {'/'.join(key)}"
        ingress = self._ingresses.get(key)
        return Why(f"{name} {change()}", ingress.origin) if ingress else Why(f"{name} is gone")

    def _change(self, key: Key, host: str) -> str:
        """Say what an Ingress has to do with a host that is not planned."""
        if stop := self._trail.ignored.get(key):
            before = OLD_CLASS if stop.reason in _BY_CLASS else ""
            return f"does not count: {stop.message}{before}"
        stop = self._trail.against(key, host)
        return f"does not get it: {stop.message}" if stop else "has no rule for it any more"

    def _record_change(self, key: Key, host: str) -> str:
        stop = self._trail.refused_records.get(key, {}).get(host)
        return f"does not get it: {stop.message}" if stop else "does not request it any more"


def _owners(live: LiveResource) -> list[Key]:
    if live.owners:
        return [(owner.namespace, owner.name) for owner in live.owners]
    # With pic:ownerReferences false, only the labels name an owner.
    name = live.labels.get(names.NAME_LABEL, "")
    return [(live.namespace, name)] if name else []


def unasked(resource: Resource, ingresses: Mapping[Key, Ingress], names_: Collection[str]) -> Why:
    """Return what the Ingresses of a host say about the protection that it loses.

    Without a text if none of them can be read.

    Args:
        resource: The host as it is planned.
        ingresses: All Ingresses, by namespace and name.
        names_: The annotations that ask for that protection: `SSO`, `BLOCK` or both.
    """
    keys = [(owner.namespace, owner.name) for owner in resource.owners]
    asking = [ingresses[key] for key in keys if key in ingresses]
    return join(_says(ingress, name) for name in sorted(names_, reverse=True) for ingress in asking)


def _says(ingress: Ingress, name: str) -> Why:
    key = f"{annotations.PREFIX}{name}"
    says = f"has no annotation {name}"
    if key in ingress.annotations:
        says = f"sets {name} to {str(ingress.annotations[key])[:20]}"
    return Why(f"Ingress {ingress.namespace}/{ingress.name} {says}", ingress.origin)
