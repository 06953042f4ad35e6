"""What a destroy takes up, what it refuses, and what it leaves."""

from dataclasses import replace
from pathlib import Path

from pic.engine import driver
from pic.engine.backend.state import StackState
from pic.engine.driver import DeployResult
from tests.support.deployed import (
    A,
    B,
    state,
    wanted,
)
from tests.support.fakes import (
    DONE,
    FakeEngine,
    outputs_of,
    unchanged_situation,
)
from tests.unit.engine.test_driver import (
    WRONG,
    destroying,
    refusal,
    silent,
)


def test_a_destroy_is_refused_until_it_is_acknowledged(tmp_path: Path) -> None:
    engine, known = FakeEngine(tmp_path, {}), unchanged_situation(A)

    error = refusal(lambda: driver.destroy(engine, known, silent))

    digest = driver.everything(known).digest
    assert (str(error), error.digest, engine.log) == (
        "The plan has no hosts, and 1 of 1 hosts would be removed: a.example.com.\nNothing was"
        " changed. If this is intended, acknowledge exactly these changes: pic destroy"
        f" --acknowledge {digest}",
        digest,
        [],
    )


def test_a_destroy_declares_nothing_but_its_hooks(tmp_path: Path) -> None:
    known, told = destroying(A), list[str]()
    engine = FakeEngine(tmp_path, outputs_of(known), state(wanted(A)))

    assert driver.destroy(engine, known, told.append) == DeployResult(
        driver.everything(known), DONE
    )
    assert engine.log == ["exclusive", "outputs", "state", ("destroy", {}), "done"]
    assert told == ["deleting"]


def test_a_destroy_takes_up_what_the_engine_has_forgotten(tmp_path: Path) -> None:
    known, told = destroying(A, B), list[str]()
    engine = FakeEngine(tmp_path, outputs_of(known), state(wanted(A)))

    driver.destroy(engine, known, told.append)

    assert engine.log[3:] == [
        ("up", {A: "prod/pic-a", B: "prod/pic-b"}),
        ("destroy", {}),
        "done",
    ]
    assert told == ["importing 1 objects that the state does not have", "deleting"]


def test_a_destroy_of_a_stack_that_is_lost_makes_it_anew(tmp_path: Path) -> None:
    engine = FakeEngine(tmp_path, None)

    driver.destroy(engine, destroying(A), silent)

    assert engine.log == [
        *("exclusive", "outputs", "create", "state"),
        ("up", {A: "prod/pic-a"}),
        ("destroy", {}),
        "done",
    ]


def test_a_destroy_that_cannot_take_up_everything_deletes_nothing(tmp_path: Path) -> None:
    known = destroying(A)
    engine = FakeEngine(tmp_path, {}, StackState(), WRONG)

    assert driver.destroy(engine, known, silent) == DeployResult(driver.everything(known), WRONG)
    assert engine.log[3:] == [("up", {A: "prod/pic-a"}), "done"]


def test_a_destroy_on_another_cluster_deletes_nothing(tmp_path: Path) -> None:
    known = destroying()
    settings = replace(known.settings, cluster_id="cluster-2")
    other = replace(known, config=replace(known.config, settings=settings))
    engine = FakeEngine(tmp_path, {})

    assert str(refusal(lambda: driver._releasing(other).run(engine.destroy))) == (  # noqa: SLF001
        "This is cluster cluster-1, and the stack belongs to cluster-2 (pic:clusterId). Check"
        " pic:context and KUBECONFIG. If you moved the stack to a new cluster, set pic:clusterId"
        " to its id.\nNothing was changed."
    )
