"""Tests that a run reports what every pass did, and that the namespaces share its Events."""

from dataclasses import replace
from pathlib import Path

from pic.cluster.events import EVENTS_A_RUN
from pic.core.model import LiveRecord, Owner, Record
from pic.engine import driver
from pic.engine.event_shares import EventShares, event_shares
from pic.engine.hooks import Hooks, RunContext
from pic.engine.outcome import Outcome, counts_as_text
from pic.engine.result import DeployResult
from pic.planning.changes import Changes, Move, Update
from pic.planning.record_changes import RecordChanges, RecordUpdate
from tests.support import engine
from tests.support.deployed import OURS, A, B, C, make_live, make_situation, make_state, urn, wanted
from tests.support.driving import FAILED_OUTCOME, ignore, situation_to_destroy
from tests.support.events import failure_event, message_event
from tests.support.fakes import FailingEngine, FakeEngine, outputs_of
from tests.support.hooks import OneObjectTransport, hook_args, inputs

ADOPTED = Outcome({"import": [urn(B)], "create": [urn(C)]}, done=2)
DELETED = Outcome({"delete": [urn(B)]}, done=1)


def run_with_stray(root: Path, *outcomes: Outcome, kind: type[FakeEngine]) -> DeployResult:
    """Deploy where C is new, and an interrupted run has left B."""
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A), wanted(C)))
    made = kind(root, outputs_of(situation), make_state(wanted(A)), *outcomes)
    return driver.up(made, situation, ignore)


def test_25_the_result_has_what_an_adopting_pass_and_the_deployment_did(tmp_path: Path) -> None:
    outcome = run_with_stray(tmp_path, ADOPTED, DELETED, kind=FakeEngine).outcome

    assert outcome == Outcome({"import": [urn(B)], "create": [urn(C)], "delete": [urn(B)]}, done=3)
    assert counts_as_text(outcome.changed) == "1 adopted, 1 created, 1 deleted"


def test_25_the_result_of_a_failed_deployment_has_what_the_adopting_pass_did(
    tmp_path: Path,
) -> None:
    result = run_with_stray(tmp_path, ADOPTED, FAILED_OUTCOME, kind=FakeEngine)

    assert result.outcome is not None
    assert result.outcome.changed == {"import": 1, "create": 1}
    assert result.failures == FAILED_OUTCOME.failures


def test_25_the_result_of_a_deployment_that_cannot_start_has_what_the_adopting_pass_did(
    tmp_path: Path,
) -> None:
    result = run_with_stray(tmp_path, ADOPTED, kind=FailingEngine)

    assert (result.outcome, str(result.error)) == (ADOPTED, "the backend is gone")


def test_25_the_result_of_a_destroy_has_what_it_imported(tmp_path: Path) -> None:
    situation = situation_to_destroy(A, B)
    imported, deleted = Outcome({"import": [urn(B)]}), Outcome({"delete": [urn(A), urn(B)]})
    engine = FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A)), imported, deleted)

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


def moved(host: str) -> Move:
    return Move(wanted(host, "new"), make_live(wanted(host, "old")))


def changes_of(**parts: tuple[object, ...]) -> Changes:
    return replace(Changes("pic.prod", "cluster-1"), **parts)  # type: ignore[arg-type]


MANY = tuple(wanted(f"h{number}.example.com", "noisy") for number in range(EVENTS_A_RUN))


def test_21_changes_that_fit_are_events_in_every_namespace() -> None:
    update = Update(wanted(B), make_live(wanted(B)), ())

    assert event_shares(changes_of(created=MANY[2:], updated=(update,)), {}, frozenset({A})) == (
        EventShares()
    )


def test_21_a_namespace_with_more_changes_than_its_share_leaves_others_their_events() -> None:
    changes = changes_of(created=MANY, removed=(make_live(wanted(A)),))

    shared = event_shares(changes, {}, frozenset())

    names = frozenset(resource.host for resource in MANY)
    assert shared == EventShares(frozenset({"noisy"}), names, EVENTS_A_RUN)
    assert shared.message == "100 hosts change at once in noisy, so pic posts no Events for them"


def test_21_a_host_that_moves_counts_in_both_of_its_namespaces() -> None:
    changes = changes_of(created=MANY[1:], moved=(moved(A),))

    assert event_shares(changes, {}, frozenset()).quiet == {"noisy"}


def test_21_records_count_in_the_namespaces_of_their_ingresses() -> None:
    records = tuple(Record(resource.host, "10.0.0.1", ()) for resource in MANY)
    removed = tuple(LiveRecord(f"old-{record.host}", "10.0.0.1") for record in records[:2])
    update = RecordUpdate(Record(A, "10.0.0.1", ()), LiveRecord(A, "10.0.0.2"))
    owner, victim = Owner("noisy", "web", "u"), Owner("prod", "web", "u")
    noisy: list[Record | LiveRecord] = [*records, *removed]
    owners = {A: [victim], **{record.host: [owner] for record in noisy}}
    changes = changes_of()
    changes = replace(changes, records=RecordChanges(0, 0, records, (update,), removed))

    shared = event_shares(changes, owners, frozenset())

    assert (set(shared.quiet), shared.count) == ({"noisy"}, EVENTS_A_RUN + 2)
    assert f"{A}/A" not in shared.silent
    assert f"{MANY[0].host}/A" in shared.silent


def test_21_a_large_import_binds_no_hooks_for_what_does_not_change() -> None:
    hosts = frozenset(f"live{number}.example.com" for number in range(EVENTS_A_RUN + 1))

    assert event_shares(changes_of(created=MANY[:1]), {}, hosts) == EventShares(silent=hosts)


def test_21_a_message_names_the_first_of_many_namespaces() -> None:
    shared = EventShares(frozenset("abcdefg"), count=700)

    assert shared.message == (
        "700 hosts change at once in a, b, c, d, e and 2 more, so pic posts no Events for them"
    )


def test_21_a_quiet_namespace_posts_no_events() -> None:
    transport = OneObjectTransport()
    context = RunContext(transport, OURS, events=True, quiet=frozenset({"noisy"}))

    async def program() -> None:
        hooks = Hooks()
        hooks.bind(context)
        await hooks.post_deleted(hook_args(old_inputs=inputs(namespace="noisy")))
        await hooks.post_deleted(hook_args(old_inputs=inputs()))

    assert engine.run(program).error is None
    assert [path for _, path, _ in transport.requests] == ["/api/v1/namespaces/prod/events"]
