"""Tests the Events with warnings that a run posts, and how it remembers them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.cluster import listing
from pic.cluster.events import EVENTS_A_RUN
from pic.engine import program
from pic.engine.hooks import Hooks
from pic.run import situation as situations
from pic.run import stack_config
from tests.support import engine
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, live_object
from tests.support.engine import ProgramRun
from tests.support.programs import RunProgram

EVENTS = "/api/v1/namespaces/prod/events"


def posted(api: Api) -> list[dict[str, Any]]:
    return [json.loads(request.body) for request in api.requests if request.method == "POST"]


def test_a_warning_is_posted_for_its_ingress_and_stored_in_the_outputs(
    api: Api, run: RunProgram
) -> None:
    fill_cluster(api, [ingress("odd", "")])

    registered = run()

    [event] = posted(api)
    suffix = registered.outputs["told"][0]
    assert (len(registered.outputs["told"]), event["metadata"], event["type"], event["reason"]) == (
        1,
        {"name": f"odd.{suffix}", "namespace": "prod"},
        "Warning",
        "EmptyHost",
    )
    assert event["message"] == "a rule without a host is skipped: set its host"
    assert event["involvedObject"]["uid"] == "uid-prod-odd"


@pytest.mark.parametrize(("config", "preview"), [({"pic:events": "false"}, False), ({}, True)])
def test_nothing_is_posted_in_a_preview_or_with_events_off(
    api: Api, run: RunProgram, config: dict[str, str], *, preview: bool
) -> None:
    fill_cluster(api, [ingress("odd", "")])

    registered = run(config, preview=preview)

    assert posted(api) == []
    assert len(registered.outputs["told"]) == (1 if preview else 0)


def test_a_warning_of_the_last_run_is_not_posted_again(api: Api, tmp_path: Path) -> None:
    fill_cluster(api, [ingress("odd", "")])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    config = stack_config.deployable(
        {"clusterId": CLUSTER, "tunnelNamespaces": "."}, "prod", environment
    )
    transport = listing.connect(config.settings, environment)

    def deploy(reported: tuple[str, ...]) -> ProgramRun:
        situation = situations.read_and_plan(config, transport, environment)

        def declare() -> None:
            hooks = Hooks()
            program.bind(situation, hooks)
            program.declare(replace(situation, reported_warnings=reported), hooks)

        return engine.run(declare)

    first = deploy(())
    again = deploy(tuple(first.outputs["told"]))

    assert again.outputs["told"] == first.outputs["told"]
    assert len(posted(api)) == 1


@pytest.mark.parametrize(
    ("status", "logged"),
    [(409, []), (403, [("INFO", "1 warnings could not be posted as Events at their Ingresses")])],
)
def test_an_existing_event_counts_as_posted_and_a_refused_one_does_not_fail_the_run(
    api: Api, run: RunProgram, status: int, logged: list[tuple[str, str]]
) -> None:
    fill_cluster(api, [ingress("odd", "")])
    api.refuse(EVENTS, status, "no")

    registered = run()

    assert (registered.error, len(registered.outputs["told"]), registered.log[1:]) == (
        None,
        1,
        logged,
    )


def test_a_large_deployment_posts_warnings_but_no_events_for_its_hosts(
    api: Api, run: RunProgram
) -> None:
    hosts = [f"h{number}.example.com" for number in range(EVENTS_A_RUN + 1)]
    fill_cluster(api, [ingress("web", *hosts), ingress("odd", "")], live_object("old.example.com"))

    registered = run({"pic:maxRemovals": "1"})

    assert [event["reason"] for event in posted(api)] == ["EmptyHost"]
    assert registered.error is None
