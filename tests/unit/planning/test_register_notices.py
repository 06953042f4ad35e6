"""Tests what is reported about the register and the id of the stack."""

from dataclasses import replace

import pytest

from pic.core.model import Snapshot
from pic.core.notices import Level, Notice, Reason, Ref
from pic.core.register import Register, StateMemory, bucket_of
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings
from tests.support.memories import OURS, entry, register
from tests.support.tenants import cluster, ingress, live, plan, settled

A = "a.example.com"
DIGIT = bucket_of(A)
REGISTER = Ref("Register", "", "register")
CURRENT = cluster([ingress(A)], [live(A)], [entry(A)])


def notices(
    snapshot: Snapshot, settings: Settings | None = None, ownership: Ownership = OURS
) -> list[tuple[Reason, Ref, str]]:
    planned = plan(snapshot, settings, ownership)
    return [(it.reason, it.about, it.message) for it in planned.notices]


def test_a_register_that_was_read_is_not_reported() -> None:
    assert notices(CURRENT) == []


def test_a_stack_without_a_namespace_for_its_register_remembers_nothing() -> None:
    message = (
        "no setting names its namespace, so pic remembers nothing: run pic init, or set"
        " pic:registerNamespace"
    )

    # Without that setting the id would be no help, so it is not reported as well.
    assert notices(replace(CURRENT, registers=None), Settings()) == [
        (Reason.REGISTER_MISSING, REGISTER, message)
    ]


def test_a_register_that_pic_may_not_read_is_reported() -> None:
    message = (
        "pic may not list ConfigMaps in namespace pic, so it remembers nothing: grant it"
        " (docs/permissions.md)"
    )

    assert notices(replace(CURRENT, registers=None)) == [
        (Reason.REGISTER_MISSING, REGISTER, message)
    ]


def test_a_register_that_is_gone_is_reported_with_where_it_was() -> None:
    message = (
        "it is gone from namespace pic: pic up writes it again from the state and from what is live"
    )

    assert notices(replace(CURRENT, registers={})) == [(Reason.REGISTER_MISSING, REGISTER, message)]


def test_the_first_register_of_a_stack_with_hosts_is_reported() -> None:
    old = cluster([ingress(A)], [live(A, stack_id="")])
    message = "pic up writes it for the first time, in pic"

    assert notices(old) == [(Reason.REGISTER_BEGUN, REGISTER, message)]
    assert {notice.level for notice in plan(old).notices} == {Level.NORMAL}


def test_the_first_register_of_a_new_stack_is_not_reported() -> None:
    assert notices(cluster([ingress(A)])) == []


def test_a_stack_without_an_id_is_reported() -> None:
    settings = replace(settled(), stack_id="")
    message = (
        "it is not set, so pic cannot tell this stack from another with its name: run pic init"
    )

    assert notices(CURRENT, settings, replace(OURS, stack_id="")) == [
        (Reason.STACK_ID_MISSING, Ref("Setting", "", "stackId"), message)
    ]


STORED = register([entry(A)])


@pytest.mark.parametrize(
    ("stored", "serials", "stale"),
    [
        (STORED, {DIGIT: 1}, []),
        (STORED, {DIGIT: 2}, [DIGIT]),
        # A bucket that does not exist is only missing: its hosts are in the state.
        (STORED, {"f": 9, "e": 9}, []),
        (replace(STORED, unreadable=("f", "e")), {DIGIT: 1}, ["e", "f"]),
        (replace(STORED, unreadable=("f",)), {DIGIT: 2}, [*sorted((DIGIT, "f"))]),
    ],
)
def test_a_bucket_that_is_not_the_last_one_is_reported(
    stored: Register, serials: dict[str, int], stale: list[str]
) -> None:
    snapshot = cluster([ingress(A)], [live(A)], stored)

    assert notices(replace(snapshot, state=StateMemory(serials=serials))) == [
        (
            Reason.REGISTER_STALE,
            REGISTER,
            f"bucket {digit} is not the one that pic wrote last: pic completes it from the state"
            " and from what is live",
        )
        for digit in stale
    ]


def test_without_a_time_nothing_is_reported_as_the_plan_is_of_files() -> None:
    assert notices(replace(CURRENT, registers=None, now=""), Settings()) == []


def test_a_register_notice_is_a_warning_that_no_ingress_has() -> None:
    [notice] = plan(replace(CURRENT, registers=None)).notices

    assert notice == Notice(Reason.REGISTER_MISSING, REGISTER, notice.message)
    assert notice.level is Level.WARNING
