"""Decide what should exist, from what was seen. No I/O."""

from pic.core import names
from pic.core.model import Plan, Resource, Snapshot
from pic.core.notices import Notice, Reason, Ref
from pic.planning import dns_records, merge
from pic.planning.backends import Resolver
from pic.planning.claims import Claims, settle
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Inventory, Ownership
from pic.planning.selection import managed
from pic.planning.tunnels import Tunnels
from pic.settings.parse import Settings, TargetName


def build(snapshot: Snapshot, settings: Settings, stack: str, ownership: Ownership) -> Plan:
    """Return the plan: one resource for each public host, one record for each DNS name.

    Args:
        snapshot: What was seen.
        settings: What the platform team decided.
        stack: The value of the stack label for what is declared, `<project>.<stack>`.
        ownership: How live objects of ours are told from others.
    """
    notices = NoticeLog()
    for unreadable in snapshot.unreadable:
        about = Ref(unreadable.kind, unreadable.namespace, unreadable.name)
        notices.put(Notice(Reason.INVALID_OBJECT, about, unreadable.problem))
    resources: tuple[Resource, ...] = ()
    if TargetName.PANGOLIN in settings.targets:
        resources = _resources(snapshot, settings, names.label_value(stack), ownership, notices)
    found = dns_records.plan(snapshot, settings, notices)
    return Plan(resources, found, notices.sorted())


def _resources(
    snapshot: Snapshot, settings: Settings, stack: str, ownership: Ownership, notices: NoticeLog
) -> tuple[Resource, ...]:
    inventory = Inventory(snapshot.live, ownership)
    claims = Claims(Tunnels(snapshot, settings), inventory, settings, notices)
    ours = managed(snapshot.ingresses, snapshot.classes, settings, notices)
    asked = [claim for each in ours for claim in claims.of(each)]
    asked += [claim for each in snapshot.unreadable for claim in claims.of_unreadable(each)]
    merger = merge.Merger(
        _resolver(snapshot, settings), inventory, snapshot.schema, settings, stack, notices
    )
    contests = settle(asked, inventory, notices)
    found = tuple(filter(None, map(merger.resource, contests)))
    for notice in (
        *merge.stripped_notices(inventory, found),
        *merge.left_notices(inventory, found),
    ):
        notices.put(notice)
    return found


def _resolver(snapshot: Snapshot, settings: Settings) -> Resolver:
    if snapshot.services is None:
        return Resolver(None, settings)
    return Resolver({(each.namespace, each.name): each for each in snapshot.services}, settings)
