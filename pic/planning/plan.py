"""Decides what should exist: combines the parts that each target plans into one plan.

Planning is a pure function of its request: it reads no clock and does no I/O. So the same request
gives the same plan, byte for byte, and one plan serves the preview, the guard and the run (ADR 1).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from pic.core.model import Plan, Snapshot
from pic.core.notices import Notice, Reason, Ref
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Everything that a plan depends on.

    Attributes:
        stack: The value of the stack label of new objects, before it is shortened to fit a label:
            `<project>.<stack>`.
        ownership: Which live objects are ours.
    """

    snapshot: Snapshot
    settings: Settings
    stack: str
    ownership: Ownership


class Planner(Protocol):
    """Plans one part of what should exist; every target is a planner."""

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return the resources and records of this part, and add its notices to the log."""


def build(request: PlanRequest, planners: Iterable[Planner]) -> Plan:
    """Return one plan with the parts of all planners and their notices, sorted."""
    notices = NoticeLog()
    for unreadable in request.snapshot.unreadable:
        about = Ref(unreadable.kind, unreadable.namespace, unreadable.name)
        notices.put(Notice(Reason.INVALID_OBJECT, about, unreadable.problem))
    for namespace in request.snapshot.namespaces or ():
        if not namespace.exists:
            about = Ref("Namespace", "", namespace.name)
            message = "pic:namespaces lists it, but the cluster does not have it"
            notices.put(Notice(Reason.NAMESPACE_NOT_FOUND, about, message))
    parts = [planner.plan(request, notices) for planner in planners]
    return Plan(
        resources=tuple(resource for part in parts for resource in part.resources),
        records=tuple(record for part in parts for record in part.records),
        notices=notices.sorted(),
    )
