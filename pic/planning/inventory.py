"""Looks live PangolinResources up by host, by owner and by name."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pic.core import names
from pic.core.ingress import Ingress
from pic.core.model import LiveResource, TunnelRef
from pic.planning.memory import Memory
from pic.planning.ownership import USABLE, OwnerKind


class Inventory:
    """Looks up live objects by host, owner and name.

    An object that Kubernetes is deleting counts as gone, if it was ours or could be taken over.
    Only `going`, `going_for` and `owned_by` return it, and `owner_kinds` does not have it.
    """

    def __init__(self, live: Iterable[LiveResource], memory: Memory) -> None:
        self._memory = memory
        self.adopt = memory.ownership.adopt
        self.owner_kinds: dict[tuple[str, str], OwnerKind] = {}
        self._ours: dict[str, list[LiveResource]] = defaultdict(list)
        self._owned: dict[tuple[str, str], list[LiveResource]] = defaultdict(list)
        self._earlier: dict[str, list[LiveResource]] = defaultdict(list)
        self._predecessors: dict[str, list[LiveResource]] = defaultdict(list)
        self._foreign: dict[str, list[LiveResource]] = defaultdict(list)
        self._going: dict[str, list[LiveResource]] = defaultdict(list)
        for resource in sorted(live, key=lambda resource: resource.key):
            kind = memory.kind_of(resource)
            self._add(memory.as_made(resource) if kind in USABLE else resource, kind)

    def _add(self, live: LiveResource, kind: OwnerKind) -> None:
        if live.going and (kind in USABLE or (self.adopt and kind is OwnerKind.PREDECESSOR)):
            self._going[live.host].append(live)
            self._add_owners(live)
            return
        self.owner_kinds[live.key] = kind
        if kind in (OwnerKind.OURS, OwnerKind.STRIPPED):
            self._ours[live.host].append(live)
            self._add_owners(live)
        elif kind is OwnerKind.EARLIER:
            self._earlier[live.host].append(live)
            self._add_owners(live)
        elif kind is OwnerKind.PREDECESSOR:
            self._predecessors[live.host].append(live)
        else:
            self._foreign[live.host].append(live)

    def _add_owners(self, live: LiveResource) -> None:
        if not live.host:
            return
        # With pic:ownerReferences false, only the label names an owner: the oldest Ingress.
        owners = {names.label_value(owner.name) for owner in live.owners}
        for label in owners | {live.labels.get(names.NAME_LABEL, "")}:
            self._owned[live.namespace, label].append(live)

    @property
    def ours(self) -> tuple[LiveResource, ...]:
        """Every live object of ours, by namespace and name."""
        return _by_key(self._ours)

    @property
    def earlier(self) -> tuple[LiveResource, ...]:
        """Every live object of the earlier stack, by namespace and name."""
        return _by_key(self._earlier)

    @property
    def going(self) -> tuple[LiveResource, ...]:
        """Every object of ours that Kubernetes is deleting, by namespace and name."""
        return _by_key(self._going)

    def going_for(self, host: str) -> list[LiveResource]:
        """Return the objects of ours for a host that Kubernetes is deleting."""
        return self._going.get(host, [])

    def remembered_tunnel(self, host: str, namespace: str) -> TunnelRef | None:
        """Return the tunnel that a host of a namespace has in the register, or None."""
        entry = self._memory.entry(host)
        if entry is None or entry.namespace != namespace or not entry.tunnel:
            return None
        tunnel_namespace, _, name = entry.tunnel.partition("/")
        return TunnelRef(name, None if tunnel_namespace == namespace else tunnel_namespace)

    def ours_for(self, host: str) -> list[LiveResource]:
        """Return our live objects for a host."""
        return self._ours.get(host, [])

    def owned_by(self, ingress: tuple[str, str]) -> list[LiveResource]:
        """Return the live objects that an Ingress owns, ours and those of the earlier stack.

        Args:
            ingress: Its namespace and name.
        """
        namespace, name = ingress
        return self._owned.get((namespace, names.label_value(name)), [])

    def blocking(self, host: str, adopted: LiveResource | None) -> LiveResource | None:
        """Return an object for a host that pic may not change, so that it blocks the host, or None.

        Args:
            host: The public host.
            adopted: The object that the plan takes over for this host, if any.
        """
        predecessors = () if self.adopt else self.predecessors_for(host)
        foreign = [*self._foreign.get(host, ()), *predecessors]
        return next(iter(foreign), None) or self.unadopted_for(host, adopted)

    def predecessors_for(self, host: str) -> list[LiveResource]:
        """Return the objects of the predecessor for a host."""
        return self._predecessors.get(host, [])

    def adoptable(self, host: str, claimants: Iterable[Ingress]) -> list[LiveResource]:
        """Return the objects for a host that may be taken over.

        An object of the earlier stack need only be in a claimant's namespace, like our own. The
        labels of the predecessor prove less, so its object must name a claimant as its owner.
        """
        owners = {(ingress.namespace, ingress.uid) for ingress in claimants}
        namespaces = {namespace for namespace, _ in owners}
        earlier = [live for live in self._earlier.get(host, ()) if live.namespace in namespaces]
        if not self.adopt:
            return earlier
        return earlier + [
            live
            for live in self.predecessors_for(host)
            if (live.namespace, live.labels[names.UID_LABEL]) in owners
        ]

    def taken_over(self, host: str, key: tuple[str, str]) -> list[LiveResource]:
        """Return the object of the earlier stack or of the predecessor that a plan takes over.

        Args:
            host: The planned host.
            key: Namespace and name of the planned object.
        """
        candidates = [*self._earlier.get(host, ()), *self.predecessors_for(host)]
        return [live for live in candidates if live.key == key]

    def unadopted_for(self, host: str, adopted: LiveResource | None) -> LiveResource | None:
        """Return an object for a host that should be taken over but is not the adopted one."""
        predecessors = self.predecessors_for(host) if self.adopt else []
        candidates = [*self._earlier.get(host, ()), *predecessors]
        return next((live for live in candidates if live != adopted), None)


def _by_key(by_host: Mapping[str, list[LiveResource]]) -> tuple[LiveResource, ...]:
    lives = (live for same_host in by_host.values() for live in same_host)
    return tuple(sorted(lives, key=lambda live: live.key))
