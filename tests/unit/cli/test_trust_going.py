"""Tests what the verbs print and do about objects that Kubernetes is deleting."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pic.cluster.listing import PANGOLIN
from pic.core.ingress import Deletion
from pic.core.model import LiveResource
from pic.core.register import GoneBy, timestamp
from pic.engine.backend.state import StackState, StateResource
from pic.run import fingerprint
from pic.settings.parse import Settings
from tests.support.api import (
    CLUSTER,
    REGISTER,
    Answer,
    Api,
    config_maps,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.deployed import make_situation, urn
from tests.support.deploying import CREATED, CREATING, NAME, Capture, UseEngine
from tests.support.fakes import HOST, FakeEngine, outputs_of, run_pic

pytestmark = pytest.mark.usefixtures("api")

RESOURCES = f"{PANGOLIN}/pangolinresources"
IN_PROD = f"{PANGOLIN}/namespaces/prod/pangolinresources"
FINALIZER = "tunnel.pangolin.io/finalizer"
STATE = StackState({HOST: StateResource(urn(HOST), ("prod", NAME), {})})


def going() -> dict[str, Any]:
    """Return the object of HOST while Kubernetes is deleting it."""
    live = live_object(HOST, name=NAME)
    deletion = {"uid": "old", "deletionTimestamp": "soon", "finalizers": [FINALIZER]}
    return {**live, "metadata": {**live["metadata"], **deletion}}


def register_after_it_went() -> list[dict[str, Any]]:
    """Return the register of a run that has noticed that the object of HOST is going."""
    (config_map,) = config_maps(live_object(HOST, name=NAME))
    gone = {"gone": timestamp(datetime.now(UTC)), "goneBy": GoneBy.KUBERNETES}
    entry = {**json.loads(config_map["data"][HOST]), **gone}
    return [{**config_map, "data": {**config_map["data"], HOST: json.dumps(entry)}}]


def page(*objects: dict[str, Any]) -> Answer:
    return Answer({"kind": "PangolinResourceList", "metadata": {}, "items": objects})


def test_23_up_waits_for_the_object_and_makes_a_new_one(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    api.set_answers(RESOURCES, page(going()), page())
    api.set_answers(IN_PROD, page(going()), page())
    engine = FakeEngine(root, None, None, CREATING)
    engines(engine)

    answer = run_pic(capsys, "up")

    assert answer == (0, f"{CREATED}Done: 1 created.\n", "")
    assert ("up", {HOST: ""}) in engine.log


def test_20_up_tells_what_is_still_being_deleted_when_it_has_nothing_to_do(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [], going())
    api.set_objects(REGISTER, *register_after_it_went())
    situation = make_situation((), (), Settings(cluster_id=CLUSTER))
    kept = LiveResource("prod", NAME, "old", HOST, going=Deletion())
    digest = fingerprint.digest(situation.plan, situation.settings, (kept,))
    engine = FakeEngine(root, {**outputs_of(situation, cluster=CLUSTER), "digest": digest})
    engines(engine)

    assert run_pic(capsys, "up") == (
        0,
        "Nothing to do: everything is as it was deployed.\n"
        f"HeldByFinalizer: PangolinResource prod/{NAME}: {HOST}: Kubernetes is deleting it"
        f" (finalizer {FINALIZER}): pic forgets it once it is gone\n",
        "",
    )
    assert engine.log == ["exclusive", "outputs", "done"]


def test_20_a_preview_declares_what_the_state_has_of_an_object_that_is_going(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("other", "other.example.com")], going())
    engine = FakeEngine(root, {}, STATE)
    engines(engine)

    code, _, _ = run_pic(capsys, "preview")

    assert (code, engine.log) == (0, ["state", ("preview", {"other.example.com": "", HOST: ""})])
