"""Tests that a run with several passes reports what every pass did."""

from pathlib import Path

from pic.engine import driver
from pic.engine.driver import DeployResult
from pic.engine.outcome import Outcome, counts_as_text
from tests.support.deployed import A, B, C, make_live, make_situation, make_state, urn, wanted
from tests.support.driving import FAILED_OUTCOME, ignore, situation_to_destroy
from tests.support.events import failure_event, message_event
from tests.support.fakes import FailingEngine, FakeEngine, outputs_of

ADOPTED = Outcome({"import": [urn(B)], "create": [urn(C)]}, done=2)
DELETED = Outcome({"delete": [urn(B)]}, done=1)


def run_with_stray(root: Path, *outcomes: Outcome, engine: type[FakeEngine]) -> DeployResult:
    """Deploy where C is new, and an interrupted run has left B."""
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A), wanted(C)))
    made = engine(root, outputs_of(situation), make_state(wanted(A)), *outcomes)
    return driver.up(made, situation, ignore)


def test_25_the_result_has_what_an_adopting_pass_and_the_deployment_did(tmp_path: Path) -> None:
    outcome = run_with_stray(tmp_path, ADOPTED, DELETED, engine=FakeEngine).outcome

    assert outcome == Outcome(
        {"import": [urn(B)], "create": [urn(C)], "delete": [urn(B)]}, done=3
    )
    assert counts_as_text(outcome.changed) == "1 adopted, 1 created, 1 deleted"


def test_25_the_result_of_a_failed_deployment_has_what_the_adopting_pass_did(
    tmp_path: Path,
) -> None:
    result = run_with_stray(tmp_path, ADOPTED, FAILED_OUTCOME, engine=FakeEngine)

    assert result.outcome is not None
    assert result.outcome.changed == {"import": 1, "create": 1}
    assert result.failures == FAILED_OUTCOME.failures


def test_25_the_result_of_a_deployment_that_cannot_start_has_what_the_adopting_pass_did(
    tmp_path: Path,
) -> None:
    result = run_with_stray(tmp_path, ADOPTED, engine=FailingEngine)

    assert (result.outcome, str(result.error)) == (ADOPTED, "the backend is gone")


def test_25_the_result_of_a_destroy_has_what_it_imported(tmp_path: Path) -> None:
    situation = situation_to_destroy(A, B)
    imported, deleted = Outcome({"import": [urn(B)]}), Outcome({"delete": [urn(A), urn(B)]})
    engine = FakeEngine(
        tmp_path, outputs_of(situation), make_state(wanted(A)), imported, deleted
    )

    outcome = driver.destroy(engine, situation, ignore).outcome

    assert outcome == Outcome({"import": [urn(B)], "delete": [urn(A), urn(B)]})


def test_25_a_destroy_that_cannot_start_after_its_import_is_in_the_result(tmp_path: Path) -> None:
    situation = situation_to_destroy(A)
    imported = Outcome({"import": [urn(A)]})

    result = driver.destroy(FailingEngine(tmp_path, {}, None, imported), situation, ignore)

    assert (result.outcome, str(result.error)) == (imported, "the backend is gone")


def outcome_of(operation: str, host: str, warning: str) -> Outcome:
    """Return the outcome of a pass that changed a host and failed with another."""
    outcome = Outcome({operation: [urn(host)]}, done=1, warnings=[warning])
    outcome.add_line(failure_event(C))
    outcome.add_line(message_event("error", f"{operation} failed", urn(C)))
    return outcome


def test_25_what_two_passes_say_counts_once() -> None:
    first, second = outcome_of("update", A, "take care"), outcome_of("update", A, "take care")

    assert second.including(first) == Outcome(
        {"update": [urn(A)]}, 2, ["take care"], [urn(C)], {urn(C): ["update failed"]}
    )


def test_25_the_failures_of_two_passes_are_in_the_result_and_neither_pass_changes() -> None:
    first, second = outcome_of("create", A, "one"), outcome_of("update", A, "two")

    assert second.including(first) == Outcome(
        {"create": [urn(A)], "update": [urn(A)]},
        2,
        ["one", "two"],
        [urn(C)],
        {urn(C): ["create failed", "update failed"]},
    )
    assert second == outcome_of("update", A, "two")
    assert first == outcome_of("create", A, "one")
