"""Decides who owns each live PangolinResource, and looks live objects up.

The stack label decides. An object that lost its labels is still ours while pic is among its field
managers, which the API server records in `metadata.managedFields`. No state is needed for this, so
a lost state does no harm (docs/lost-state.md).
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pic.core import names
from pic.core.ingress import Ingress
from pic.core.model import LiveResource


class OwnerKind(StrEnum):
    """Who owns a live object.

    STRIPPED is ours but lost its labels. PREDECESSOR belongs to the Go controller, whose labels pic
    uses too. EARLIER belongs to the stack in `pic:adoptFrom`, whose objects this one takes over.
    FOREIGN belongs to another client.
    """

    OURS = "ours"
    STRIPPED = "stripped"
    EARLIER = "earlier stack"
    OTHER_STACK = "other stack"
    PREDECESSOR = "predecessor"
    FOREIGN = "foreign"


# An object of these kinds is ours, or becomes ours.
_USABLE = frozenset({OwnerKind.OURS, OwnerKind.STRIPPED, OwnerKind.EARLIER})


@dataclass(frozen=True, slots=True)
class Ownership:
    """The rule that decides who owns an object.

    Attributes:
        stack: The value of our stack label; if it is empty, the objects of all stacks are ours.
        adopt: Whether objects of the predecessor may be taken over.
        earlier: The stack label of the objects to take over; empty if no stack is taken over.
    """

    stack: str
    adopt: bool = False
    earlier: str = ""

    def of(self, live: LiveResource) -> OwnerKind:
        """Return who owns an object."""
        # The label comes before the field manager, since pic is the manager in every stack.
        label = live.labels.get(names.STACK_LABEL)
        if label is not None:
            return self._of_stack(label)
        if live.managed:
            return OwnerKind.STRIPPED
        if all(key in live.labels for key in names.SEED_LABELS):
            return OwnerKind.PREDECESSOR
        return OwnerKind.FOREIGN

    def _of_stack(self, label: str) -> OwnerKind:
        if self.stack in ("", label):
            return OwnerKind.OURS
        # Without pic:adoptFrom, `earlier` is empty. An empty label must not match it.
        return OwnerKind.EARLIER if label and label == self.earlier else OwnerKind.OTHER_STACK


class Inventory:
    """Looks up live objects by host, owner and name.

    An object that Kubernetes is deleting counts as gone, if it was ours or could be taken over.
    Only `going`, `going_for` and `owned_by` return it, and `owner_kinds` does not have it.
    """

    def __init__(self, live: Iterable[LiveResource], ownership: Ownership) -> None:
        self.adopt = ownership.adopt
        self.owner_kinds: dict[tuple[str, str], OwnerKind] = {}
        self._ours: dict[str, list[LiveResource]] = defaultdict(list)
        self._owned: dict[tuple[str, str], list[LiveResource]] = defaultdict(list)
        self._earlier: dict[str, list[LiveResource]] = defaultdict(list)
        self._predecessors: dict[str, list[LiveResource]] = defaultdict(list)
        self._foreign: dict[str, list[LiveResource]] = defaultdict(list)
        self._going: dict[str, list[LiveResource]] = defaultdict(list)
        for resource in sorted(live, key=lambda resource: resource.key):
            self._add(resource, ownership.of(resource))

    def _add(self, live: LiveResource, kind: OwnerKind) -> None:
        if live.going and (kind in _USABLE or (self.adopt and kind is OwnerKind.PREDECESSOR)):
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

    def foreign_for(self, host: str) -> LiveResource | None:
        """Return an object for a host that belongs to another stack or another client, or None."""
        return next(iter(self._foreign.get(host, ())), None)

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

    def unadopted_for(self, host: str, adopted: LiveResource | None) -> LiveResource | None:
        """Return an object for a host that should be taken over but is not the adopted one."""
        predecessors = self.predecessors_for(host) if self.adopt else []
        candidates = [*self._earlier.get(host, ()), *predecessors]
        return next((live for live in candidates if live != adopted), None)


def _by_key(by_host: Mapping[str, list[LiveResource]]) -> tuple[LiveResource, ...]:
    lives = (live for same_host in by_host.values() for live in same_host)
    return tuple(sorted(lives, key=lambda live: live.key))
