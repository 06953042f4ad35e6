"""Which records need another pass of the engine."""

from pic.core.model import (
    LiveRecord,
    Plan,
    Record,
    Snapshot,
)
from pic.engine import repair
from pic.engine.backend.state import RememberedRecord, StackState
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges
from pic.settings.parse import Settings

IP, OTHER = "10.0.0.1", "10.0.0.2"


def remembered(host: str, ip: str = IP) -> dict[str, RememberedRecord]:
    return {f"{host}/A": RememberedRecord(f"urn::{host}/A", host, ip)}


def live(host: str, ip: str = IP) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def stale(snapshot: Snapshot) -> tuple[str, ...]:
    hosts = ("same", "gone", "foreign", "changed", "doubled", "new", "wanted-otherwise")
    state = StackState(
        records={
            key: each
            for host in hosts
            if host != "new"
            for key, each in remembered(host, OTHER if host == "wanted-otherwise" else IP).items()
        }
    )
    plan = Plan(records=tuple(Record(host, IP, ()) for host in hosts))
    return repair.stale(snapshot, plan, state, owner_references=True)


def test_records_that_others_have_changed_or_deleted_are_read_anew() -> None:
    snapshot = Snapshot(
        records=(
            live("same"),
            LiveRecord("foreign", IP),
            live("changed", OTHER),
            live("doubled"),
            live("doubled", OTHER),
            live("wanted-otherwise", OTHER),
        )
    )

    assert stale(snapshot) == (
        *("urn::gone/A", "urn::foreign/A", "urn::changed/A", "urn::doubled/A"),
    )


def test_where_pihole_was_not_read_nothing_is_known_to_be_stale() -> None:
    assert stale(Snapshot()) == ()


def test_records_that_go_and_are_forgotten_are_strays() -> None:
    removed = (live("a"), live("a", OTHER), live("b"), live("known"))
    changes = Changes("pic.prod", "c1", records=RecordChanges(removed=removed))

    found = repair.stray_records(changes, StackState(records=remembered("known")), Settings())

    assert found == (Record("a", OTHER, ()), Record("b", IP, ()))
