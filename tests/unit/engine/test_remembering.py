"""Tests when the register leaves a question open, and what the state answers."""

from dataclasses import replace

import pytest

from pic.core.model import HttpConfig, LiveResource, Owner, Plan, Record
from pic.core.names import STACK_ID_LABEL
from pic.core.register import Bucket, RecordEntry, Register, RegisterStatus, StateMemory, bucket_of
from pic.engine import remembering
from pic.engine.backend.state import StateRecord
from pic.planning.registering import entry_of_live
from pic.run.situation import Situation
from pic.settings.parse import Settings
from tests.support.deployed import (
    CLUSTER,
    STACK,
    A,
    B,
    make_live,
    make_situation,
    make_state,
    wanted,
)
from tests.support.memories import OURS, STACK_ID, entry, register

SETTINGS = Settings(cluster_id=CLUSTER, stack_id=STACK_ID, register_namespace="pic")
DIGIT = bucket_of(A)
KNOWN = register([replace(entry(A), name=wanted(A).name)])
ABSENT: dict[str, Register] = {}


def situation(
    registers: dict[str, Register] | None, *live: LiveResource, settings: Settings = SETTINGS
) -> Situation:
    made = make_situation(live, (), settings)
    config = replace(made.config, ownership=OURS)
    return replace(made, config=config, snapshot=replace(made.snapshot, registers=registers))


def ours(host: str, *, managed: bool = True) -> LiveResource:
    """Return a live object as this stack writes it, but with a name of its own."""
    live = make_live(wanted(host))
    return replace(live, labels={**live.labels, STACK_ID_LABEL: STACK_ID}, managed=managed)


@pytest.mark.parametrize(
    ("registers", "outputs", "needed"),
    [
        ({STACK: KNOWN}, {}, False),
        ({STACK: KNOWN}, {DIGIT: 1}, False),
        ({STACK: KNOWN}, {DIGIT: 2}, True),
        ({STACK: KNOWN}, {DIGIT: 1, "f": 1}, True),
        ({STACK: replace(KNOWN, unreadable=("f",))}, {DIGIT: 1}, True),
        (ABSENT, {}, True),
        (None, {}, False),
        (None, {DIGIT: 1}, True),
    ],
)
def test_the_state_is_read_where_the_register_is_not_the_one_that_was_written_last(
    registers: dict[str, Register] | None, outputs: dict[str, int], *, needed: bool
) -> None:
    assert remembering.needs_state(situation(registers), {"register": outputs}) is needed


def test_without_a_register_the_state_is_not_read_for_nothing() -> None:
    assert not remembering.needs_state(situation(None, settings=Settings()), {})


@pytest.mark.parametrize(
    ("live", "needed"),
    [
        (ours(A), False),
        (ours(B), True),
        (ours(B, managed=False), False),
        (replace(ours(B), labels={}), True),
        (replace(ours(B), labels={}, managed=False), False),
        (replace(ours(B), labels={**ours(B).labels, STACK_ID_LABEL: "0b0b0b0b"}), False),
    ],
)
def test_the_state_is_read_for_an_object_that_pic_wrote_and_does_not_remember(
    live: LiveResource, *, needed: bool
) -> None:
    assert remembering.needs_state(situation({STACK: KNOWN}, live), {}) is needed


def test_the_outputs_have_the_serial_of_each_bucket() -> None:
    assert remembering.serials({}) == {}
    assert remembering.serials({"register": None}) == {}
    assert remembering.serials({"register": {"3": 7.0, "f": 2, "0": "x"}}) == {
        "3": 7,
        "f": 2,
        "0": 0,
    }


def test_a_plan_with_the_state_knows_its_hosts_records_and_serials() -> None:
    records = {
        f"{A}/A": StateRecord("urn-a", A, "192.0.2.1"),
        f"{B}/A": StateRecord("urn-b", B, "192.0.2.2"),
    }
    state = replace(make_state(wanted(A, sso=True)), records=records)
    owned = Record(A, "192.0.2.1", (Owner("lab", "nas", "uid"),))
    before = replace(situation(ABSENT), plan=Plan(records=(owned, Record("c", "192.0.2.3", ()))))

    after = remembering.with_state(before, state, {"register": {DIGIT: 4}})

    remembered = entry_of_live(make_live(wanted(A, sso=True)))
    assert after.snapshot.state == StateMemory(
        (remembered,),
        (
            RecordEntry(f"{A}/A", "192.0.2.1", "lab"),
            RecordEntry(f"{B}/A", "192.0.2.2", ""),
        ),
        {DIGIT: 4},
    )
    assert after.plan.register is not None
    assert after.plan.register.hosts[A].sso
    assert after.changes.register == tuple(sorted({bucket_of(A), bucket_of(B)}))


def test_an_object_that_the_state_knows_is_ours_although_the_register_does_not_have_it() -> None:
    before = situation({STACK: Register(RegisterStatus.READ, buckets={DIGIT: Bucket()})}, ours(B))
    state = make_state(wanted(B))

    after = remembering.with_state(before, state, {})

    assert remembering.needs_state(before, {})
    assert [live.host for live in after.changes.removed] == [B]


def test_04_an_object_that_a_tenant_left_without_a_host_keeps_the_one_of_its_name() -> None:
    state = make_state(wanted(A))
    broken = replace(wanted(A), spec=replace(wanted(A).spec, http=HttpConfig()))
    resources = {A: replace(state.resources[A], inputs=make_state(broken).resources[A].inputs)}

    after = remembering.with_state(situation(ABSENT), replace(state, resources=resources), {})

    assert after.snapshot.state is not None
    assert [(it.host, it.key) for it in after.snapshot.state.hosts] == [(A, wanted(A).key)]
