"""Warnings at the Ingresses: what a run posts, and what it remembers of it."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pic.cluster import listing
from pic.cluster.events import EVENTS_A_RUN
from pic.engine import program
from pic.engine.hooks import Hooks
from pic.run import situation, stack_config
from tests.support import engine
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.engine import Seen

Run = Callable[..., Seen]
EVENTS = "/api/v1/namespaces/prod/events"


def posted(api: Api) -> list[dict[str, Any]]:
    return [json.loads(each.body) for each in api.requests if each.method == "POST"]


def test_a_warning_is_posted_at_its_ingress_and_remembered(api: Api, run: Run) -> None:
    fill_cluster(api, [ingress("odd", "")])

    seen = run()

    [event] = posted(api)
    suffix = seen.outputs["told"][0]
    assert (len(seen.outputs["told"]), event["metadata"], event["type"], event["reason"]) == (
        1,
        {"name": f"odd.{suffix}", "namespace": "prod"},
        "Warning",
        "EmptyHost",
    )
    assert event["message"] == "a rule without a host is skipped: name the host"
    assert event["involvedObject"]["uid"] == "uid-prod-odd"


@pytest.mark.parametrize(("config", "preview"), [({"pic:events": "false"}, False), ({}, True)])
def test_nothing_is_posted_in_a_preview_nor_where_events_are_off(
    api: Api, run: Run, config: dict[str, str], *, preview: bool
) -> None:
    fill_cluster(api, [ingress("odd", "")])

    seen = run(config, preview=preview)

    assert posted(api) == []
    assert len(seen.outputs["told"]) == (1 if preview else 0)


def test_what_was_told_in_the_last_run_is_not_posted_again(api: Api, tmp_path: Path) -> None:
    fill_cluster(api, [ingress("odd", "")])
    environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
    asked = stack_config.deployable({"clusterId": CLUSTER}, "prod", environment)
    transport = listing.connect(asked.settings, environment)

    def declared(told: tuple[str, ...]) -> Seen:
        known = situation.look(asked, transport, environment)

        def declare() -> None:
            hooks = Hooks()
            program.bind(known, hooks)
            program.declare(replace(known, told=told), hooks)

        return engine.run(declare)

    first = declared(())
    again = declared(tuple(first.outputs["told"]))

    assert again.outputs["told"] == first.outputs["told"]
    assert len(posted(api)) == 1


@pytest.mark.parametrize(
    ("status", "said"),
    [(409, []), (403, [("INFO", "1 warnings could not be told to their Ingresses as Events")])],
)
def test_an_event_that_is_there_already_is_told_and_one_that_is_refused_fails_nothing(
    api: Api, run: Run, status: int, said: list[tuple[str, str]]
) -> None:
    fill_cluster(api, [ingress("odd", "")])
    api.refuse(EVENTS, status, "no")

    seen = run()

    assert (seen.error, len(seen.outputs["told"]), seen.log[1:]) == (None, 1, said)


def test_a_large_deployment_tells_of_no_host_and_of_its_warnings_still(api: Api, run: Run) -> None:
    hosts = [f"h{at}.example.com" for at in range(EVENTS_A_RUN + 1)]
    fill_cluster(api, [ingress("web", *hosts), ingress("odd", "")], live_object("old.example.com"))

    seen = run({"pic:maxRemovals": "1"})

    assert [each["reason"] for each in posted(api)] == ["EmptyHost"]
    assert seen.error is None
