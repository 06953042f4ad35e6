"""Defines what a plan depends on, and what plans a part of it."""

from dataclasses import dataclass
from typing import Protocol

from pic.core.model import Plan, Snapshot
from pic.planning.memory import Memory
from pic.planning.notice_log import NoticeLog
from pic.settings.parse import Settings


@dataclass(frozen=True, slots=True)
class PlanRequest:
    """Everything that a plan depends on.

    Attributes:
        stack: The value of the stack label of new objects, before it is shortened to fit a label:
            `<project>.<stack>`.
        memory: What pic remembers of its hosts, and so which live objects are ours.
    """

    snapshot: Snapshot
    settings: Settings
    stack: str
    memory: Memory


class Planner(Protocol):
    """Plans one part of what should exist; every target is a planner."""

    def plan(self, request: PlanRequest, notices: NoticeLog) -> Plan:
        """Return the resources and records of this part, and add its notices to the log."""
