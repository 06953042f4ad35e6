"""Decides what should exist: combines the parts that each target plans into one plan.

Planning is a pure function of its request: it reads no clock and does no I/O. So the same request
gives the same plan, byte for byte, and one plan serves the preview, the guard and the run (ADR 1).
"""

from collections.abc import Iterable
from dataclasses import replace

from pic.core.model import Plan
from pic.core.notices import Notice, Reason, Ref
from pic.core.sources import Source
from pic.planning import accounting, edits, file_notices, guarding, register_notices
from pic.planning.notice_log import NoticeLog
from pic.planning.request import Planner, PlanRequest
from pic.planning.trail import FullTrail, Trail


def build(request: PlanRequest, planners: Iterable[Planner], trail: Trail | None = None) -> Plan:
    """Return one plan with the parts of all planners and their notices, sorted.

    Without a stack, the plan is only a translation of files, so no guard judges it.

    Args:
        request: What the plan depends on.
        planners: What plans each part.
        trail: Gets the decisions. Only with a `FullTrail` does the plan account for every Ingress.
    """
    notices = NoticeLog(trail)
    for unreadable in request.snapshot.unreadable:
        about = Ref(unreadable.kind, unreadable.namespace, unreadable.name)
        notices.put(Notice(Reason.INVALID_OBJECT, about, unreadable.problem))
    for namespace in request.snapshot.namespaces or ():
        if not namespace.exists:
            about = Ref("Namespace", "", namespace.name)
            message = "pic:namespaces lists it, but the cluster does not have it"
            notices.put(Notice(Reason.NAMESPACE_NOT_FOUND, about, message))
    for notice in file_notices.notices(request.snapshot.files):
        notices.put(notice)
    parts = [planner.plan(request, notices) for planner in planners]
    plan = Plan(
        resources=tuple(resource for part in parts for resource in part.resources),
        records=tuple(record for part in parts for record in part.records),
    )
    if request.memory.ownership.stack:
        plan = guarding.judge(request, plan, notices)
        register_notices.add(request, notices)
    for notice in edits.notices(request.snapshot.live, plan.resources):
        notices.put(notice)
    kept = notices.trail
    return replace(
        plan,
        notices=notices.sorted(),
        sources=_sources(request, plan, kept),
        departures={key: str(why) for key, why in kept.departures.items()},
        weakenings={host: str(why) for host, why in kept.weakenings.items()},
    )


def _sources(request: PlanRequest, plan: Plan, trail: Trail) -> tuple[Source, ...]:
    # Without an answer of Pangolin itself, no Ingress was looked at.
    if not isinstance(trail, FullTrail) or request.snapshot.silent:
        return ()
    return accounting.sources(request.snapshot, plan, trail)
