"""The PangolinResources that exist, told apart by whose they are. No I/O."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pic.core import names
from pic.core.model import Ingress, LiveResource


class OwnerKind(StrEnum):
    """To whom a live object belongs.

    STRIPPED is ours without its labels; PREDECESSOR is of the Go controller whose labels we share;
    EARLIER is of the stack whose objects this one takes over, by `pic:adoptFrom`.
    """

    OURS = "ours"
    STRIPPED = "stripped"
    EARLIER = "earlier stack"
    OTHER_STACK = "other stack"
    PREDECESSOR = "predecessor"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Ownership:
    """How objects are told apart.

    Attributes:
        stack: The value of our stack label; empty takes every stack's objects as ours.
        adopt: Objects of the predecessor may be taken over.
        earlier: The label's value of the stack whose objects are taken over; empty is none.
    """

    stack: str
    adopt: bool = False
    earlier: str = ""

    def of(self, live: LiveResource) -> OwnerKind:
        """Say whose an object is."""
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
        return OwnerKind.EARLIER if label and label == self.earlier else OwnerKind.OTHER_STACK


class Inventory:
    """Looks up live objects by host, owner and name."""

    def __init__(self, live: Iterable[LiveResource], ownership: Ownership) -> None:
        self.adopt = ownership.adopt
        self.whose: dict[tuple[str, str], OwnerKind] = {}
        self._ours: dict[str, list[LiveResource]] = defaultdict(list)
        self._owned: dict[tuple[str, str], list[LiveResource]] = defaultdict(list)
        self._earlier: dict[str, list[LiveResource]] = defaultdict(list)
        self._predecessors: dict[str, list[LiveResource]] = defaultdict(list)
        self._foreign: dict[str, list[LiveResource]] = defaultdict(list)
        for each in sorted(live, key=lambda found: found.key):
            self._sort_in(each, ownership.of(each))

    def _sort_in(self, live: LiveResource, whose: OwnerKind) -> None:
        self.whose[live.key] = whose
        if whose in (OwnerKind.OURS, OwnerKind.STRIPPED):
            self._ours[live.host].append(live)
            self._note_owners(live)
        elif whose is OwnerKind.EARLIER:
            self._earlier[live.host].append(live)
            self._note_owners(live)
        elif whose is OwnerKind.PREDECESSOR:
            self._predecessors[live.host].append(live)
        else:
            self._foreign[live.host].append(live)

    def _note_owners(self, live: LiveResource) -> None:
        if not live.host:
            return
        # The label names the oldest owner where ownerReferences are left out.
        found = {names.label_value(owner.name) for owner in live.owners}
        for label in found | {live.labels.get(names.NAME_LABEL, "")}:
            self._owned[live.namespace, label].append(live)

    @property
    def ours(self) -> tuple[LiveResource, ...]:
        """Every live object of ours, by namespace and name."""
        found = (live for each in self._ours.values() for live in each)
        return tuple(sorted(found, key=lambda live: live.key))

    @property
    def earlier(self) -> tuple[LiveResource, ...]:
        """Every live object of the earlier stack, by namespace and name."""
        found = (live for each in self._earlier.values() for live in each)
        return tuple(sorted(found, key=lambda live: live.key))

    def ours_for(self, host: str) -> list[LiveResource]:
        """Return our live objects for a host."""
        return self._ours.get(host, [])

    def owned_by(self, ingress: tuple[str, str]) -> list[LiveResource]:
        """Return live objects, ours or ours to take over, that an Ingress owns.

        Args:
            ingress: Its namespace and name.
        """
        namespace, name = ingress
        return self._owned.get((namespace, names.label_value(name)), [])

    def foreign_for(self, host: str) -> LiveResource | None:
        """Return an object of somebody else for a host."""
        return next(iter(self._foreign.get(host, ())), None)

    def predecessors_for(self, host: str) -> list[LiveResource]:
        """Return objects of the predecessor for a host."""
        return self._predecessors.get(host, [])

    def adoptable(self, host: str, claimants: Iterable[Ingress]) -> list[LiveResource]:
        """Return what may be taken over for a host.

        Of an earlier stack it is what any claimant's namespace has, as with our own; of the
        predecessor, whose label is no proof, only what it made for a claimant.
        """
        owners = {(each.namespace, each.uid) for each in claimants}
        places = {namespace for namespace, _ in owners}
        found = [live for live in self._earlier.get(host, ()) if live.namespace in places]
        if not self.adopt:
            return found
        return found + [
            live
            for live in self.predecessors_for(host)
            if (live.namespace, live.labels[names.UID_LABEL]) in owners
        ]

    def left_for(self, host: str, adopted: LiveResource | None) -> LiveResource | None:
        """Return what is to be taken over for a host and cannot be, besides what is adopted."""
        mine = self.predecessors_for(host) if self.adopt else []
        found = [*self._earlier.get(host, ()), *mine]
        return next((each for each in found if each != adopted), None)
