"""Tests which records need another pass of the engine."""

from pic.core.model import LiveRecord, Plan, Record, Snapshot
from pic.engine import repair
from pic.engine.backend.state import StackState, StateRecord
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges
from pic.settings.parse import Settings

IP, OTHER = "10.0.0.1", "10.0.0.2"


def entry(host: str, ip: str = IP) -> dict[str, StateRecord]:
    return {f"{host}/A": StateRecord(f"urn::{host}/A", host, ip)}


def own_record(host: str, ip: str = IP) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def stale(snapshot: Snapshot) -> tuple[str, ...]:
    hosts = ("same", "gone", "foreign", "changed", "doubled", "new", "wanted-otherwise")
    state = StackState(
        records={
            key: record
            for host in hosts
            if host != "new"
            for key, record in entry(host, OTHER if host == "wanted-otherwise" else IP).items()
        }
    )
    plan = Plan(records=tuple(Record(host, IP, ()) for host in hosts))
    return repair.stale(snapshot, plan, state, owner_references=True)


def test_records_that_others_changed_or_deleted_are_refreshed() -> None:
    snapshot = Snapshot(
        records=(
            own_record("same"),
            LiveRecord("foreign", IP),
            own_record("changed", OTHER),
            own_record("doubled"),
            own_record("doubled", OTHER),
            own_record("wanted-otherwise", OTHER),
        )
    )

    assert stale(snapshot) == (
        *("urn::gone/A", "urn::foreign/A", "urn::changed/A", "urn::doubled/A"),
    )


def test_no_record_is_stale_if_pihole_was_not_read() -> None:
    assert stale(Snapshot()) == ()


def test_records_that_must_go_and_are_not_in_the_state_are_strays() -> None:
    removed = (own_record("a"), own_record("a", OTHER), own_record("b"), own_record("known"))
    changes = Changes("pic.prod", "c1", records=RecordChanges(removed=removed))

    strays = repair.stray_records(changes, StackState(records=entry("known")), Settings())

    assert strays == (Record("a", OTHER, ()), Record("b", IP, ()))
