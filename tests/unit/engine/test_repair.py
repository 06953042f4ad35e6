"""Which resources the engine reads anew or takes up first, and what asks for its preview."""

from dataclasses import replace

import pytest

from pic.core.model import (
    LiveResource,
    Owner,
    Plan,
    Resource,
    Snapshot,
    Spec,
)
from pic.core.names import STACK_LABEL
from pic.engine import repair
from pic.engine.backend.state import StackState
from pic.planning.changes import Changes, Move
from tests.support.deployed import (
    A,
    B,
    C,
    live,
    state,
    urn,
    wanted,
)


def stale(
    there: tuple[LiveResource, ...],
    resource: Resource,
    remembered: StackState,
    *,
    owner_references: bool = True,
) -> tuple[str, ...]:
    snapshot = Snapshot("cluster-1", live=there)
    return repair.stale(snapshot, Plan((resource,)), remembered, owner_references=owner_references)


def changed(host: str) -> LiveResource:
    there = live(wanted(host))
    return replace(there, spec=replace(there.spec, enabled=False))


def test_what_is_live_as_it_is_declared_needs_no_reading() -> None:
    assert stale((live(wanted(A)),), wanted(A), state(wanted(A))) == ()


def test_what_others_deleted_or_changed_is_read_anew() -> None:
    assert stale((), wanted(A), state(wanted(A))) == (urn(A),)
    assert stale((changed(A),), wanted(A), state(wanted(A))) == (urn(A),)


def test_what_the_engine_does_not_know_it_cannot_read_anew() -> None:
    assert stale((changed(A),), wanted(A), StackState()) == ()


@pytest.mark.parametrize(
    "resource",
    [
        wanted(A, sso=True),
        replace(wanted(A), labels={STACK_LABEL: "pic.other"}),
        replace(wanted(A), owners=(Owner("prod", "web", "uid-2"),)),
    ],
)
def test_what_is_declared_anew_is_applied_whole_in_any_case(resource: Resource) -> None:
    assert stale((changed(A),), resource, state(wanted(A))) == ()


def test_owners_count_only_where_they_are_declared() -> None:
    ownerless = replace(wanted(A), owners=())

    assert stale((changed(A),), wanted(A), state(ownerless)) == ()
    assert stale((changed(A),), wanted(A), state(ownerless), owner_references=False) == (urn(A),)


def test_strays_are_to_go_and_unknown_to_the_engine() -> None:
    a, b, c = live(wanted(A)), live(wanted(B)), live(wanted(C))
    moving = Move(wanted(C, "team"), c)
    changes = Changes("pic.prod", "cluster-1", removed=(a, b), moved=(moving,))

    assert repair.strays(changes, state(wanted(A))) == (b, c)
    assert repair.strays(changes, state(wanted(A), wanted(B), wanted(C))) == ()


def adopted(resource: Resource, name: str) -> Resource:
    """A live object declared as it is."""
    return replace(resource, host=name, held=True, adopts=True)


def test_a_stray_takes_the_name_of_its_host_where_that_is_free() -> None:
    """The planned object of that host waits, so that there are never two."""
    old = replace(wanted(A, "team"), name="old")
    plan = Plan((wanted(A), wanted(B)))

    assert repair.adopting(plan, [live(old)], StackState()) == Plan((adopted(old, A), wanted(B)))


def test_a_stray_whose_name_is_taken_has_its_key_as_well() -> None:
    one, two = replace(wanted(A), name="one"), replace(wanted(A), name="two")
    nameless = replace(wanted(C), spec=Spec())
    strays = [live(one), live(two), replace(live(nameless), host="")]

    assert repair.adopting(Plan((wanted(A),)), strays, state(wanted(A))) == Plan(
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


def test_only_what_was_known_and_differs_has_changed() -> None:
    before = {"pic": "1", "plugin": "4", "targets": "pangolin"}
    after = {"pic": "2", "plugin": "4", "targets": "pihole", "namespaces": "all"}

    assert list(repair.scope_changes(before, after)) == [
        "pic 1 → 2",
        "targets pangolin → pihole",
    ]
    assert list(repair.scope_changes({}, after)) == []
