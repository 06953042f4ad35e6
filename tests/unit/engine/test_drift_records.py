"""Tests which DNS records differ from the last deployment."""

from pic.core.model import LiveRecord
from pic.engine import drift
from pic.engine.backend.state import StackState, StateRecord
from pic.engine.drift import Drift, DriftedRecord, Kind

V4, V6, OTHER = "192.0.2.1", "2001:db8::1", "192.0.2.9"

MISSING = DriftedRecord("gone.lan", Kind.MISSING, V4)
MOVED = DriftedRecord("tv.lan", Kind.CHANGED, V4, (OTHER,))
UNTRACKED = DriftedRecord("web.lan", Kind.UNTRACKED, None, (V6,))


def make_state(*records: tuple[str, str]) -> StackState:
    entries = {f"{host}/{ip}": StateRecord("urn", host, ip) for host, ip in records}
    return StackState(records=entries)


def own_record(host: str, ip: str = V4) -> LiveRecord:
    return LiveRecord(host, ip, ours=True)


def test_records_as_declared_and_records_of_others_do_not_differ() -> None:
    records = (own_record("web.lan"), own_record("web.lan", V6), LiveRecord("nas.lan", V4))

    assert drift.find_records(make_state(("web.lan", V4), ("web.lan", V6)), records) == ()


def test_without_a_reading_of_pihole_no_record_differs() -> None:
    assert drift.find_records(make_state(("web.lan", V4)), None) == ()


def test_missing_changed_and_untracked_records_are_sorted_by_host_and_family() -> None:
    records = (own_record("web.lan", V6), own_record("web.lan"), own_record("tv.lan", OTHER))
    state = make_state(("web.lan", V4), ("tv.lan", V4), ("gone.lan", V4))

    assert drift.find_records(state, records) == (MISSING, MOVED, UNTRACKED)


def test_a_second_address_next_to_the_declared_one_is_a_change() -> None:
    records = (own_record("tv.lan"), own_record("tv.lan", OTHER))

    assert drift.find_records(make_state(("tv.lan", V4)), records) == (
        DriftedRecord("tv.lan", Kind.CHANGED, V4, (V4, OTHER)),
    )


def test_without_markers_the_records_of_the_state_are_ours() -> None:
    records = (LiveRecord("web.lan", V4), LiveRecord("nas.lan", V4))

    assert drift.find_records(make_state(("web.lan", V4)), records, marked=False) == ()


def test_24_a_record_of_an_earlier_version_is_ours_if_the_state_has_it() -> None:
    records = [LiveRecord(host, V4, ours=True, legacy=True) for host in ("web.lan", "nas.lan")]

    assert drift.find_records(make_state(("web.lan", V4)), records) == ()
    assert drift.find_records(make_state(("gone.lan", V4)), records) == (MISSING,)


def test_drift_as_text_is_one_line_for_each_record() -> None:
    assert drift.as_text(Drift(records=(MISSING, MOVED, UNTRACKED))) == (
        "- DNS record gone.lan 192.0.2.1 is missing\n"
        "~ DNS record tv.lan: declared 192.0.2.1, live 192.0.2.9\n"
        "? DNS record web.lan 2001:db8::1 belongs to this stack, but the last deployment did not"
        " declare it"
    )


def test_drift_as_json_has_the_records() -> None:
    assert drift.as_json(Drift(records=(MOVED, UNTRACKED))) == {
        "version": 1,
        "drift": [],
        "records": [
            {"host": "tv.lan", "kind": "changed", "declared": V4, "live": [OTHER]},
            {"host": "web.lan", "kind": "untracked", "declared": None, "live": [V6]},
        ],
    }
