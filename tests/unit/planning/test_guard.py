"""Tests what the guard refuses, in which words, and what lets it through."""

from dataclasses import replace

import pytest

from pic.core.errors import RefusedError
from pic.core.model import LiveResource, Resource, Spec
from pic.planning import guard
from pic.planning.changes import Changes, Move, Weakening
from pic.settings.parse import Settings

DEFAULT = Settings()
UNCHANGED = Changes("pic.prod", "cluster-1")


def live(number: int) -> LiveResource:
    return LiveResource("prod", f"pic-{number}", f"uid-{number}", f"h{number}.example.com")


def lives(count: int) -> tuple[LiveResource, ...]:
    return tuple(live(number) for number in range(count))


def move(number: int) -> Move:
    old = live(number)
    return Move(Resource(old.host, "team", old.name, (), {}, Spec()), old)


def removing(count: int, total: int) -> Changes:
    return replace(UNCHANGED, live_count=total, planned_count=total - count, removed=lives(count))


def weakening(count: int, total: int, *fields: str) -> Changes:
    weakened = tuple(
        Weakening(live(number).host, field)
        for number in range(count)
        for field in fields or ("sso",)
    )
    return replace(UNCHANGED, live_count=total, planned_count=total, weakened=weakened)


def refusal(changes: Changes, settings: Settings = DEFAULT) -> str:
    with pytest.raises(RefusedError) as error:
        guard.check(changes, settings)
    return str(error.value)


def remedy(changes: Changes) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={changes.digest} pulumi up"
    )


def test_a_first_run_may_create_any_number_of_hosts() -> None:
    guard.check(replace(UNCHANGED, planned_count=1000), DEFAULT)


def test_an_empty_plan_for_an_empty_stack_is_allowed() -> None:
    guard.check(UNCHANGED, DEFAULT)


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (4, 6, DEFAULT),
        (5, 6, DEFAULT),
        (5, 25, DEFAULT),
        (20, 100, DEFAULT),
        (29, 100, Settings(max_removals=0, max_removal_ratio=0.29)),
        (99, 100, Settings(max_removals=0, max_removal_ratio=1.0)),
        (7, 8, Settings(max_removals=7, max_removal_ratio=0.0)),
    ],
)
def test_removals_up_to_the_larger_limit_are_allowed(
    count: int, total: int, settings: Settings
) -> None:
    guard.check(removing(count, total), settings)


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (6, 25, DEFAULT),
        (6, 29, DEFAULT),
        (21, 100, DEFAULT),
        (30, 100, Settings(max_removals=0, max_removal_ratio=0.29)),
        (1, 100, Settings(max_removals=0, max_removal_ratio=0.0)),
        (1, 4, Settings(max_removals=0)),
    ],
)
def test_one_removal_above_both_limits_is_refused(
    count: int, total: int, settings: Settings
) -> None:
    with pytest.raises(RefusedError, match=f"^{count} of {total} hosts would be removed"):
        guard.check(removing(count, total), settings)


def test_a_refusal_states_its_numbers_the_hosts_and_the_next_step() -> None:
    changes = removing(6, 20)

    assert refusal(changes) == (
        "6 of 20 hosts would be removed, but one run may remove at most 5 (pic:maxRemovals 5,"
        " pic:maxRemovalRatio 0.2): h0.example.com, h1.example.com, h2.example.com,"
        " h3.example.com, h4.example.com, h5.example.com.\n" + remedy(changes)
    )


def test_the_next_step_uses_the_command_of_the_caller() -> None:
    changes = removing(6, 20)

    with pytest.raises(RefusedError) as error:
        guard.check(changes, DEFAULT, "pic up --acknowledge {}")

    assert str(error.value).splitlines()[-1] == (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" pic up --acknowledge {changes.digest}"
    )


def test_a_refusal_carries_its_digest_and_exit_code() -> None:
    changes = removing(6, 20)

    with pytest.raises(RefusedError) as error:
        guard.check(changes, DEFAULT)

    assert (error.value.digest, error.value.exit_code) == (changes.digest, 3)


def test_moves_count_as_removals_and_long_lists_are_cut() -> None:
    moved = tuple(move(number) for number in range(6, 12))
    changes = replace(removing(6, 30), moved=moved)

    assert refusal(changes) == (
        "12 of 30 hosts would be removed or moved to another namespace, but one run may remove at"
        " most 6 (pic:maxRemovals 5, pic:maxRemovalRatio 0.2): h0.example.com, h1.example.com,"
        " h2.example.com, h3.example.com, h4.example.com, h5.example.com, h6.example.com,"
        " h7.example.com, h8.example.com, h9.example.com and 2 more.\n" + remedy(changes)
    )


def test_a_plan_without_hosts_is_refused_even_for_one_live_host() -> None:
    changes = removing(1, 1)

    assert refusal(changes) == (
        "The plan has no hosts, and 1 of 1 hosts would be removed: h0.example.com.\n"
        + remedy(changes)
    )


def test_a_plan_without_hosts_is_refused_whatever_the_limits_allow() -> None:
    changes = removing(3, 3)
    generous = Settings(max_removals=100, max_removal_ratio=1.0)

    assert refusal(changes, generous).startswith("The plan has no hosts, and 3 of 3 hosts")


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (5, 20, DEFAULT),
        (6, 30, DEFAULT),
        (7, 20, Settings(max_weakened=7)),
        (1, 5, Settings(max_weakened=0)),
        (3, 20, Settings(max_removals=3, max_removal_ratio=0)),
    ],
)
def test_hosts_up_to_the_limit_may_lose_protection(
    count: int, total: int, settings: Settings
) -> None:
    guard.check(weakening(count, total), settings)


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (6, 20, DEFAULT),
        (7, 30, DEFAULT),
        (8, 20, Settings(max_weakened=7)),
        (2, 5, Settings(max_weakened=0)),
        (4, 20, Settings(max_removals=3, max_removal_ratio=0)),
    ],
)
def test_one_host_above_the_limit_may_not_lose_protection(
    count: int, total: int, settings: Settings
) -> None:
    with pytest.raises(RefusedError, match=f"^{count} of {total} hosts would lose protection"):
        guard.check(weakening(count, total), settings)


def test_a_host_that_loses_login_and_block_counts_once() -> None:
    guard.check(weakening(5, 20, "sso", "blockAccess"), DEFAULT)

    changes = weakening(6, 20, "sso", "blockAccess")
    assert refusal(changes) == (
        "6 of 20 hosts would lose protection (login or block), but one run may weaken at most 5"
        " (pic:maxWeakened): h0.example.com (sso), h0.example.com (blockAccess),"
        " h1.example.com (sso), h1.example.com (blockAccess), h2.example.com (sso),"
        " h2.example.com (blockAccess), h3.example.com (sso), h3.example.com (blockAccess),"
        " h4.example.com (sso), h4.example.com (blockAccess) and 2 more.\n" + remedy(changes)
    )


def test_a_refusal_lists_every_reason() -> None:
    changes = replace(removing(6, 20), weakened=weakening(6, 20).weakened)

    assert [line.partition(",")[0] for line in refusal(changes).splitlines()] == [
        "6 of 20 hosts would be removed",
        "6 of 20 hosts would lose protection (login or block)",
        remedy(changes).partition(",")[0],
    ]


def test_another_cluster_is_refused_and_cannot_be_acknowledged() -> None:
    changes = UNCHANGED
    settings = Settings(cluster_id="cluster-2", acknowledge=changes.digest)

    with pytest.raises(RefusedError) as error:
        guard.check(changes, settings)

    assert error.value.digest == ""
    assert str(error.value) == (
        "This is cluster cluster-1, and the stack belongs to cluster-2 (pic:clusterId). Check"
        " pic:context and KUBECONFIG. If you moved the stack to a new cluster, set pic:clusterId"
        " to its id.\nNothing was changed."
    )


def test_a_cluster_without_an_id_counts_as_another_cluster() -> None:
    changes = replace(UNCHANGED, cluster_id="")

    text = refusal(changes, Settings(cluster_id="cluster-2"))

    assert text.startswith("This is cluster (unknown), and the stack belongs to cluster-2 ")


def test_the_cluster_of_the_stack_is_allowed() -> None:
    guard.check(UNCHANGED, Settings(cluster_id="cluster-1"))


def test_a_foreign_object_is_never_overwritten() -> None:
    changes = replace(UNCHANGED, planned_count=2, blocked=(live(1),))

    assert refusal(changes, Settings(acknowledge=changes.digest)) == (
        "PangolinResource prod/pic-1 would be overwritten, but pic did not create it. Delete or"
        " rename it.\nNothing was changed."
    )


def test_a_refusal_names_all_foreign_objects() -> None:
    assert refusal(replace(UNCHANGED, planned_count=2, blocked=(live(1), live(2)))) == (
        "PangolinResources prod/pic-1, prod/pic-2 would be overwritten, but pic did not create"
        " them. Delete or rename them.\nNothing was changed."
    )


def test_objects_of_the_go_controller_are_refused_without_adopt() -> None:
    assert refusal(replace(UNCHANGED, planned_count=2, predecessors=(live(1),))) == (
        "PangolinResource prod/pic-1 of the Go controller already exposes hosts of the plan. Scale"
        " that controller to 0 replicas, then set pic:adopt: true to take over its objects."
        "\nNothing was changed."
    )


def test_an_acknowledgement_covers_only_its_own_changes() -> None:
    changes, others = removing(6, 20), removing(7, 20)
    settings = Settings(acknowledge=changes.digest)

    guard.check(changes, settings)
    with pytest.raises(RefusedError):
        guard.check(others, settings)


def test_an_acknowledgement_covers_a_plan_without_hosts_and_weakenings() -> None:
    changes = replace(removing(6, 6), weakened=weakening(6, 6).weakened)

    guard.check(changes, Settings(acknowledge=changes.digest))


def test_a_refusal_mentions_an_acknowledgement_of_other_changes() -> None:
    changes = removing(6, 6)

    assert refusal(changes, Settings(acknowledge="0123456789ab")).splitlines()[1:] == [
        "The acknowledgement 0123456789ab is for other changes.",
        remedy(changes),
    ]


def test_an_acknowledgement_covers_removals_but_no_foreign_object() -> None:
    changes = replace(removing(6, 20), blocked=(live(9),))

    assert refusal(changes, Settings(acknowledge=changes.digest)) == (
        "PangolinResource prod/pic-9 would be overwritten, but pic did not create it. Delete or"
        " rename it.\nNothing was changed."
    )


def test_a_refusal_that_cannot_be_acknowledged_offers_no_digest() -> None:
    changes = replace(removing(6, 20), blocked=(live(9),))

    assert refusal(changes).splitlines()[-1] == "Nothing was changed."
