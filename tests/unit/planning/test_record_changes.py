"""What would change in Pi-hole, and how much of that the guard lets through."""

from dataclasses import replace

import pytest

from pic.core.errors import RefusedError
from pic.core.model import (
    LiveRecord,
    Plan,
    Record,
    Snapshot,
)
from pic.planning import guard
from pic.planning.changes import Changes, between
from pic.planning.ownership import Ownership
from pic.planning.record_changes import RecordChanges, RecordUpdate
from pic.settings.parse import Settings

NOBODY = Changes("pic.prod", "cluster-1")
V4, V6 = "192.0.2.1", "2001:db8::1"


def wanted(host: str, ip: str = V4) -> Record:
    return Record(host, ip, ())


def live(host: str, ip: str = V4) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def compared(there: tuple[LiveRecord, ...] | None, *plan: Record) -> RecordChanges:
    snapshot = Snapshot("cluster-1", records=there)
    return between(snapshot, Plan(records=plan), "pic.prod", Ownership("pic.prod")).records


def test_what_is_as_planned_does_not_change() -> None:
    found = compared((live("a", V6), live("a")), wanted("a"), wanted("a", V6))

    assert found == RecordChanges(known=2, wanted=2, compared=True)
    assert not found


def test_records_are_created_changed_and_removed_one_for_each_host_and_family() -> None:
    there = (live("b", "192.0.2.9"), live("b", V6), live("gone", V6), live("gone"))

    found = compared(there, wanted("new", V6), wanted("new"), wanted("b"))

    assert found == RecordChanges(
        known=4,
        wanted=3,
        created=(wanted("new"), wanted("new", V6)),
        updated=(RecordUpdate(wanted("b"), live("b", "192.0.2.9")),),
        removed=(live("b", V6), live("gone"), live("gone", V6)),
        compared=True,
    )


def test_records_of_others_are_neither_known_nor_removed_nor_changed() -> None:
    others = (LiveRecord("a", "192.0.2.9"), LiveRecord("b", V4))

    assert compared(others, wanted("a")) == RecordChanges(
        wanted=1, created=(wanted("a"),), compared=True
    )


def test_an_address_that_an_interrupted_update_has_left_is_a_change() -> None:
    there = (live("a"), live("a", "192.0.2.9"))

    found = compared(there, wanted("a"))

    assert found.updated == (RecordUpdate(wanted("a"), live("a", "192.0.2.9")),)
    assert found.created == ()


def test_where_pihole_was_not_read_nothing_is_known_to_change() -> None:
    found = compared(None, wanted("a"), wanted("b"))

    assert found == RecordChanges(wanted=2)
    assert not found


def test_a_change_of_a_record_alone_is_a_change() -> None:
    assert replace(NOBODY, records=RecordChanges(created=(wanted("a"),)))
    assert not replace(NOBODY, records=RecordChanges(known=1, wanted=1, compared=True))


def removing(count: int, known: int) -> Changes:
    gone = tuple(live(f"h{at}.lan") for at in range(count))
    records = RecordChanges(known=known, wanted=known - count, removed=gone, compared=True)
    return replace(NOBODY, records=records)


def refusal(changes: Changes, **settings: object) -> str:
    with pytest.raises(RefusedError) as caught:
        guard.check(changes, replace(Settings(), **settings))  # type: ignore[arg-type]
    return str(caught.value)


def remedy(changes: Changes) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={changes.digest} pulumi up"
    )


@pytest.mark.parametrize(("count", "known"), [(4, 6), (5, 6), (5, 25), (19, 100), (20, 100)])
def test_removed_records_up_to_the_larger_of_both_limits_go(count: int, known: int) -> None:
    guard.check(removing(count, known), Settings())


@pytest.mark.parametrize(("count", "known"), [(6, 7), (6, 25), (21, 100)])
def test_one_removed_record_more_than_both_limits_is_refused(count: int, known: int) -> None:
    changes = removing(count, known)
    allowed = guard.limit(known, Settings())

    assert refusal(changes).startswith(
        f"{count} of {known} DNS records would be removed, but at most {allowed} may go in one run"
        " (pic:maxRemovals 5, pic:maxRemovalRatio 0.2): h0.lan (192.0.2.1), h1.lan"
    )
    assert refusal(changes).endswith(f"\n{remedy(changes)}")


def test_a_plan_without_records_for_a_pihole_that_has_some_of_ours_is_refused() -> None:
    changes = removing(1, 1)

    assert refusal(changes) == (
        "The plan has no DNS records, and 1 of 1 DNS records would be removed: h0.lan (192.0.2.1)."
        f"\n{remedy(changes)}"
    )


def test_each_target_has_limits_of_its_own() -> None:
    both = replace(removing(5, 9), known=9, wanted=4)

    guard.check(both, Settings())


def test_what_is_known_of_no_record_is_not_refused() -> None:
    guard.check(replace(NOBODY, records=RecordChanges(wanted=0)), Settings())


def test_an_acknowledgement_covers_only_the_records_that_it_names() -> None:
    seen, since = removing(6, 7), removing(7, 8)

    guard.check(seen, Settings(acknowledge=seen.digest))
    assert refusal(since, acknowledge=seen.digest).splitlines()[1] == (
        f"The acknowledgement {seen.digest} is for other changes."
    )


def test_a_digest_does_not_change_for_records_that_come_or_change() -> None:
    update = RecordUpdate(wanted("b"), live("b", "192.0.2.9"))
    records = RecordChanges(2, 3, (wanted("a"),), (update,), compared=True)

    assert replace(NOBODY, records=records).digest == NOBODY.digest == "2293fc57d8b0"
    assert removing(1, 3).digest != NOBODY.digest
    assert removing(1, 3).digest != removing(2, 3).digest
