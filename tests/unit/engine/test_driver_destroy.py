"""Tests what a destroy imports, deletes and refuses."""

from dataclasses import replace
from pathlib import Path

from pic.engine import driver
from pic.engine.backend.state import StackState
from pic.engine.result import DeployResult
from tests.support.deployed import A, B, make_state, wanted
from tests.support.driving import FAILED_OUTCOME, ignore, refusal, situation_to_destroy
from tests.support.fakes import DONE, FakeEngine, outputs_of, unchanged_situation


def test_a_destroy_is_refused_until_it_is_acknowledged(tmp_path: Path) -> None:
    engine, situation = FakeEngine(tmp_path, {}), unchanged_situation(A)

    error = refusal(lambda: driver.destroy(engine, situation, ignore))

    digest = driver.full_removal(situation).digest
    assert (str(error), error.digest, engine.log) == (
        "The only live host would be removed: a.example.com.\nNothing was"
        " changed. If this is intended, acknowledge exactly these changes: pic destroy"
        f" --acknowledge {digest}",
        digest,
        [],
    )


def test_a_destroy_registers_only_the_hooks(tmp_path: Path) -> None:
    situation, messages = situation_to_destroy(A), list[str]()
    engine = FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A)))

    assert driver.destroy(engine, situation, messages.append) == DeployResult(
        driver.full_removal(situation), DONE
    )
    assert engine.log == ["exclusive", "outputs", "state", ("destroy", {}), "done"]
    assert messages == ["deleting"]


def test_a_destroy_imports_the_objects_that_the_state_does_not_have(tmp_path: Path) -> None:
    situation, messages = situation_to_destroy(A, B), list[str]()
    engine = FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A)))

    driver.destroy(engine, situation, messages.append)

    assert engine.log[3:] == [
        ("up", {A: "prod/pic-a", B: "prod/pic-b"}),
        ("destroy", {}),
        "done",
    ]
    assert messages == ["importing 1 object that the state does not have", "deleting"]


def test_a_destroy_creates_a_missing_stack(tmp_path: Path) -> None:
    engine = FakeEngine(tmp_path, None)

    driver.destroy(engine, situation_to_destroy(A), ignore)

    assert engine.log == [
        *("exclusive", "outputs", "create", "state"),
        ("up", {A: "prod/pic-a"}),
        ("destroy", {}),
        "done",
    ]


def test_a_destroy_whose_import_fails_deletes_nothing(tmp_path: Path) -> None:
    situation = situation_to_destroy(A)
    engine = FakeEngine(tmp_path, {}, StackState(), FAILED_OUTCOME)

    assert driver.destroy(engine, situation, ignore) == DeployResult(
        driver.full_removal(situation), FAILED_OUTCOME
    )
    assert engine.log[3:] == [("up", {A: "prod/pic-a"}), "done"]


def test_a_destroy_on_another_cluster_deletes_nothing(tmp_path: Path) -> None:
    situation = situation_to_destroy()
    settings = replace(situation.settings, cluster_id="cluster-2")
    other = replace(situation, config=replace(situation.config, settings=settings))
    engine = FakeEngine(tmp_path, {})

    assert str(refusal(lambda: driver._releasing(other).run(engine.destroy))) == (  # noqa: SLF001
        "This is cluster cluster-1, and the stack belongs to cluster-2 (pic:clusterId). Check"
        " pic:context and KUBECONFIG. If you moved the stack to a new cluster, set pic:clusterId"
        " to its id.\nNothing was changed."
    )
