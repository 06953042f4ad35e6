"""Tests what the engine knows of hosts in Pangolin itself: state, repair, drift and withholding."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.core.model import PUBLIC_TYPE, LiveResource
from pic.core.notices import Reason
from pic.core.register import HostEntry, Register
from pic.engine import drift, driver, public_state, remembering, repair, withholding
from pic.engine.backend import state as states
from pic.engine.backend.state import StackState
from pic.engine.outcome import Outcome
from pic.run import fingerprint
from pic.run.situation import Situation
from tests.support.api import ingress
from tests.support.publishing import HOST, Publisher, publishing

OTHER = "shop.example.com"


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def urn(host: str) -> str:
    return f"urn:pulumi:prod::pic::{PUBLIC_TYPE}::{host}"


def state_of(publisher: Publisher, situation: Situation) -> StackState:
    """Return the state after a deployment."""
    entries: list[dict[str, Any]] = [
        {
            "urn": urn(it.name),
            "type": PUBLIC_TYPE,
            "id": str(publisher.id_of(it.name)),
            "inputs": dict(it.inputs),
        }
        for it in publisher.declarations(situation)
    ]
    return states.read({"deployment": {"resources": entries}})


def test_the_state_knows_a_resource_by_its_id_and_whose_it_is(publisher: Publisher) -> None:
    situation = publisher.deploy()
    state = state_of(publisher, situation)

    [planned] = situation.plan.resources
    resource = state.resources[HOST]
    assert (resource.key, resource.published) == (planned.key, publisher.id_of())
    assert state.identities == {publisher.id_of()}
    assert public_state.entry(HOST, resource) == HostEntry(HOST, *planned.key)


def test_a_creation_that_failed_has_no_id_in_the_state() -> None:
    entry = {"urn": urn(HOST), "type": PUBLIC_TYPE, "id": "", "inputs": {"object": "prod/x"}}
    state = states.read({"deployment": {"resources": [entry]}})

    assert state.identities == {("prod", "x")}


def test_a_lost_register_is_completed_from_the_state(publisher: Publisher) -> None:
    publisher.ingresses(ingress("late", HOST, namespace="team"))
    state = state_of(publisher, publisher.deploy())
    publisher.remember(Register())
    # An older Ingress of another namespace claims the host.
    older = ingress("early", HOST, namespace="prod")
    older["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z"
    publisher.ingresses(ingress("late", HOST, namespace="team"), older)
    situation = publisher.situation()

    assert remembering.needs_state(situation, {})
    complete = remembering.with_state(situation, state, {})

    assert [it.namespace for it in situation.plan.resources] == ["prod"]
    assert [it.namespace for it in complete.plan.resources] == ["team"]
    assert not complete.changes


def stale(situation: Situation, state: StackState) -> tuple[str, ...]:
    return repair.stale(
        situation.snapshot,
        situation.plan,
        state,
        owner_references=True,
        declared=repair.declared_in_pangolin(situation),
    )


def test_what_the_dashboard_changed_or_deleted_is_refreshed(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    state = state_of(publisher, publisher.deploy())
    assert stale(publisher.situation(), state) == ()

    publisher.server.ask("POST", f"/resource/{publisher.id_of()}", {"enabled": False})
    publisher.client.delete(publisher.id_of(OTHER))

    assert stale(publisher.situation(), state) == (urn(OTHER), urn(HOST))


def test_what_is_declared_differently_needs_no_refresh(publisher: Publisher) -> None:
    state = state_of(publisher, publisher.deploy())
    publisher.ingresses(ingress("web", HOST, sso="true"))

    assert stale(publisher.situation(), state) == ()


def test_what_the_state_does_not_have_is_imported_before_it_is_deleted(
    publisher: Publisher,
) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    publisher.deploy()
    publisher.ingresses(ingress("web", HOST))
    situation = publisher.situation(everything=True)

    [stray] = repair.strays(situation.changes, StackState())
    plan = repair.adopting(situation.plan, [stray], StackState())

    assert [it.host for it in plan.resources] == [OTHER, HOST]
    declared = publisher.declarations(replace(situation, plan=plan))
    assert {it.name: it.import_id for it in declared} == {
        OTHER: str(publisher.id_of(OTHER)),
        HOST: str(publisher.id_of()),
    }


def test_a_host_that_moves_keeps_its_resource(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.ingresses(ingress("web", HOST, namespace="team"))
    situation = publisher.situation(max_moves=1)

    assert [it.live.namespace for it in situation.changes.moved] == ["prod"]
    assert repair.strays(situation.changes, StackState()) == ()


def found(publisher: Publisher, state: StackState) -> str:
    return drift.as_text(drift.find(state, publisher.situation(everything=True)))


def test_drift_finds_what_the_dashboard_changed(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    situation = publisher.deploy()
    state = state_of(publisher, situation)
    keys = {it.host: "/".join(it.key) for it in situation.plan.resources}

    assert found(publisher, state) == "Nothing differs from the last deployment."

    publisher.server.ask("POST", f"/resource/{publisher.id_of()}", {"blockAccess": True})
    publisher.client.delete(publisher.id_of(OTHER))

    assert found(publisher, state) == (
        f"- {OTHER} ({keys[OTHER]}) is missing\n"
        f"~ {HOST} ({keys[HOST]}): spec.httpConfig.blockAccess: declared false, live true"
    )
    assert found(publisher, StackState()).startswith(f"? {HOST}")


def test_drift_compares_nothing_that_it_could_not_read(publisher: Publisher) -> None:
    state = state_of(publisher, publisher.deploy())
    publisher.server.die("a test")

    assert found(publisher, state) == "? pangolin-api was not compared: it did not answer"


def test_a_resource_without_targets_is_declared_without_a_site(publisher: Publisher) -> None:
    state = state_of(publisher, publisher.deploy())
    resource = state.resources[HOST]
    bare = replace(resource, inputs={**resource.inputs, "targets": []})
    published = publisher.situation().snapshot.published
    assert published

    assert public_state.declared(HOST, bare, published).spec.tunnel is None


def test_hosts_are_kept_as_the_state_has_them_while_pangolin_does_not_answer(
    publisher: Publisher,
) -> None:
    situation = publisher.deploy()
    state = state_of(publisher, situation)
    outputs = fingerprint.deployment(publisher.situation())
    publisher.server.die("a test")
    silent = publisher.situation()

    kept = withholding.withhold(silent, state).kept

    assert {name: [it.name for it in declared] for name, declared in kept.items()} == {
        "pangolin-api": [HOST]
    }
    assert driver.unchanged(silent, outputs)
    assert not driver.unchanged(silent, {**outputs, "deployed": {}})


def test_a_resource_with_another_marker_is_left_alone(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    state = state_of(publisher, publisher.deploy())
    number = publisher.id_of()
    publisher.server.ask("POST", f"/resource/{number}", {"niceId": "mine-now"})

    situation = withholding.withhold(publisher.situation(), state)

    assert [it.name for it in situation.kept["pangolin-api"]] == [HOST]
    assert [(it.reason, it.about.name) for it in situation.config.remarks] == [
        (Reason.NO_LONGER_OURS, "mine-now")
    ]


def test_a_destruction_imports_what_the_state_lacks(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST, OTHER))
    situation = publisher.deploy()
    state = state_of(publisher, situation)
    lacking = replace(state, resources={HOST: state.resources[HOST]})
    removal = driver.full_removal(publisher.situation())

    assert [it.host for it in repair.strays(removal, lacking)] == [OTHER]
    assert removal.no_host_survives


def test_changes_of_hosts_in_pangolin_are_counted() -> None:
    outcome = Outcome({"create": [urn(HOST)]})

    assert (outcome.changed, outcome.hosts("create")) == ({"create": 1}, (HOST,))


def test_a_live_resource_is_known_by_its_id_or_by_its_name() -> None:
    assert LiveResource("prod", "web", "1", HOST).identity == ("prod", "web")
    assert LiveResource("prod", "web", "1", HOST, published=7).identity == 7
