"""The PangolinResources that exist, told apart by whose they are. No I/O."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pic import names
from pic.model import Ingress, LiveResource


class Whose(StrEnum):
    """To whom a live object belongs.

    STRIPPED is ours without its labels; PREDECESSOR is of the Go controller whose labels we share.
    """

    OURS = "ours"
    STRIPPED = "stripped"
    OTHER_STACK = "other stack"
    PREDECESSOR = "predecessor"
    FOREIGN = "foreign"


@dataclass(frozen=True, slots=True)
class Ownership:
    """How objects are told apart.

    Attributes:
        stack: The value of our stack label; empty takes every stack's objects as ours.
        adopt: Objects of the predecessor may be taken over.
    """

    stack: str
    adopt: bool = False

    def of(self, live: LiveResource) -> Whose:
        """Say whose an object is."""
        label = live.labels.get(names.STACK_LABEL)
        if label is not None:
            return Whose.OURS if self.stack in ("", label) else Whose.OTHER_STACK
        if live.managed:
            return Whose.STRIPPED
        if all(key in live.labels for key in names.SEED_LABELS):
            return Whose.PREDECESSOR
        return Whose.FOREIGN


class Inventory:
    """Looks up live objects by host, owner and name."""

    def __init__(self, live: Iterable[LiveResource], ownership: Ownership) -> None:
        self.adopt = ownership.adopt
        self.whose: dict[tuple[str, str], Whose] = {}
        self._ours: dict[str, list[LiveResource]] = defaultdict(list)
        self._owned: dict[tuple[str, str], list[LiveResource]] = defaultdict(list)
        self._predecessors: dict[str, list[LiveResource]] = defaultdict(list)
        self._foreign: dict[str, list[LiveResource]] = defaultdict(list)
        for each in sorted(live, key=lambda found: found.key):
            self._sort_in(each, ownership.of(each))

    def _sort_in(self, live: LiveResource, whose: Whose) -> None:
        self.whose[live.key] = whose
        if whose in (Whose.OURS, Whose.STRIPPED):
            self._ours[live.host].append(live)
            if live.host:
                self._note_owners(live)
        elif whose is Whose.PREDECESSOR:
            self._predecessors[live.host].append(live)
        else:
            self._foreign[live.host].append(live)

    def _note_owners(self, live: LiveResource) -> None:
        # The label names the oldest owner where ownerReferences are left out.
        found = {names.label_value(owner.name) for owner in live.owners}
        for label in found | {live.labels.get(names.NAME_LABEL, "")}:
            self._owned[live.namespace, label].append(live)

    @property
    def ours(self) -> tuple[LiveResource, ...]:
        """Every live object of ours, by namespace and name."""
        found = (live for each in self._ours.values() for live in each)
        return tuple(sorted(found, key=lambda live: live.key))

    def ours_for(self, host: str) -> list[LiveResource]:
        """Return our live objects for a host."""
        return self._ours.get(host, [])

    def owned_by(self, ingress: tuple[str, str]) -> list[LiveResource]:
        """Return our live objects that an Ingress, by namespace and name, owns."""
        namespace, name = ingress
        return self._owned.get((namespace, names.label_value(name)), [])

    def foreign_for(self, host: str) -> LiveResource | None:
        """Return an object of somebody else for a host."""
        return next(iter(self._foreign.get(host, ())), None)

    def predecessors_for(self, host: str) -> list[LiveResource]:
        """Return objects of the predecessor for a host."""
        return self._predecessors.get(host, [])

    def adoptable(self, host: str, claimants: Iterable[Ingress]) -> list[LiveResource]:
        """Return the predecessor's objects that may be adopted: same owner, same public host."""
        if not self.adopt:
            return []
        owners = {(each.namespace, each.uid) for each in claimants}
        return [
            live
            for live in self.predecessors_for(host)
            if (live.namespace, live.labels[names.UID_LABEL]) in owners
        ]
