"""Tests what would change in Pi-hole, and when the guard refuses it."""

from dataclasses import replace

import pytest

from pic.core.errors import RefusedError
from pic.core.model import LiveRecord, Plan, Record, Snapshot
from pic.planning import guard
from pic.planning.changes import Changes, between
from pic.planning.ownership import Ownership
from pic.planning.record_changes import RecordChanges, RecordUpdate
from pic.settings.parse import Settings
from tests.support.memories import forgetful

UNCHANGED = Changes("pic.prod", "cluster-1")
V4, V6 = "192.0.2.1", "2001:db8::1"


def wanted(host: str, ip: str = V4) -> Record:
    return Record(host, ip, ())


def live(host: str, ip: str = V4) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def compared(records: tuple[LiveRecord, ...] | None, *planned: Record) -> RecordChanges:
    snapshot = Snapshot("cluster-1", records=records)
    memory = forgetful(Ownership("pic.prod"))
    return between(snapshot, Plan(records=planned), "pic.prod", memory).records


def test_records_as_planned_do_not_change() -> None:
    changes = compared((live("a", V6), live("a")), wanted("a"), wanted("a", V6))

    assert changes == RecordChanges(live_count=2, planned_count=2, compared=True)
    assert not changes


def test_records_are_compared_by_host_and_family() -> None:
    records = (live("b", "192.0.2.9"), live("b", V6), live("gone", V6), live("gone"))

    changes = compared(records, wanted("new", V6), wanted("new"), wanted("b"))

    assert changes == RecordChanges(
        live_count=4,
        planned_count=3,
        created=(wanted("new"), wanted("new", V6)),
        updated=(RecordUpdate(wanted("b"), live("b", "192.0.2.9")),),
        removed=(live("b", V6), live("gone"), live("gone", V6)),
        compared=True,
    )


def test_24_a_record_that_is_unclear_is_updated_but_not_removed() -> None:
    unclear = [replace(live(host, "192.0.2.9"), legacy=True) for host in ("a", "b")]

    assert compared(tuple(unclear), wanted("a")) == RecordChanges(
        live_count=1,
        planned_count=1,
        updated=(RecordUpdate(wanted("a"), unclear[0]),),
        compared=True,
    )


def test_records_of_others_do_not_count_and_do_not_change() -> None:
    others = (LiveRecord("a", "192.0.2.9"), LiveRecord("b", V4))

    assert compared(others, wanted("a")) == RecordChanges(
        planned_count=1, created=(wanted("a"),), compared=True
    )


def test_an_old_address_that_an_interrupted_update_left_is_a_change() -> None:
    records = (live("a"), live("a", "192.0.2.9"))

    changes = compared(records, wanted("a"))

    assert changes.updated == (RecordUpdate(wanted("a"), live("a", "192.0.2.9")),)
    assert changes.created == ()


def test_without_a_reading_of_pihole_no_change_is_known() -> None:
    changes = compared(None, wanted("a"), wanted("b"))

    assert changes == RecordChanges(planned_count=2)
    assert not changes


def test_changes_of_records_alone_are_changes() -> None:
    assert replace(UNCHANGED, records=RecordChanges(created=(wanted("a"),)))
    assert not replace(
        UNCHANGED, records=RecordChanges(live_count=1, planned_count=1, compared=True)
    )


def removing(count: int, total: int) -> Changes:
    removed = tuple(live(f"h{number}.lan") for number in range(count))
    records = RecordChanges(total, total - count, removed=removed, compared=True)
    return replace(UNCHANGED, records=records)


def refusal(changes: Changes, **settings: object) -> str:
    with pytest.raises(RefusedError) as error:
        guard.check(changes, replace(Settings(), **settings))  # type: ignore[arg-type]
    return str(error.value)


def remedy(changes: Changes) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={changes.digest} pulumi up"
    )


def test_a_plan_in_which_no_record_survives_is_refused() -> None:
    changes = replace(removing(2, 2), no_record_survives=True)

    assert refusal(changes) == (
        "All 2 live DNS records would be removed: h0.lan (192.0.2.1), h1.lan (192.0.2.1)."
        f"\n{remedy(changes)}"
    )


def test_removed_records_alone_are_not_refused() -> None:
    guard.check(removing(99, 100), Settings())


def test_an_acknowledgement_covers_only_its_own_records() -> None:
    changes = replace(removing(6, 6), no_record_survives=True)
    others = replace(removing(7, 7), no_record_survives=True)

    guard.check(changes, Settings(acknowledge=changes.digest))
    assert refusal(others, acknowledge=changes.digest).splitlines()[1] == (
        f"The acknowledgement {changes.digest} is for other changes."
    )


def test_created_and_changed_records_leave_the_digest_unchanged() -> None:
    update = RecordUpdate(wanted("b"), live("b", "192.0.2.9"))
    records = RecordChanges(2, 3, (wanted("a"),), (update,), compared=True)

    assert replace(UNCHANGED, records=records).digest == UNCHANGED.digest == "2293fc57d8b0"
    assert removing(1, 3).digest != UNCHANGED.digest
    assert removing(1, 3).digest != removing(2, 3).digest
