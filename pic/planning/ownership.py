"""Decides from its labels who owns a live PangolinResource.

The stack label and the stack id decide. An object that lost its labels may still be ours while pic
is among its field managers, which the API server records in `metadata.managedFields`. Anyone who
may write objects can write both, so `pic.planning.memory` also asks the register.
"""

from dataclasses import dataclass
from enum import StrEnum

from pic.core import names
from pic.core.model import LiveResource


class OwnerKind(StrEnum):
    """Who owns a live object.

    STRIPPED is ours but lost its labels. PREDECESSOR belongs to the Go controller, whose labels pic
    uses too. EARLIER belongs to the stack in `pic:adoptFrom`, whose objects this one takes over.
    STRANGER bears our labels, but pic did not make it. FOREIGN belongs to another client.
    """

    OURS = "ours"
    STRIPPED = "stripped"
    EARLIER = "earlier stack"
    OTHER_STACK = "other stack"
    PREDECESSOR = "predecessor"
    STRANGER = "stranger"
    FOREIGN = "foreign"


# An object of these kinds is ours, or becomes ours.
USABLE = frozenset({OwnerKind.OURS, OwnerKind.STRIPPED, OwnerKind.EARLIER})


@dataclass(frozen=True, slots=True)
class Ownership:
    """The rule that decides who owns an object.

    Attributes:
        stack: The value of our stack label; if it is empty, the objects of all stacks are ours.
        adopt: Whether objects of the predecessor may be taken over.
        earlier: The stack label of the objects to take over; empty if no stack is taken over.
        stack_id: The id of our stack; empty if it has none.
    """

    stack: str
    adopt: bool = False
    earlier: str = ""
    stack_id: str = ""

    def of(self, live: LiveResource) -> OwnerKind:
        """Return who owns an object."""
        # The label comes before the field manager, since pic is the manager in every stack.
        label = live.labels.get(names.STACK_LABEL)
        if label is not None:
            return self._of_stack(label, live.labels.get(names.STACK_ID_LABEL, ""))
        return OwnerKind.STRIPPED if live.managed else self.without_manager(live)

    def without_manager(self, live: LiveResource) -> OwnerKind:
        """Return who owns an object without a stack label, whatever its field managers are."""
        if all(key in live.labels for key in names.SEED_LABELS):
            return OwnerKind.PREDECESSOR
        return OwnerKind.FOREIGN

    def could_have_made(self, live: LiveResource) -> bool:
        """Say whether an object with our labels is what pic would write for its Ingress."""
        owner = live.owners[0] if live.owners else None
        label = live.labels.get(names.NAME_LABEL, "")
        # With pic:ownerReferences false, only the labels name the owner.
        uid = live.labels.get(names.UID_LABEL, "")
        name = names.object_name(live.namespace, owner.name if owner else label, live.host)
        return (
            live.labels.get(names.STACK_ID_LABEL, "") == self.stack_id
            and bool(uid)
            and (owner is None or names.label_value(owner.uid) == uid)
            and live.name == name
        )

    def _of_stack(self, label: str, stack_id: str) -> OwnerKind:
        if not self.stack:
            return OwnerKind.OURS
        if self.stack == label:
            # Objects of earlier releases bear no id.
            is_ours = not stack_id or not self.stack_id or stack_id == self.stack_id
            return OwnerKind.OURS if is_ours else OwnerKind.OTHER_STACK
        # Without pic:adoptFrom, `earlier` is empty. An empty label must not match it.
        return OwnerKind.EARLIER if label and label == self.earlier else OwnerKind.OTHER_STACK
