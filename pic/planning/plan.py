"""Decides what should exist: combines the parts that each target plans into one plan.

Planning is a function of its request. It reads nothing and knows no time, so the same request gives
the same plan, byte for byte.
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
        stack: The stack whose label new objects get, `<project>.<stack>`.
        ownership: How our live objects are told from others.
    """

    snapshot: Snapshot
    settings: Settings
    stack: str
    ownership: Ownership


class Planner(Protocol):
    """Plans one part of what should exist."""

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return the part, without notices; those go to the log."""


def build(request: PlanRequest, planners: Iterable[Planner]) -> Plan:
    """Return the plan of all planners, with the notices of all of them sorted."""
    notices = NoticeLog()
    for unreadable in request.snapshot.unreadable:
        about = Ref(unreadable.kind, unreadable.namespace, unreadable.name)
        notices.put(Notice(Reason.INVALID_OBJECT, about, unreadable.problem))
    parts = [planner.plan(request, notices) for planner in planners]
    return Plan(
        resources=tuple(resource for part in parts for resource in part.resources),
        records=tuple(record for part in parts for record in part.records),
        notices=notices.sorted(),
    )
