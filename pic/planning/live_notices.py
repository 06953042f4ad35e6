"""Reports live objects that lost their labels, or that a plan leaves as they are."""

from collections.abc import Sequence

from pic.core.model import Resource
from pic.core.notices import Notice, Reason, Ref
from pic.planning.inventory import Inventory
from pic.planning.ownership import OwnerKind


def repaired_label_notices(inventory: Inventory, plan: Sequence[Resource]) -> list[Notice]:
    """Report the objects of ours that lost their labels, which the plan sets again."""
    return [
        Notice(
            Reason.LABELS_REPAIRED,
            Ref("PangolinResource", resource.namespace, resource.name),
            "another client removed its labels: pic sets them again",
            resource.host,
        )
        for resource in plan
        if inventory.owner_kinds.get(resource.key) is OwnerKind.STRIPPED
    ]


def left_behind_notices(inventory: Inventory, plan: Sequence[Resource]) -> list[Notice]:
    """Report the objects of the earlier stack that the plan does not take over."""
    planned = {resource.key for resource in plan}
    return [
        Notice(
            Reason.LEFT_BEHIND,
            Ref("PangolinResource", live.namespace, live.name),
            "it belongs to the stack in pic:adoptFrom, and no Ingress of this stack asks for it:"
            " pic leaves it unchanged",
            live.host or None,
        )
        for live in inventory.earlier
        if live.key not in planned
    ]
