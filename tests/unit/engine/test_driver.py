"""Tests which passes of the engine a deployment needs, and what it refuses."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pic.cluster.events import EVENTS_A_RUN
from pic.cluster.pinned import Pinned
from pic.core.model import LiveResource
from pic.engine import driver, repair
from pic.engine.outcome import Failure, Outcome
from pic.engine.result import DeployResult
from pic.run import fingerprint
from pic.settings.parse import Settings
from tests.support import engine as mocks
from tests.support.deployed import (
    CLUSTER,
    A,
    B,
    C,
    make_live,
    make_situation,
    make_state,
    urn,
    wanted,
    write_executable,
)
from tests.support.driving import FAILED_OUTCOME, ignore, refusal, situation_to_destroy
from tests.support.fakes import DONE, FakeEngine, outputs_of, unchanged_situation

PINNED = Pinned("here", {"server": "https://one.example.com"}, {})
STRICT = Settings(cluster_id=CLUSTER, max_removals=0, max_removal_ratio=0)
FAILURES = (Failure(A, "the engine gave no reason"),)


def test_a_run_without_changes_starts_no_engine(tmp_path: Path) -> None:
    situation = unchanged_situation(A)
    engine = FakeEngine(tmp_path, outputs_of(situation))

    result = driver.up(engine, situation, ignore)

    assert result == DeployResult(situation.changes)
    assert result.failures == ()
    assert engine.log == ["exclusive", "outputs", "done"]


def test_the_conditions_do_not_depend_on_the_order_of_a_setting() -> None:
    one = Settings(namespaces=("b", "a"), ingress_classes=("y", "x"))
    two = Settings(namespaces=("a", "b"), ingress_classes=("x", "y"))

    conditions = [
        fingerprint.conditions(unchanged_situation(A, settings=settings)) for settings in (one, two)
    ]

    assert conditions[0] == conditions[1]
    assert (conditions[0]["namespaces"], conditions[0]["ingressClasses"]) == ("a, b", "x, y")


@pytest.mark.parametrize(
    ("outputs", "passes"),
    [
        ({"digest": "other"}, ["up"]),
        ({"deployed": {}}, ["up"]),
        ({"deployed": None}, ["up"]),
        ({"deployed": {"pic": "0.0.1"}}, ["preview", "up"]),
    ],
)
def test_a_deployment_under_other_conditions_is_declared_again(
    tmp_path: Path, outputs: Mapping[str, object], passes: list[str]
) -> None:
    situation = unchanged_situation(A)
    engine = FakeEngine(tmp_path, {**outputs_of(situation), **outputs}, make_state(wanted(A)))

    assert driver.up(engine, situation, ignore) == DeployResult(situation.changes, DONE)
    assert engine.log == [
        *("exclusive", "outputs", "state"),
        *((operation, {A: ""}) for operation in passes),
        "done",
    ]


def test_a_new_stack_is_created_first(tmp_path: Path) -> None:
    situation, messages = make_situation((), (wanted(A), wanted(B))), list[str]()
    engine = FakeEngine(tmp_path, None)

    assert driver.up(engine, situation, messages.append) == DeployResult(situation.changes, DONE)
    assert engine.log == ["exclusive", "outputs", "create", ("up", {A: "", B: ""}), "done"]
    assert messages == ["deploying"]


def test_an_interrupted_first_run_leaves_resources_but_no_outputs(
    tmp_path: Path,
) -> None:
    situation = make_situation((), (wanted(A),))
    engine = FakeEngine(tmp_path, {}, make_state(wanted(A)))

    driver.up(engine, situation, ignore)

    assert engine.log == [
        *("exclusive", "outputs", "state"),
        ("refresh", urn(A)),
        ("up", {A: ""}),
        "done",
    ]


def edited(host: str) -> LiveResource:
    live = make_live(wanted(host))
    return replace(live, spec=replace(live.spec, enabled=False))


def test_only_objects_that_others_changed_or_deleted_are_refreshed(tmp_path: Path) -> None:
    situation = make_situation((edited(A), make_live(wanted(B))), (wanted(A), wanted(B), wanted(C)))
    engine = FakeEngine(
        tmp_path, outputs_of(situation), make_state(wanted(A), wanted(B), wanted(C))
    )
    messages: list[str] = []

    assert driver.up(engine, situation, messages.append) == DeployResult(situation.changes, DONE)
    assert engine.log[3:5] == [("refresh", urn(A), urn(C)), ("up", {A: "", B: "", C: ""})]
    assert messages == [
        "refreshing 2 objects that others changed or deleted",
        "deploying",
    ]


def test_a_failed_refresh_ends_the_run(tmp_path: Path) -> None:
    situation = make_situation((edited(A),), (wanted(A),))
    engine = FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A)), FAILED_OUTCOME)

    result = driver.up(engine, situation, ignore)

    assert (result, result.failures) == (DeployResult(situation.changes, FAILED_OUTCOME), FAILURES)
    assert engine.log[3:] == [("refresh", urn(A)), "done"]


class HookRecorder(FakeEngine):
    """An engine that records the hooks of the first resource."""

    def up(self, body: Callable[[], None]) -> Outcome:
        self.log.extend(sorted(mocks.run(body).resources[1]["hooks"]))
        return DONE


@pytest.mark.parametrize(
    ("count", "hooks"),
    [
        (EVENTS_A_RUN, ["afterCreate", "afterDelete", "afterUpdate", "beforeDelete"]),
        (EVENTS_A_RUN + 1, ["beforeDelete"]),
    ],
)
def test_a_large_import_posts_no_events(tmp_path: Path, count: int, hooks: list[str]) -> None:
    situation = unchanged_situation(*(f"h{at}.example.com" for at in range(count)))
    engine = HookRecorder(tmp_path, None)

    driver.up(engine, situation, ignore)

    assert engine.log == ["exclusive", "outputs", "create", *hooks, "done"]


def test_a_second_digest_is_acknowledged_next_to_the_first(tmp_path: Path) -> None:
    live = (make_live(wanted(A)), make_live(wanted(B)), make_live(wanted(C)))
    first = make_situation(live, (wanted(A), wanted(B)), STRICT).changes.digest
    situation = make_situation(live, (wanted(A), wanted(B)), replace(STRICT, acknowledge=first))
    stale = {**outputs_of(situation), "deployed": {"pic": "0.0.1"}}
    engine = FakeEngine(tmp_path, stale, make_state(wanted(A)), replacing(A))

    error = refusal(lambda: driver.up(engine, situation, ignore))

    assert str(error).endswith(f": pic up --acknowledge {first},{error.digest}")
    both = replace(STRICT, acknowledge=f"{first},{error.digest}")
    engine = FakeEngine(tmp_path, stale, make_state(wanted(A)), replacing(A))
    result = driver.up(engine, make_situation(live, (wanted(A), wanted(B)), both), ignore)
    assert result.outcome == DONE


def test_a_refusal_comes_before_any_use_of_the_engine(tmp_path: Path) -> None:
    situation = make_situation((make_live(wanted(A)),), ())
    changes = replace(situation.changes, no_host_survives=True)
    situation = replace(situation, changes=changes)
    engine = FakeEngine(tmp_path, outputs_of(situation))

    error = refusal(lambda: driver.up(engine, situation, ignore))

    assert (error.digest, engine.log) == (situation.changes.digest, [])
    assert str(error).endswith(
        f" acknowledge exactly these changes: pic up --acknowledge {situation.changes.digest}"
    )


def replacing(host: str) -> Outcome:
    return Outcome({"delete-replaced": [urn(host)], "create-replacement": [urn(host)]})


def test_a_run_in_which_the_engine_would_do_more_than_the_plan_is_refused(tmp_path: Path) -> None:
    situation = unchanged_situation(A, B, settings=STRICT)
    engine = FakeEngine(
        tmp_path, outputs_of(situation, plugin="4.0"), make_state(wanted(A)), replacing(A)
    )
    now = fingerprint.conditions(situation)["plugin"]
    messages: list[str] = []

    error = refusal(lambda: driver.up(engine, situation, messages.append))

    digest = replace(situation.changes, removed=(make_live(wanted(A)),)).digest
    assert str(error) == (
        f"The engine would do more than the plan says, since plugin 4.0 → {now}.\n"
        "1 of 2 hosts would be removed, but one run may remove at most 0 (pic:maxRemovals 0,"
        " pic:maxRemovalRatio 0): a.example.com.\nNothing was changed. If this is intended,"
        f" acknowledge exactly these changes: pic up --acknowledge {digest}"
    )
    assert error.digest == digest
    assert messages == [f"asking the engine for a preview first, since plugin 4.0 → {now}"]
    assert engine.log[3:] == [("preview", {A: "", B: ""})]

    situation = unchanged_situation(A, B, settings=replace(STRICT, acknowledge=digest))
    engine = FakeEngine(
        tmp_path, outputs_of(situation, plugin="4.0"), make_state(wanted(A)), replacing(A)
    )
    assert driver.up(engine, situation, ignore) == DeployResult(situation.changes, DONE)


@pytest.mark.parametrize(
    "outcome", [replacing(A), replacing(B), replacing(C), Outcome({"update": [urn(A)]})]
)
def test_a_run_in_which_the_engine_would_do_little_more_than_the_plan_continues(
    tmp_path: Path, outcome: Outcome
) -> None:
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A),))
    engine = FakeEngine(
        tmp_path, outputs_of(situation, plugin="4.0"), make_state(wanted(A), wanted(B)), outcome
    )

    assert driver.up(engine, situation, ignore) == DeployResult(situation.changes, DONE)
    assert engine.log[3:] == [("preview", {A: ""}), ("up", {A: ""}), "done"]


def test_an_object_that_the_state_does_not_have_is_imported_before_its_deletion(
    tmp_path: Path,
) -> None:
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A),))
    engine, messages = (
        FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A))),
        list[str](),
    )

    assert driver.up(engine, situation, messages.append) == DeployResult(situation.changes, DONE)
    assert engine.log[3:] == [("up", {A: "", B: "prod/pic-b"}), ("up", {A: ""}), "done"]
    assert messages == ["importing 1 object that an interrupted run left", "deploying"]


def test_a_failed_import_ends_the_run(tmp_path: Path) -> None:
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A),))
    engine = FakeEngine(tmp_path, outputs_of(situation), make_state(wanted(A)), FAILED_OUTCOME)

    assert driver.up(engine, situation, ignore) == DeployResult(situation.changes, FAILED_OUTCOME)
    assert engine.log[3:] == [("up", {A: "", B: "prod/pic-b"}), "done"]


def test_a_preview_refuses_nothing_and_warns(tmp_path: Path) -> None:
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A),), STRICT)
    engine = FakeEngine(tmp_path, {})

    assert driver.preview(engine, situation) == DONE
    assert engine.log == [("preview", {A: ""})]


def test_a_removal_of_a_planned_object_is_unplanned() -> None:
    situation = make_situation((make_live(wanted(A)), make_live(wanted(B))), (wanted(A),))

    assert repair.unplanned_removals(
        situation.snapshot, situation.plan, Outcome({"delete": [urn(A), urn(B)]})
    ) == (make_live(wanted(A)),)


@pytest.mark.parametrize("action", [driver.up, driver.destroy])
def test_every_run_prunes_the_history(tmp_path: Path, action: Callable[..., DeployResult]) -> None:
    folder = tmp_path / ".pulumi" / "history" / "pic" / "prod"
    for moment in (1, 2, 3):
        write_executable(folder / f"prod-{moment}.history.json", "{}")
    situation = situation_to_destroy(A)
    settings = replace(situation.settings, keep_history=1)

    action(
        FakeEngine(tmp_path, {}),
        replace(situation, config=replace(situation.config, settings=settings)),
        ignore,
    )

    assert [path.name for path in folder.iterdir()] == ["prod-3.history.json"]


def fake_cli(tmp_path: Path) -> dict[str, str]:
    """Return an environment whose PATH has a CLI."""
    return {"PATH": str(write_executable(tmp_path / "pulumi", "#!/bin/sh\n").parent)}


def test_an_engine_works_in_the_current_folder_with_the_pinned_context(tmp_path: Path) -> None:
    environment = {**fake_cli(tmp_path), "KUBECONFIG": "/theirs", "HOME": "/home"}

    engine = driver.engine_for("prod", environment, print, PINNED)

    assert (engine.root, engine.stack, engine.on_progress) == (Path.cwd(), "prod", print)
    assert engine.command.command == str(tmp_path / "pulumi")
    assert (engine.environment, engine.kubeconfig) == (environment, PINNED)
    assert engine.steal_after is None


def test_an_engine_steals_old_locks_of_other_hosts(tmp_path: Path) -> None:
    age = timedelta(minutes=7)

    engine = driver.engine_for("prod", fake_cli(tmp_path), print, PINNED, steal_after=age)

    assert engine.steal_after == age
