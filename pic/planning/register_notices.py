"""Reports what is wrong with the register or with the id of the stack."""

from collections.abc import Iterator

from pic.core.notices import Notice, Reason, Ref
from pic.core.register import RegisterStatus
from pic.planning.notice_log import NoticeLog
from pic.planning.ownership import OwnerKind
from pic.planning.request import PlanRequest
from pic.settings.kinds import register_namespace


def add(request: PlanRequest, notices: NoticeLog) -> None:
    """Add the notices about the register of a run on the cluster."""
    # Files have no register, and no run on them writes one.
    if request.snapshot.now:
        for notice in (*_missing(request), *_stale(request), *_without_id(request)):
            notices.put(notice)


def _missing(request: PlanRequest) -> Iterator[Notice]:
    memory, namespace = request.memory, register_namespace(request.settings)
    match memory.stored.status:
        case RegisterStatus.UNSET:
            yield _notice(
                Reason.REGISTER_MISSING,
                "no setting names its namespace, so pic remembers nothing: run pic init, or set"
                " pic:registerNamespace",
            )
        case RegisterStatus.FORBIDDEN:
            yield _notice(
                Reason.REGISTER_MISSING,
                f"pic may not list ConfigMaps in namespace {namespace}, so it remembers nothing:"
                " grant it (docs/permissions.md)",
            )
        case RegisterStatus.ABSENT if memory.strict:
            yield _notice(
                Reason.REGISTER_MISSING,
                f"it is gone from namespace {namespace}: pic up writes it again from the state and"
                " from what is live",
            )
        # A new stack begins its register with its first host, which is worth no notice.
        case RegisterStatus.ABSENT if any(
            memory.kind_of(live) is OwnerKind.OURS for live in request.snapshot.live
        ):
            yield _notice(
                Reason.REGISTER_BEGUN, f"pic up writes it for the first time, in {namespace}"
            )
        case _:
            return


def _stale(request: PlanRequest) -> Iterator[Notice]:
    stored, state = request.memory.stored, request.snapshot.state
    serials = state.serials if state else {}
    stale = {
        digit
        for digit, serial in serials.items()
        if digit in stored.buckets and stored.buckets[digit].serial < serial
    }
    for digit in sorted(stale | set(stored.unreadable)):
        yield _notice(
            Reason.REGISTER_STALE,
            f"bucket {digit} is not the one that pic wrote last: pic completes it from the state"
            " and from what is live",
        )


def _without_id(request: PlanRequest) -> Iterator[Notice]:
    if not request.settings.stack_id and request.memory.stored.status is not RegisterStatus.UNSET:
        setting = Ref("Setting", "", "stackId")
        message = (
            "it is not set, so pic cannot tell this stack from another with its name: run pic init"
        )
        yield Notice(Reason.STACK_ID_MISSING, setting, message)


def _notice(reason: Reason, message: str) -> Notice:
    return Notice(reason, Ref("Register", "", "register"), message)
