"""Tests which passes of the engine a deployment needs first."""

from dataclasses import replace

import pytest

from pic.core.model import LiveResource, Owner, Plan, Resource, Snapshot, Spec
from pic.core.names import STACK_LABEL
from pic.core.register import Bucket, Register
from pic.engine import repair
from pic.engine.backend.state import StackState
from pic.planning.changes import Changes, Move
from tests.support.deployed import A, B, C, make_live, make_state, urn, wanted
from tests.support.memories import entry, register


def stale(
    live: tuple[LiveResource, ...],
    resource: Resource,
    state: StackState,
    *,
    owner_references: bool = True,
) -> tuple[str, ...]:
    snapshot = Snapshot("cluster-1", live=live)
    return repair.stale(snapshot, Plan((resource,)), state, owner_references=owner_references)


def changed(host: str) -> LiveResource:
    live = make_live(wanted(host))
    return replace(live, spec=replace(live.spec, enabled=False))


def test_an_object_that_is_live_as_declared_needs_no_refresh() -> None:
    assert stale((make_live(wanted(A)),), wanted(A), make_state(wanted(A))) == ()


def test_an_object_that_others_changed_or_deleted_is_refreshed() -> None:
    assert stale((), wanted(A), make_state(wanted(A))) == (urn(A),)
    assert stale((changed(A),), wanted(A), make_state(wanted(A))) == (urn(A),)


def test_an_object_that_the_state_does_not_have_is_not_refreshed() -> None:
    assert stale((changed(A),), wanted(A), StackState()) == ()


@pytest.mark.parametrize(
    "resource",
    [
        wanted(A, sso=True),
        replace(wanted(A), labels={STACK_LABEL: "pic.other"}),
        replace(wanted(A), owners=(Owner("prod", "web", "uid-2"),)),
    ],
)
def test_a_changed_declaration_needs_no_refresh(resource: Resource) -> None:
    assert stale((changed(A),), resource, make_state(wanted(A))) == ()


def test_owners_count_only_if_they_are_declared() -> None:
    ownerless = replace(wanted(A), owners=())

    assert stale((changed(A),), wanted(A), make_state(ownerless)) == ()
    assert stale((changed(A),), wanted(A), make_state(ownerless), owner_references=False) == (
        urn(A),
    )


def test_only_a_bucket_of_the_register_that_someone_deleted_is_refreshed() -> None:
    planned = register([entry(A), entry(B), entry(C)])
    one, two, three = planned.buckets
    urns = {one: "urn-1", two: "urn-2", "f": "urn-f"}
    state = StackState(buckets=urns)
    unreadable = Register(unreadable=(one, two, three))

    def refreshed(stored: Register | None, plan: Plan) -> tuple[str, ...]:
        registers = None if stored is None else {"pic.prod": stored}
        snapshot = Snapshot("cluster-1", registers=registers)
        return repair.stale(snapshot, plan, state, owner_references=True)

    plan = Plan(register=planned)
    assert refreshed(planned, plan) == ()
    assert refreshed(unreadable, plan) == ()
    assert refreshed(Register(), plan) == ("urn-1", "urn-2")
    assert refreshed(Register(buckets={two: Bucket()}), plan) == ("urn-1",)
    assert refreshed(None, plan) == ()
    assert refreshed(Register(), Plan()) == ()


def test_strays_must_be_deleted_and_are_not_in_the_state() -> None:
    a, b, c = make_live(wanted(A)), make_live(wanted(B)), make_live(wanted(C))
    move = Move(wanted(C, "team"), c)
    changes = Changes("pic.prod", "cluster-1", removed=(a, b), moved=(move,))

    assert repair.strays(changes, make_state(wanted(A))) == (b, c)
    assert repair.strays(changes, make_state(wanted(A), wanted(B), wanted(C))) == ()


def adopted(resource: Resource, name: str) -> Resource:
    """Return the resource that declares a live object as it is."""
    return replace(resource, host=name, held=True, adopts=True)


def test_a_stray_takes_the_name_of_its_host_if_that_is_free() -> None:
    """The planned object of that host waits, so that there are never two."""
    old = replace(wanted(A, "team"), name="old")
    plan = Plan((wanted(A), wanted(B)))

    assert repair.adopting(plan, [make_live(old)], StackState()) == Plan(
        (adopted(old, A), wanted(B))
    )


def test_a_stray_whose_name_is_taken_has_its_key_in_its_name() -> None:
    one, two = replace(wanted(A), name="one"), replace(wanted(A), name="two")
    nameless = replace(wanted(C), spec=Spec())
    strays = [make_live(one), make_live(two), replace(make_live(nameless), host="")]

    assert repair.adopting(Plan((wanted(A),)), strays, make_state(wanted(A))) == Plan(
        (
            adopted(nameless, "/prod/pic-c"),
            wanted(A),
            adopted(one, f"{A}/prod/one"),
            adopted(two, f"{A}/prod/two"),
        )
    )
    assert repair.adopting(Plan(), strays[:2], StackState()) == Plan(
        (adopted(one, A), adopted(two, f"{A}/prod/two"))
    )


def test_only_a_condition_that_the_last_deployment_had_can_change() -> None:
    before = {"pic": "1", "plugin": "4", "targets": "pangolin"}
    after = {"pic": "2", "plugin": "4", "targets": "pihole", "namespaces": "all"}

    assert list(repair.changed_conditions(before, after)) == [
        "pic 1 → 2",
        "targets pangolin → pihole",
    ]
    assert list(repair.changed_conditions({}, after)) == []
