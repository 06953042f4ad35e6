"""Tests what a deployment leaves out while Kubernetes is deleting the object that has a host."""

from dataclasses import replace
from pathlib import Path

from pic.core.ingress import Deletion
from pic.core.model import LiveResource, Resource
from pic.core.notices import Notice, Reason, Ref
from pic.engine import driver, withholding
from pic.engine.outcome import Failure
from pic.run.targets.interface import Declaration
from tests.support.deployed import A, B, C, make_live, make_situation, make_state, wanted
from tests.support.driving import ignore
from tests.support.fakes import DONE, FakeEngine, outputs_of

GOING = Deletion("2025-01-01T00:00:00+00:00", ("tunnel.pangolin.io/finalizer",))
FAILURE_OF_A = Failure(
    A,
    "HeldByFinalizer: Kubernetes is still deleting PangolinResource prod/pic-a (since"
    " 2025-01-01T00:00:00+00:00, finalizer tunnel.pangolin.io/finalizer), which has this host: run"
    " pic up again once it is gone",
)


def going(resource: Resource) -> LiveResource:
    return replace(make_live(resource), going=GOING)


def kept(resource: Resource) -> Declaration:
    """Return the declaration of a resource as the last deployment made it."""
    return Declaration(resource.host, make_state(resource).resources[resource.host].inputs)


def test_23_a_host_whose_object_is_going_stays_declared_as_it_was(tmp_path: Path) -> None:
    recreated = replace(wanted(A), labels={**wanted(A).labels, "uid": "new"})
    situation = make_situation((going(wanted(A)), make_live(wanted(B))), (recreated, wanted(B)))
    state = make_state(wanted(A), wanted(B))

    without = withholding.withhold(situation, state)

    assert without == replace(
        situation,
        plan=replace(situation.plan, resources=(wanted(B),)),
        withheld={A: going(wanted(A))},
        kept={"pangolin": [kept(wanted(A))]},
    )
    engine = FakeEngine(tmp_path, outputs_of(situation), state)
    result = driver.up(engine, situation, ignore)
    assert result.failures == result.all_failures == (FAILURE_OF_A,)
    assert (result.outcome, result.changes) == (DONE, situation.changes)
    assert ("up", {A: "", B: ""}) in engine.log


def test_20_an_object_that_nothing_asks_for_stays_declared_and_fails_nothing(
    tmp_path: Path,
) -> None:
    situation = make_situation((going(wanted(A)), make_live(wanted(B))), (wanted(B),))
    state = make_state(wanted(A), wanted(B))
    engine = FakeEngine(tmp_path, None, state)

    assert withholding.withhold(situation, state) == replace(
        situation, kept={"pangolin": [kept(wanted(A))]}
    )
    assert driver.up(engine, situation, ignore).failures == ()


def test_20_an_object_that_the_state_does_not_have_is_not_declared() -> None:
    situation = make_situation((going(wanted(A)),), ())

    assert withholding.withhold(situation, make_state()) == situation


def test_23_a_host_waits_without_a_state_as_well() -> None:
    situation = make_situation((going(wanted(A)),), (wanted(A),))

    without = withholding.withhold(situation, make_state())

    assert (without.plan.resources, without.kept) == ((), {})
    assert withholding.failures(without.withheld) == (FAILURE_OF_A,)


def test_23_a_name_in_the_state_that_is_going_is_not_declared_for_another_object() -> None:
    # The live object has the host under another name, which the state does not know.
    renamed = replace(wanted(A), name="pic-new")
    situation = make_situation((going(wanted(A)), make_live(renamed)), (renamed, wanted(C)))

    without = withholding.withhold(situation, make_state(wanted(A)))

    assert without.plan.resources == (wanted(C),)
    assert without.kept == {"pangolin": [kept(wanted(A))]}


def test_20_a_destroy_does_not_count_what_is_going() -> None:
    removal = driver.full_removal(make_situation((going(wanted(A)),), ()))

    assert (removal.removed, removal.going) == ((), (going(wanted(A)),))


def test_09_an_object_with_other_labels_stays_declared_and_fails_no_run(tmp_path: Path) -> None:
    taken = replace(make_live(wanted(A)), labels={})
    situation = make_situation((taken, make_live(wanted(B)), going(wanted(C))), (wanted(B),))
    state = make_state(wanted(A), wanted(B), wanted(C))
    notice = Notice(
        Reason.NO_LONGER_OURS,
        Ref("PangolinResource", "prod", "pic-a"),
        "someone gave it other labels, so pic neither changes nor deletes it, and no Ingress asks"
        " for its host: delete it with kubectl",
        A,
    )

    assert withholding.withhold(situation, state) == replace(
        situation,
        config=replace(situation.config, remarks=(notice,)),
        kept={"pangolin": [kept(wanted(A)), kept(wanted(C))]},
    )
    assert driver.up(FakeEngine(tmp_path, {}, state), situation, ignore).failures == ()


def test_09_an_object_with_other_labels_is_not_kept_for_a_host_that_is_planned() -> None:
    situation = make_situation((replace(make_live(wanted(A)), labels={}),), (wanted(A),))

    assert withholding.withhold(situation, make_state(wanted(A))) == situation
