"""What is refused, in which words, and what lets it through."""

from dataclasses import replace

import pytest

from pic.core.errors import RefusedError
from pic.core.model import LiveResource, Resource, Spec
from pic.planning import guard
from pic.planning.changes import Changes, Move, Weakening
from pic.settings.parse import Settings

DEFAULT = Settings()
NOBODY = Changes("pic.prod", "cluster-1")


def live(number: int) -> LiveResource:
    return LiveResource("prod", f"pic-{number}", f"uid-{number}", f"h{number}.example.com")


def lives(count: int) -> tuple[LiveResource, ...]:
    return tuple(live(number) for number in range(count))


def move(number: int) -> Move:
    there = live(number)
    return Move(Resource(there.host, "team", there.name, (), {}, Spec()), there)


def removing(count: int, known: int) -> Changes:
    return replace(NOBODY, known=known, wanted=known - count, removed=lives(count))


def weakening(count: int, known: int, *fields: str) -> Changes:
    found = [Weakening(live(at).host, field) for at in range(count) for field in fields or ("sso",)]
    return replace(NOBODY, known=known, wanted=known, weakened=tuple(found))


def refusal(changes: Changes, settings: Settings = DEFAULT) -> str:
    with pytest.raises(RefusedError) as caught:
        guard.check(changes, settings)
    return str(caught.value)


def remedy(changes: Changes) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={changes.digest} pulumi up"
    )


def test_a_first_run_may_create_as_much_as_it_likes() -> None:
    guard.check(replace(NOBODY, wanted=1000), DEFAULT)


def test_an_empty_plan_for_an_empty_stack_is_fine() -> None:
    guard.check(NOBODY, DEFAULT)


@pytest.mark.parametrize(
    ("count", "known", "settings"),
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
def test_removals_up_to_the_larger_of_both_limits_go(
    count: int, known: int, settings: Settings
) -> None:
    guard.check(removing(count, known), settings)


@pytest.mark.parametrize(
    ("count", "known", "settings"),
    [
        (6, 25, DEFAULT),
        (6, 29, DEFAULT),
        (21, 100, DEFAULT),
        (30, 100, Settings(max_removals=0, max_removal_ratio=0.29)),
        (1, 100, Settings(max_removals=0, max_removal_ratio=0.0)),
        (1, 4, Settings(max_removals=0)),
    ],
)
def test_one_removal_more_than_both_limits_is_refused(
    count: int, known: int, settings: Settings
) -> None:
    with pytest.raises(RefusedError, match=f"^{count} of {known} hosts would be removed"):
        guard.check(removing(count, known), settings)


def test_a_refusal_says_its_numbers_the_hosts_and_the_next_step() -> None:
    changes = removing(6, 20)

    assert refusal(changes) == (
        "6 of 20 hosts would be removed, but at most 5 may go in one run (pic:maxRemovals 5,"
        " pic:maxRemovalRatio 0.2): h0.example.com, h1.example.com, h2.example.com,"
        " h3.example.com, h4.example.com, h5.example.com.\n" + remedy(changes)
    )


def test_the_next_step_is_the_command_that_was_refused() -> None:
    changes = removing(6, 20)

    with pytest.raises(RefusedError) as caught:
        guard.check(changes, DEFAULT, "pic up --acknowledge {}")

    assert str(caught.value).splitlines()[-1] == (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" pic up --acknowledge {changes.digest}"
    )


def test_a_refusal_carries_its_digest_and_exit_code() -> None:
    changes = removing(6, 20)

    with pytest.raises(RefusedError) as caught:
        guard.check(changes, DEFAULT)

    assert (caught.value.digest, caught.value.exit_code) == (changes.digest, 3)


def test_moves_count_as_removals_and_long_lists_are_cut() -> None:
    moved = tuple(move(number) for number in range(6, 12))
    changes = replace(removing(6, 30), moved=moved)

    assert refusal(changes) == (
        "12 of 30 hosts would be removed or moved to another namespace, but at most 6 may go in"
        " one run (pic:maxRemovals 5, pic:maxRemovalRatio 0.2): h0.example.com, h1.example.com,"
        " h2.example.com, h3.example.com, h4.example.com, h5.example.com, h6.example.com,"
        " h7.example.com, h8.example.com, h9.example.com and 2 more.\n" + remedy(changes)
    )


def test_an_empty_plan_is_refused_however_few_there_are() -> None:
    changes = removing(1, 1)

    assert refusal(changes) == (
        "The plan is empty, and 1 of 1 hosts would be removed: h0.example.com.\n" + remedy(changes)
    )


def test_an_empty_plan_is_refused_whatever_the_limits_allow() -> None:
    changes = removing(3, 3)
    generous = Settings(max_removals=100, max_removal_ratio=1.0)

    assert refusal(changes, generous).startswith("The plan is empty, and 3 of 3 hosts")


@pytest.mark.parametrize(
    ("count", "known", "settings"),
    [
        (5, 20, DEFAULT),
        (6, 30, DEFAULT),
        (7, 20, Settings(max_weakened=7)),
        (1, 5, Settings(max_weakened=0)),
        (3, 20, Settings(max_removals=3, max_removal_ratio=0)),
    ],
)
def test_as_many_hosts_as_the_limit_may_lose_protection(
    count: int, known: int, settings: Settings
) -> None:
    guard.check(weakening(count, known), settings)


@pytest.mark.parametrize(
    ("count", "known", "settings"),
    [
        (6, 20, DEFAULT),
        (7, 30, DEFAULT),
        (8, 20, Settings(max_weakened=7)),
        (2, 5, Settings(max_weakened=0)),
        (4, 20, Settings(max_removals=3, max_removal_ratio=0)),
    ],
)
def test_one_host_more_than_the_limit_may_not_lose_protection(
    count: int, known: int, settings: Settings
) -> None:
    with pytest.raises(RefusedError, match=f"^{count} of {known} hosts would lose login or block"):
        guard.check(weakening(count, known), settings)


def test_a_host_that_loses_login_and_block_counts_once() -> None:
    guard.check(weakening(5, 20, "sso", "blockAccess"), DEFAULT)

    changes = weakening(6, 20, "sso", "blockAccess")
    assert refusal(changes) == (
        "6 of 20 hosts would lose login or block, but at most 5 may in one run"
        " (pic:maxWeakened): h0.example.com (sso), h0.example.com (blockAccess),"
        " h1.example.com (sso), h1.example.com (blockAccess), h2.example.com (sso),"
        " h2.example.com (blockAccess), h3.example.com (sso), h3.example.com (blockAccess),"
        " h4.example.com (sso), h4.example.com (blockAccess) and 2 more.\n" + remedy(changes)
    )


def test_every_reason_to_refuse_is_told_at_once() -> None:
    changes = replace(removing(6, 20), weakened=weakening(6, 20).weakened)

    assert [line.partition(",")[0] for line in refusal(changes).splitlines()] == [
        "6 of 20 hosts would be removed",
        "6 of 20 hosts would lose login or block",
        remedy(changes).partition(",")[0],
    ]


def test_another_cluster_is_refused_and_no_digest_helps() -> None:
    changes = NOBODY
    settings = Settings(cluster_id="cluster-2", acknowledge=changes.digest)

    with pytest.raises(RefusedError) as caught:
        guard.check(changes, settings)

    assert caught.value.digest == ""
    assert str(caught.value) == (
        "This is cluster cluster-1, and the stack belongs to cluster-2 (pic:clusterId). Check"
        " pic:context and KUBECONFIG; after a deliberate move to a new cluster, set pic:clusterId"
        " anew.\nNothing was changed."
    )


def test_a_cluster_that_does_not_say_who_it_is_is_another_one() -> None:
    changes = replace(NOBODY, cluster_id="")

    said = refusal(changes, Settings(cluster_id="cluster-2"))

    assert said.startswith("This is cluster (unknown), and the stack belongs to cluster-2 ")


def test_the_cluster_of_the_stack_is_agreed_to() -> None:
    guard.check(NOBODY, Settings(cluster_id="cluster-1"))


def test_an_object_of_somebody_else_is_never_overwritten() -> None:
    changes = replace(NOBODY, wanted=2, blocked=(live(1),))

    assert refusal(changes, Settings(acknowledge=changes.digest)) == (
        "PangolinResource prod/pic-1 would be overwritten, and pic did not make it. Delete or"
        " rename what is there.\nNothing was changed."
    )


def test_several_objects_of_somebody_else_are_all_named() -> None:
    assert refusal(replace(NOBODY, wanted=2, blocked=(live(1), live(2)))) == (
        "PangolinResource prod/pic-1, prod/pic-2 would be overwritten, and pic did not make them."
        " Delete or rename what is there.\nNothing was changed."
    )


def test_objects_of_the_go_controller_are_refused_until_adoption_is_asked_for() -> None:
    assert refusal(replace(NOBODY, wanted=2, predecessors=(live(1),))) == (
        "PangolinResource prod/pic-1 of the Go controller already exposes wanted hosts. Scale that"
        " controller to 0 and set pic:adopt: true to take its objects over.\nNothing was changed."
    )


def test_an_acknowledgement_covers_exactly_the_changes_it_names() -> None:
    seen, since = removing(6, 20), removing(7, 20)
    settings = Settings(acknowledge=seen.digest)

    guard.check(seen, settings)
    with pytest.raises(RefusedError):
        guard.check(since, settings)


def test_an_acknowledgement_covers_an_empty_plan_and_weakenings_too() -> None:
    changes = replace(removing(6, 6), weakened=weakening(6, 6).weakened)

    guard.check(changes, Settings(acknowledge=changes.digest))


def test_an_acknowledgement_of_other_changes_is_said_to_be_stale() -> None:
    changes = removing(6, 6)

    assert refusal(changes, Settings(acknowledge="0123456789ab")).splitlines()[1:] == [
        "The acknowledgement 0123456789ab is for other changes.",
        remedy(changes),
    ]


def test_an_acknowledgement_does_not_cover_a_stranger_beside_the_removals() -> None:
    changes = replace(removing(6, 20), blocked=(live(9),))

    assert refusal(changes, Settings(acknowledge=changes.digest)) == (
        "PangolinResource prod/pic-9 would be overwritten, and pic did not make it. Delete or"
        " rename what is there.\nNothing was changed."
    )


def test_a_refusal_that_no_digest_helps_against_offers_none() -> None:
    changes = replace(removing(6, 20), blocked=(live(9),))

    assert refusal(changes).splitlines()[-1] == "Nothing was changed."
