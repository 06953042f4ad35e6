"""Says what happens to a planned DNS record where Pi-hole has one that this stack did not make."""

from collections.abc import Sequence
from typing import assert_never

from pic.core.model import LiveRecord, Maker, Record
from pic.core.notices import Reason
from pic.planning.notice_log import Problem
from pic.settings.field import TakeOver
from pic.settings.parse import Settings

_MADE = {
    Maker.UNKNOWN: "which pic did not make",
    Maker.OTHER_STACK: "which pic made for another stack of this cluster",
    Maker.OTHER_CLUSTER: "which pic made in another cluster",
}


def may_take_over(mode: TakeOver, maker: Maker, *, alone: bool) -> bool:
    """Say whether `pic:piholeTakeOver` lets pic replace a record of another owner.

    Args:
        mode: The setting.
        maker: Which other pic made it.
        alone: Whether its line has no other name: replacing the line would change all of them.
    """
    match mode:
        case TakeOver.NONE:
            return False
        case TakeOver.PIC:
            return alone and maker is not Maker.UNKNOWN
        case TakeOver.ALL:
            return alone and maker is not Maker.OTHER_STACK
        case _:
            assert_never(mode)


def problem(
    record: Record,
    others: Sequence[LiveRecord],
    settings: Settings,
    *,
    ours: bool,
    shadowed: bool = False,
) -> Problem:
    """Return what to report where other owners have a record of the same host and family.

    Args:
        record: The planned record.
        others: The records of others, sorted by address.
        settings: Say what pic may take over.
        ours: Whether we have a record too.
        shadowed: Whether Pi-hole answers with neither of them.
    """
    addresses = ", ".join(other.ip for other in others)
    # A record of another pic is the one to look after: with it, two programs want one host.
    makers = [Maker.OTHER_STACK if other.legacy else other.maker for other in others]
    maker = max(makers)
    message = f"Pi-hole has {record.host} with {addresses}, {_MADE[maker]}"
    if any(other.ip == record.ip for other in others):
        return Problem(Reason.RECORD_EXISTS, f"{message} and leaves unchanged", record.host)
    message = f"{message}, but the Ingress requests {record.ip}"
    reason, effect = Reason.RECORD_CONFLICT, "pic replaces the other record"
    mode = settings.pihole_take_over
    if ours:
        effect = "Pi-hole has both" if shadowed else "Pi-hole answers with both"
    elif all(
        may_take_over(mode, its_maker, alone=other.alone)
        for its_maker, other in zip(makers, others, strict=True)
    ):
        reason = Reason.RECORD_TAKEN_OVER
    elif mode is TakeOver.NONE and maker is Maker.UNKNOWN:
        effect = "remove the other record, or set pic:piholeTakeOver"
    elif mode is TakeOver.NONE:
        effect = "remove it there, or set pic:piholeTakeOver to pic"
    else:
        effect = (
            f"the other record stays, because pic:piholeTakeOver {mode.name.lower()} does not cover"
            " it, or its line has more names"
        )
    return Problem(reason, f"{message}: {effect}", record.host)
