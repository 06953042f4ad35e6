"""Reports that Pi-hole has lost records that pic made."""

from collections.abc import Iterable

from pic.core.model import Record, record_id
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import RegisterStatus
from pic.planning.notice_log import NoticeLog
from pic.planning.request import PlanRequest


def report(request: PlanRequest, planned: Iterable[Record], notices: NoticeLog) -> None:
    """Report the planned records that the register has and Pi-hole does not.

    A Pi-hole whose pihole.toml is mounted as a file accepts each write and loses it when it starts
    again: it replaces the file, which a mount does not allow. No answer of its API shows that.
    """
    memory, snapshot = request.memory, request.snapshot
    if snapshot.records is None or memory.stored.status is not RegisterStatus.READ:
        return
    live = {record_id(record) for record in snapshot.records}
    entries = memory.stored.records
    remembered = [record_id(it) for it in planned if record_id(it) in entries]
    lost = sorted(name for name in remembered if name not in live and not entries[name].gone)
    if lost:
        shown = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
        message = f"it lacks {len(lost)} of the records that pic made: {shown}"
        about = Ref("Pi-hole", "", request.settings.pihole_url)
        notices.put(Notice(Reason.RECORDS_LOST, about, message))
