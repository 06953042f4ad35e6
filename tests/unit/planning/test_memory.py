"""Tests what pic remembers, and which live objects are ours because of it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from pic.core.model import LiveResource, Owner, Snapshot
from pic.core.names import STACK_LABEL, labels, object_name
from pic.core.register import (
    Bucket,
    GoneBy,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    StateMemory,
)
from pic.planning.memory import Memory, recall
from pic.planning.ownership import OwnerKind, Ownership
from pic.settings.parse import Settings
from tests.support.memories import NOW, OURS, STACK_ID, entry, register, remembering

A, B = "a.example.com", "b.example.com"
NONE = Settings()
CONFIGURED = Settings(register_namespace="pic")
GONE = entry(A, gone="2026-01-01T00:00:00Z", gone_by=GoneBy.KUBERNETES)
RECORD = RecordEntry(f"{A}/A", "192.0.2.1", "prod", gone=GONE.gone, gone_by=GoneBy.PIC)


def live(
    name: str = "by-hand",
    stack_id: str = STACK_ID,
    namespace: str = "prod",
    stack: str = "pic.prod",
) -> LiveResource:
    owners = (Owner(namespace, "web", "uid-1"),)
    all_labels = labels(stack, namespace, "web", "uid-1", stack_id)
    return LiveResource(namespace, name, "uid-9", A, all_labels, owners)


USUAL = object_name("prod", "web", A)
STRIPPED = replace(live(), labels={}, managed=True)


@pytest.mark.parametrize(
    ("registers", "settings", "status"),
    [
        (None, NONE, RegisterStatus.UNSET),
        (None, CONFIGURED, RegisterStatus.FORBIDDEN),
        (None, Settings(tunnel_namespace="net"), RegisterStatus.FORBIDDEN),
        ({}, CONFIGURED, RegisterStatus.ABSENT),
        ({"pic.test": register([entry(A)])}, CONFIGURED, RegisterStatus.ABSENT),
        ({"pic.prod": register()}, CONFIGURED, RegisterStatus.READ),
    ],
)
def test_what_is_known_of_the_register(
    registers: dict[str, Register] | None, settings: Settings, status: RegisterStatus
) -> None:
    memory = recall(Snapshot(registers=registers), OURS, settings)

    assert memory.stored.status is status
    assert memory.strict is (status is RegisterStatus.READ)


@pytest.mark.parametrize(
    ("now", "is_remembered"),
    [
        ("2026-01-01T23:59:59Z", True),
        ("2026-01-02T00:00:00Z", False),
        ("", True),
    ],
)
def test_a_host_that_is_gone_is_remembered_for_a_while(now: str, *, is_remembered: bool) -> None:
    memory = remembering(register([GONE], [RECORD]), now=now)

    assert memory.entry(A) == (GONE if is_remembered else None)
    assert memory.record(f"{A}/A") == (RECORD if is_remembered else None)


def test_a_host_that_is_not_gone_is_always_remembered_and_an_unknown_one_never() -> None:
    settings = Settings(move_after=timedelta())
    memory = remembering(register([entry(A)]), settings=settings, now="2036-01-01T00:00:00Z")

    assert memory.entry(A) == entry(A)
    assert memory.entry(B) is None
    assert memory.record(f"{A}/A") is None


def test_where_state_and_register_know_a_host_the_protecting_value_counts() -> None:
    known = (replace(entry(A), sso=True, name="other"), entry(B, block_access=True))
    records = (RecordEntry("a/A", "192.0.2.1", ""), RecordEntry("b/A", "192.0.2.2", ""))
    stored = register([entry(A, block_access=True)], [RecordEntry("a/A", "192.0.2.9", "prod")])
    snapshot = Snapshot(registers={"pic.prod": stored}, state=StateMemory(known, records), now=NOW)

    memory = recall(snapshot, OURS, NONE)

    assert memory.register.hosts == {
        A: entry(A, sso=True, block_access=True),
        B: entry(B, block_access=True),
    }
    assert memory.register.records == {"a/A": stored.records["a/A"], "b/A": records[1]}
    assert memory.stored == stored
    assert memory.hosts.keys() == {entry(A).key, ("prod", "other"), entry(B).key}


def test_the_state_alone_is_remembered_without_a_register() -> None:
    snapshot = Snapshot(state=StateMemory((entry(A),)))

    memory = recall(snapshot, OURS, NONE)

    assert (memory.register.hosts, memory.hosts) == ({A: entry(A)}, {entry(A).key: A})
    assert not memory.strict


AFTER = replace(OURS, earlier="pic.test")


def test_the_register_of_the_earlier_stack_protects_and_names_its_objects() -> None:
    earlier = register([entry(A, sso=True), entry(B, sso=True)], [RECORD])
    stored = register([entry(B)])
    snapshot = Snapshot(registers={"pic.prod": stored, "pic.test": earlier})

    memory = recall(snapshot, AFTER, NONE)

    assert memory.register.hosts == {A: entry(A, sso=True), B: entry(B)}
    assert memory.register.records == {RECORD.record: RECORD}
    assert memory.hosts.keys() == {entry(B).key}
    assert memory.kind_of(live(USUAL, stack="pic.test")) is OwnerKind.EARLIER
    assert memory.kind_of(live(stack="pic.test")) is OwnerKind.STRANGER


def test_without_a_register_of_the_earlier_stack_its_label_decides() -> None:
    memory = remembering(register(), AFTER)

    assert memory.kind_of(live(stack="pic.test")) is OwnerKind.EARLIER


def test_the_id_of_another_stack_in_a_bucket_is_named() -> None:
    def named(*stack_ids: str) -> str:
        buckets = {str(at): Bucket(stack_id) for at, stack_id in enumerate(stack_ids)}
        return remembering(Register(RegisterStatus.READ, buckets=buckets)).other_stack_id

    assert named() == ""
    assert named("", STACK_ID) == ""
    assert named(STACK_ID, "cccccccc", "bbbbbbbb") == "bbbbbbbb"


REGISTERED = remembering(register([entry(A)]))
ELSEWHERE = remembering(register([entry(A, "team")]))
UNKNOWN = remembering(register([entry(B)]))
EXPIRED = remembering(register([replace(GONE, namespace="team")]), now="2026-02-01T00:00:00Z")
BEGINNING = recall(Snapshot(registers={}), OURS, CONFIGURED)


@pytest.mark.parametrize(
    ("memory", "resource", "kind"),
    [
        # What the register has is ours, whatever its labels are.
        (REGISTERED, live(USUAL), OwnerKind.OURS),
        (REGISTERED, live(USUAL, stack_id=""), OwnerKind.OURS),
        (REGISTERED, replace(STRIPPED, name=USUAL), OwnerKind.STRIPPED),
        # What it does not have is ours only as pic would write it, and for a free host.
        (UNKNOWN, live(USUAL), OwnerKind.OURS),
        (EXPIRED, live(USUAL), OwnerKind.OURS),
        (ELSEWHERE, live(USUAL), OwnerKind.STRANGER),
        (UNKNOWN, live(), OwnerKind.STRANGER),
        (UNKNOWN, live(USUAL, stack_id=""), OwnerKind.STRANGER),
        (REGISTERED, live(), OwnerKind.STRANGER),
        (REGISTERED, STRIPPED, OwnerKind.FOREIGN),
        # Before the first register, the labels decide.
        (BEGINNING, live(stack_id=""), OwnerKind.OURS),
        (BEGINNING, STRIPPED, OwnerKind.FOREIGN),
        # What bears no labels of ours is what it is.
        (REGISTERED, live(stack="pic.dev"), OwnerKind.OTHER_STACK),
        (REGISTERED, live(USUAL, stack_id="0b0b0b0b"), OwnerKind.OTHER_STACK),
    ],
)
def test_03_only_what_is_remembered_is_ours_once_a_register_has_begun(
    memory: Memory, resource: LiveResource, kind: OwnerKind
) -> None:
    assert memory.kind_of(resource) is kind


def test_an_object_with_our_id_shows_that_a_register_had_begun() -> None:
    def strict(*objects: LiveResource, ownership: Ownership = OURS) -> bool:
        return recall(Snapshot(live=objects, registers={}), ownership, CONFIGURED).strict

    assert strict(live())
    assert not strict(live(stack_id=""))
    assert not strict(live(stack_id="0b0b0b0b"))
    assert not strict(live(stack="pic.test"))
    assert not strict(live(), ownership=replace(OURS, stack_id=""))
    assert not strict(live(), ownership=Ownership("", stack_id=STACK_ID))


def test_a_plan_of_files_alone_remembers_nothing() -> None:
    memory = recall(Snapshot(live=(live(),)), Ownership(""), NONE)

    assert memory.kind_of(live()) is OwnerKind.OURS
    assert memory.kind_of(replace(live(), labels={STACK_LABEL: "x"})) is OwnerKind.OURS
    assert (memory.entry(A), memory.other_stack_id, memory.strict) == (None, "", False)


def test_an_entry_names_the_object_of_its_host() -> None:
    assert HostEntry(A, "prod", "by-hand").key == ("prod", "by-hand")
    assert RecordEntry(f"{A}/AAAA", "", "").host == A
