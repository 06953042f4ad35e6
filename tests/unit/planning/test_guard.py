"""Tests what the guard refuses, in which words, and what lets it through."""

from dataclasses import replace

import pytest

from pic.core.errors import RefusedError
from pic.core.held import Held, Verdict
from pic.core.model import LiveRecord, LiveResource, Resource, Spec
from pic.planning import guard
from pic.planning.changes import Changes, Move, Weakening
from pic.planning.record_changes import RecordChanges
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


def losing(count: int) -> Changes:
    """Return changes in which no host survives."""
    return replace(removing(count, count), no_host_survives=True)


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


def test_removals_moves_and_weakenings_alone_are_not_refused() -> None:
    weakened = tuple(Weakening(live(number).host, "sso") for number in range(50))
    moved = tuple(move(number) for number in range(50, 99))

    guard.check(replace(removing(50, 100), moved=moved, weakened=weakened), DEFAULT)


def test_a_run_that_holds_something_is_not_refused() -> None:
    held = Held("h0.example.com", Verdict.WEAKENED, "prod", "login", "public", "why", "0" * 16)

    guard.check(replace(UNCHANGED, held=(held,)), DEFAULT)


def test_a_plan_in_which_no_host_survives_is_refused_with_its_hosts_and_the_next_step() -> None:
    changes = losing(2)

    assert refusal(changes) == (
        "All 2 live hosts would be removed: h0.example.com, h1.example.com.\n" + remedy(changes)
    )


def test_no_limit_lets_the_loss_of_every_host_through() -> None:
    generous = Settings(max_removals=100, max_removal_ratio=1.0)

    assert refusal(losing(1), generous).startswith("The only live host would be removed")


def test_moved_hosts_are_listed_with_the_removed_ones_and_long_lists_are_cut() -> None:
    moved = tuple(move(number) for number in range(6, 12))
    changes = replace(losing(6), live_count=12, moved=moved)

    assert refusal(changes) == (
        "All 12 live hosts would be removed: h0.example.com, h1.example.com,"
        " h2.example.com, h3.example.com, h4.example.com, h5.example.com, h6.example.com,"
        " h7.example.com, h8.example.com, h9.example.com and 2 more.\n" + remedy(changes)
    )


def test_the_next_step_uses_the_command_of_the_caller() -> None:
    changes = losing(6)

    with pytest.raises(RefusedError) as error:
        guard.check(changes, DEFAULT, "pic up --acknowledge {}")

    assert str(error.value).splitlines()[-1] == (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" pic up --acknowledge {changes.digest}"
    )


def test_a_refusal_carries_its_digest_and_exit_code() -> None:
    changes = losing(6)

    with pytest.raises(RefusedError) as error:
        guard.check(changes, DEFAULT)

    assert (error.value.digest, error.value.exit_code) == (changes.digest, 3)


def test_a_refusal_lists_every_reason() -> None:
    records = RecordChanges(1, 0, removed=(LiveRecord("nas.lan", "192.0.2.1"),), compared=True)
    changes = replace(losing(1), no_record_survives=True, records=records)

    assert refusal(changes) == (
        "The only live host would be removed: h0.example.com.\n"
        "The only live DNS record would be removed: nas.lan (192.0.2.1).\n" + remedy(changes)
    )


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
    guard.check_cluster("cluster-1", Settings(cluster_id="cluster-1"))


def test_the_register_of_another_stack_is_refused_and_cannot_be_acknowledged() -> None:
    changes = replace(losing(1), other_stack_id="0b0b0b0b")

    assert refusal(changes, Settings(acknowledge=changes.digest)) == (
        "The register of this stack was written by a stack with the same name and the id 0b0b0b0b."
        " If that is this stack, set pic:stackId to this id. If it is another one, rename this"
        " stack or set another pic:registerNamespace.\nNothing was changed."
    )


def test_a_refusal_that_cannot_be_acknowledged_offers_no_digest() -> None:
    changes = replace(losing(1), other_stack_id="0b0b0b0b")

    with pytest.raises(RefusedError) as error:
        guard.check(changes, DEFAULT)

    assert error.value.digest == ""
    assert str(error.value).splitlines()[1:] == [
        "The only live host would be removed: h0.example.com.",
        "Nothing was changed.",
    ]


def test_an_acknowledgement_covers_only_its_own_changes() -> None:
    changes, others = losing(6), losing(7)
    settings = Settings(acknowledge=f"0123456789abcdef,{changes.digest}")

    guard.check(changes, settings)
    with pytest.raises(RefusedError):
        guard.check(others, settings)


def test_a_refusal_mentions_an_acknowledgement_of_other_changes() -> None:
    changes = losing(6)

    assert refusal(changes, Settings(acknowledge="0123456789ab")).splitlines()[1:] == [
        "The acknowledgement 0123456789ab is for other changes.",
        remedy(changes),
    ]


def unplanned(count: int, total: int, settings: Settings) -> str:
    """Return how the guard refuses what the engine would remove beyond the plan; empty if not."""
    changes = replace(UNCHANGED, live_count=total, removed=lives(count))
    try:
        guard.check_unplanned(changes, lives(count), settings, guard.BY_PULUMI)
    except RefusedError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (5, 6, DEFAULT),
        (5, 25, DEFAULT),
        (20, 100, DEFAULT),
        (29, 100, Settings(max_removals=0, max_removal_ratio=0.29)),
        (7, 8, Settings(max_removals=7, max_removal_ratio=0.0)),
    ],
)
def test_the_engine_may_remove_up_to_the_larger_limit(
    count: int, total: int, settings: Settings
) -> None:
    assert unplanned(count, total, settings) == ""


@pytest.mark.parametrize(
    ("count", "total", "settings"),
    [
        (6, 29, DEFAULT),
        (21, 100, DEFAULT),
        (30, 100, Settings(max_removals=0, max_removal_ratio=0.29)),
        (1, 100, Settings(max_removals=0, max_removal_ratio=0.0)),
        (1, 4, Settings(max_removals=0)),
    ],
)
def test_one_removal_of_the_engine_above_both_limits_is_refused(
    count: int, total: int, settings: Settings
) -> None:
    assert unplanned(count, total, settings).startswith(
        f"{count} of {total} hosts would be removed, but one run may remove at most"
    )


def test_a_refusal_of_what_the_engine_would_remove_has_its_numbers_and_is_acknowledgeable() -> None:
    changes = replace(UNCHANGED, live_count=20, removed=lives(6))

    assert unplanned(6, 20, DEFAULT) == (
        "6 of 20 hosts would be removed, but one run may remove at most 5 (pic:maxRemovals 5,"
        " pic:maxRemovalRatio 0.2): h0.example.com, h1.example.com, h2.example.com,"
        " h3.example.com, h4.example.com, h5.example.com.\n" + remedy(changes)
    )
    assert unplanned(6, 20, Settings(acknowledge=changes.digest)) == ""
