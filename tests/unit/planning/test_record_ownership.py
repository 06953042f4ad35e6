"""Tests whose a record is that carries the marker of earlier versions."""

import pytest

from pic.core.model import LiveRecord, Snapshot
from pic.core.register import RecordEntry, Register, RegisterStatus, StateMemory
from pic.planning.memory import recall
from pic.planning.ownership import Ownership
from pic.planning.record_ownership import is_unclear, judged, remembered
from pic.settings.parse import Settings

OURS = LiveRecord("a", "192.0.2.1", ours=True)
OTHER = LiveRecord("b", "192.0.2.2")
UNCLEAR = LiveRecord("c", "192.0.2.3", ours=True, legacy=True)
CLAIMED = LiveRecord("c", "192.0.2.3", ours=True)
LEFT = LiveRecord("c", "192.0.2.3", legacy=True)
ALL = (OURS, OTHER, UNCLEAR)


def test_24_register_or_state_decide_whose_a_record_of_an_earlier_version_is() -> None:
    assert judged(ALL, {"a", "b", "c"}) == (OURS, OTHER, CLAIMED)
    assert judged(ALL, ()) == (OURS, OTHER, LEFT)
    assert judged(judged(ALL, {"a"}), {"c"}) == (OURS, OTHER, CLAIMED)
    assert judged(judged(ALL, {"c"}), ()) == (OURS, OTHER, CLAIMED)


def test_24_without_register_and_state_nothing_is_decided() -> None:
    assert judged(ALL, None) == ALL
    assert [is_unclear(record) for record in (*ALL, CLAIMED, LEFT)] == [
        *(False, False, True),
        *(False, False),
    ]


def test_24_a_record_with_the_marker_of_the_stack_replaces_one_of_an_earlier_version() -> None:
    ours, v6 = LiveRecord("c", "192.0.2.9", ours=True), LiveRecord("c", "::1", ours=True)

    assert judged((ours, UNCLEAR), {"c"}) == (ours, LEFT)
    assert judged((v6, UNCLEAR), {"c"}) == (v6, CLAIMED)


@pytest.mark.parametrize(
    ("status", "state", "expected"),
    [
        (RegisterStatus.READ, None, CLAIMED),
        (RegisterStatus.ABSENT, StateMemory(records=(RecordEntry("c/A", "", ""),)), CLAIMED),
        (RegisterStatus.ABSENT, StateMemory(), LEFT),
        (RegisterStatus.ABSENT, None, UNCLEAR),
    ],
)
def test_24_what_pic_remembers_decides_as_soon_as_it_remembers_anything(
    status: RegisterStatus, state: StateMemory | None, expected: LiveRecord
) -> None:
    entries = {"c/A": RecordEntry("c/A", "", "")} if status is RegisterStatus.READ else {}
    registers = {"pic.prod": Register(status, records=entries)}
    snapshot = Snapshot(records=ALL, registers=registers, state=state)

    memory = recall(snapshot, Ownership("pic.prod"), Settings())

    assert remembered(snapshot, memory) == (OURS, OTHER, expected)


def test_24_a_record_that_is_gone_from_the_register_is_not_ours() -> None:
    entry = RecordEntry("c/A", "", "", gone="2026-01-01T00:00:00Z")
    registers = {"pic.prod": Register(RegisterStatus.READ, records={"c/A": entry})}
    snapshot = Snapshot(records=ALL, registers=registers)

    memory = recall(snapshot, Ownership("pic.prod"), Settings())

    assert remembered(snapshot, memory) == (OURS, OTHER, LEFT)
