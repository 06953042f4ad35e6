"""DNS records that differ from the last deployment."""

from pic.core.model import LiveRecord
from pic.engine import drift
from pic.engine.backend.state import RememberedRecord, StackState
from pic.engine.drift import DriftedRecord, Kind

V4, V6, OTHER = "192.0.2.1", "2001:db8::1", "192.0.2.9"

GONE = DriftedRecord("gone.lan", Kind.MISSING, V4)
MOVED = DriftedRecord("tv.lan", Kind.CHANGED, V4, (OTHER,))
UNTRACKED = DriftedRecord("web.lan", Kind.UNTRACKED, None, (V6,))


def state(*records: tuple[str, str]) -> StackState:
    found = {f"{host}/{ip}": RememberedRecord("urn", host, ip) for host, ip in records}
    return StackState(records=found)


def ours(host: str, ip: str = V4) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def test_what_is_as_declared_does_not_differ_whatever_others_have() -> None:
    there = (ours("web.lan"), ours("web.lan", V6), LiveRecord("nas.lan", V4))

    assert drift.find_records(state(("web.lan", V4), ("web.lan", V6)), there) == ()


def test_where_pihole_was_not_read_nothing_is_told() -> None:
    assert drift.find_records(state(("web.lan", V4)), None) == ()


def test_what_is_gone_changed_or_unknown_is_told_by_host_and_family() -> None:
    there = (ours("web.lan", V6), ours("web.lan"), ours("tv.lan", OTHER))
    last = state(("web.lan", V4), ("tv.lan", V4), ("gone.lan", V4))

    assert drift.find_records(last, there) == (GONE, MOVED, UNTRACKED)


def test_an_address_beside_the_declared_one_is_a_change() -> None:
    there = (ours("tv.lan"), ours("tv.lan", OTHER))

    assert drift.find_records(state(("tv.lan", V4)), there) == (
        DriftedRecord("tv.lan", Kind.CHANGED, V4, (V4, OTHER)),
    )


def test_without_markers_what_the_engine_remembers_is_ours() -> None:
    there = (LiveRecord("web.lan", V4), LiveRecord("nas.lan", V4))

    assert drift.find_records(state(("web.lan", V4)), there, marked=False) == ()


def test_records_read_as_lines() -> None:
    assert drift.text((), (GONE, MOVED, UNTRACKED)) == (
        "- DNS record gone.lan 192.0.2.1 is gone\n"
        "~ DNS record tv.lan: 192.0.2.1 is 192.0.2.9\n"
        "? DNS record web.lan 2001:db8::1 is ours, and no deployment has it"
    )


def test_records_are_json() -> None:
    assert drift.wire((), (MOVED, UNTRACKED)) == {
        "version": 1,
        "drift": [],
        "records": [
            {"host": "tv.lan", "kind": "changed", "declared": V4, "live": [OTHER]},
            {"host": "web.lan", "kind": "untracked", "declared": None, "live": [V6]},
        ],
    }
