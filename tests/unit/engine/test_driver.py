"""Which starts of the engine a run needs, and what it refuses before and after them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from pic.cluster.events import EVENTS_A_RUN
from pic.cluster.listing import IDENTITY
from pic.core.errors import RefusedError
from pic.core.model import LiveResource
from pic.engine import driver
from pic.engine.driver import DeployResult
from pic.engine.engine import Engine
from pic.engine.outcome import Failure, Outcome
from pic.run import fingerprint
from pic.run.situation import Situation
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from tests.support import engine as mocks
from tests.support.deployed import (
    CLUSTER,
    OURS,
    STACK,
    A,
    B,
    C,
    NoApi,
    live,
    situation,
    state,
    urn,
    wanted,
    write,
)
from tests.support.fakes import (
    DONE,
    FakeEngine,
    outputs_of,
    unchanged_situation,
)
from tests.unit.engine.test_outcome import failed

STRICT = Settings(cluster_id=CLUSTER, max_removals=0, max_removal_ratio=0)
WRONG = Outcome()
WRONG.feed(failed(A))
FAILED = (Failure(A, "the engine gave no reason"),)


class Api(NoApi):
    """An API server that knows who it is."""

    def get(self, path: str) -> object:
        return {"metadata": {"uid": CLUSTER}} if path == IDENTITY else super().get(path)


def silent(_: str) -> None:
    """Tell nobody."""


def refusal(act: Callable[[], object]) -> RefusedError:
    with pytest.raises(RefusedError) as caught:
        act()
    return caught.value


def test_without_changes_there_is_no_engine(tmp_path: Path) -> None:
    known = unchanged_situation(A)
    engine = FakeEngine(tmp_path, outputs_of(known))

    result = driver.up(engine, known, silent)

    assert result == DeployResult(known.changes)
    assert result.failures == ()
    assert engine.log == ["exclusive", "outputs", "done"]


def test_the_scope_of_a_deployment_does_not_depend_on_the_order_it_is_set_in() -> None:
    one = Settings(namespaces=("b", "a"), ingress_classes=("y", "x"))
    two = Settings(namespaces=("a", "b"), ingress_classes=("x", "y"))

    found = [fingerprint.means(unchanged_situation(A, settings=each)) for each in (one, two)]

    assert found[0] == found[1]
    assert (found[0]["namespaces"], found[0]["ingressClasses"]) == ("a, b", "x, y")


@pytest.mark.parametrize(
    ("more", "passes"),
    [
        ({"digest": "other"}, ["up"]),
        ({"deployed": {}}, ["up"]),
        ({"deployed": None}, ["up"]),
        ({"deployed": {"pic": "0.0.1"}}, ["preview", "up"]),
    ],
)
def test_what_was_declared_otherwise_is_declared_again(
    tmp_path: Path, more: Mapping[str, object], passes: list[str]
) -> None:
    known = unchanged_situation(A)
    engine = FakeEngine(tmp_path, {**outputs_of(known), **more}, state(wanted(A)))

    assert driver.up(engine, known, silent) == DeployResult(known.changes, DONE)
    assert engine.log == [
        *("exclusive", "outputs", "state"),
        *((each, {A: ""}) for each in passes),
        "done",
    ]


def test_a_new_stack_is_made_first(tmp_path: Path) -> None:
    known, told = situation((), (wanted(A), wanted(B))), list[str]()
    engine = FakeEngine(tmp_path, None)

    assert driver.up(engine, known, told.append) == DeployResult(known.changes, DONE)
    assert engine.log == ["exclusive", "outputs", "create", ("up", {A: "", B: ""}), "done"]
    assert told == ["deploying"]


def test_a_first_run_that_was_interrupted_has_left_resources_and_no_outputs(
    tmp_path: Path,
) -> None:
    known = situation((), (wanted(A),))
    engine = FakeEngine(tmp_path, {}, state(wanted(A)))

    driver.up(engine, known, silent)

    assert engine.log == [
        *("exclusive", "outputs", "state"),
        ("refresh", urn(A)),
        ("up", {A: ""}),
        "done",
    ]


def edited(host: str) -> LiveResource:
    there = live(wanted(host))
    return replace(there, spec=replace(there.spec, enabled=False))


def test_only_what_others_changed_or_deleted_is_read_anew(tmp_path: Path) -> None:
    known = situation((edited(A), live(wanted(B))), (wanted(A), wanted(B), wanted(C)))
    engine = FakeEngine(tmp_path, outputs_of(known), state(wanted(A), wanted(B), wanted(C)))
    told: list[str] = []

    assert driver.up(engine, known, told.append) == DeployResult(known.changes, DONE)
    assert engine.log[3:5] == [("refresh", urn(A), urn(C)), ("up", {A: "", B: "", C: ""})]
    assert told == [
        "refreshing 2 objects that others changed or deleted",
        "deploying",
    ]


def test_what_cannot_be_read_anew_ends_the_run(tmp_path: Path) -> None:
    known = situation((edited(A),), (wanted(A),))
    engine = FakeEngine(tmp_path, outputs_of(known), state(wanted(A)), WRONG)

    result = driver.up(engine, known, silent)

    assert (result, result.failures) == (DeployResult(known.changes, WRONG), FAILED)
    assert engine.log[3:] == [("refresh", urn(A)), "done"]


class Binding(FakeEngine):
    """An engine that keeps the hooks of the resources."""

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
def test_what_is_only_found_again_in_bulk_is_not_told_of(
    tmp_path: Path, count: int, hooks: list[str]
) -> None:
    known = unchanged_situation(*(f"h{at}.example.com" for at in range(count)))
    engine = Binding(tmp_path, None)

    driver.up(engine, known, silent)

    assert engine.log == ["exclusive", "outputs", "create", *hooks, "done"]


def test_a_second_digest_is_acknowledged_beside_the_first(tmp_path: Path) -> None:
    going = (live(wanted(A)), live(wanted(B)), live(wanted(C)))
    first = situation(going, (wanted(A), wanted(B)), STRICT).changes.digest
    known = situation(going, (wanted(A), wanted(B)), replace(STRICT, acknowledge=first))
    stale = {**outputs_of(known), "deployed": {"pic": "0.0.1"}}
    engine = FakeEngine(tmp_path, stale, state(wanted(A)), replacing(A))

    error = refusal(lambda: driver.up(engine, known, silent))

    assert str(error).endswith(f": pic up --acknowledge {first},{error.digest}")
    both = replace(STRICT, acknowledge=f"{first},{error.digest}")
    again = FakeEngine(tmp_path, stale, state(wanted(A)), replacing(A))
    result = driver.up(again, situation(going, (wanted(A), wanted(B)), both), silent)
    assert result.outcome == DONE


def test_a_refusal_comes_before_the_engine(tmp_path: Path) -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),), STRICT)
    engine = FakeEngine(tmp_path, outputs_of(known))

    error = refusal(lambda: driver.up(engine, known, silent))

    assert (error.digest, engine.log) == (known.changes.digest, [])
    assert str(error).endswith(
        f" acknowledge exactly these changes: pic up --acknowledge {known.changes.digest}"
    )


def replacing(host: str) -> Outcome:
    return Outcome({"delete-replaced": [urn(host)], "create-replacement": [urn(host)]})


def test_an_engine_that_would_do_more_than_the_plan_is_refused(tmp_path: Path) -> None:
    known = unchanged_situation(A, B, settings=STRICT)
    engine = FakeEngine(tmp_path, outputs_of(known, plugin="4.0"), state(wanted(A)), replacing(A))
    now = fingerprint.means(known)["plugin"]
    told: list[str] = []

    error = refusal(lambda: driver.up(engine, known, told.append))

    digest = replace(known.changes, removed=(live(wanted(A)),)).digest
    assert str(error) == (
        f"The engine would do more than the plan says, since plugin 4.0 → {now}.\n"
        "1 of 2 hosts would be removed, but one run may remove at most 0 (pic:maxRemovals 0,"
        " pic:maxRemovalRatio 0): a.example.com.\nNothing was changed. If this is intended,"
        f" acknowledge exactly these changes: pic up --acknowledge {digest}"
    )
    assert error.digest == digest
    assert told == [f"asking the engine for a preview first, since plugin 4.0 → {now}"]
    assert engine.log[3:] == [("preview", {A: "", B: ""})]

    known = unchanged_situation(A, B, settings=replace(STRICT, acknowledge=digest))
    engine = FakeEngine(tmp_path, outputs_of(known, plugin="4.0"), state(wanted(A)), replacing(A))
    assert driver.up(engine, known, silent) == DeployResult(known.changes, DONE)


@pytest.mark.parametrize(
    "outcome", [replacing(A), replacing(B), replacing(C), Outcome({"update": [urn(A)]})]
)
def test_an_engine_that_does_what_the_plan_says_or_little_more_goes_on(
    tmp_path: Path, outcome: Outcome
) -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),))
    engine = FakeEngine(
        tmp_path, outputs_of(known, plugin="4.0"), state(wanted(A), wanted(B)), outcome
    )

    assert driver.up(engine, known, silent) == DeployResult(known.changes, DONE)
    assert engine.log[3:] == [("preview", {A: ""}), ("up", {A: ""}), "done"]


def test_what_the_engine_has_forgotten_is_taken_up_before_it_goes(tmp_path: Path) -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),))
    engine, told = FakeEngine(tmp_path, outputs_of(known), state(wanted(A))), list[str]()

    assert driver.up(engine, known, told.append) == DeployResult(known.changes, DONE)
    assert engine.log[3:] == [("up", {A: "", B: "prod/pic-b"}), ("up", {A: ""}), "done"]
    assert told == ["importing 1 objects that an interrupted run left", "deploying"]


def test_what_cannot_be_taken_up_ends_the_run(tmp_path: Path) -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),))
    engine = FakeEngine(tmp_path, outputs_of(known), state(wanted(A)), WRONG)

    assert driver.up(engine, known, silent) == DeployResult(known.changes, WRONG)
    assert engine.log[3:] == [("up", {A: "", B: "prod/pic-b"}), "done"]


def test_a_preview_refuses_nothing_and_warns(tmp_path: Path) -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),), STRICT)
    engine = FakeEngine(tmp_path, {})

    assert driver.preview(engine, known) == DONE
    assert engine.log == [("preview", {A: ""})]


def test_the_engine_takes_away_more_where_the_plan_keeps_what_it_removes() -> None:
    known = situation((live(wanted(A)), live(wanted(B))), (wanted(A),))

    assert driver.beyond(known, Outcome({"delete": [urn(A), urn(B)]})) == (live(wanted(A)),)


def destroying(*hosts: str) -> Situation:
    """What is found when everything may go, as acknowledged."""
    resources = tuple(map(wanted, hosts))
    known = situation(tuple(map(live, resources)), resources)
    settings = Settings(cluster_id=CLUSTER, acknowledge=driver.everything(known).digest)
    return replace(known, config=StackConfig(settings, STACK, OURS, ()), transport=Api())


@pytest.mark.parametrize("act", [driver.up, driver.destroy])
def test_each_run_of_an_engine_keeps_the_history_short(
    tmp_path: Path, act: Callable[..., DeployResult]
) -> None:
    folder = tmp_path / ".pulumi" / "history" / "pic" / "prod"
    for moment in (1, 2, 3):
        write(folder / f"prod-{moment}.history.json", "{}")
    known = destroying(A)
    kept = replace(known.settings, keep_history=1)

    act(
        FakeEngine(tmp_path, {}),
        replace(known, config=replace(known.config, settings=kept)),
        silent,
    )

    assert [path.name for path in folder.iterdir()] == ["prod-3.history.json"]


def test_an_engine_works_in_the_current_folder_with_the_kubeconfig_of_the_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(write(tmp_path / "pulumi", "#!/bin/sh\n").parent))
    environment = {"KUBECONFIG": "/theirs", "HOME": "/home"}

    def made(settings: Settings) -> Engine:
        return driver.engine_for(StackConfig(settings, STACK, OURS, ()), "prod", environment, print)

    plain, own = made(Settings()), made(Settings(kubeconfig="/ours"))

    assert (plain.root, plain.stack, plain.on_progress) == (Path.cwd(), "prod", print)
    assert plain.command.command == str(tmp_path / "pulumi")
    assert plain.environment == environment
    assert own.environment == {**environment, "KUBECONFIG": "/ours"}
    assert plain.left_after is None


def test_an_engine_takes_locks_of_other_hosts_away_after_the_lock_timeout_of_the_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(write(tmp_path / "pulumi", "#!/bin/sh\n").parent))
    asked = StackConfig(Settings(lock_timeout=timedelta(minutes=7)), STACK, OURS, ())

    made = driver.engine_for(asked, "prod", {}, print, steal_locks=True)

    assert made.left_after == timedelta(minutes=7)
