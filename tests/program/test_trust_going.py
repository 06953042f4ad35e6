"""Tests what a plain `pulumi up` does about objects that Kubernetes is deleting."""

from typing import Any

from pic.cluster.listing import PANGOLIN
from tests.support.api import Answer, Api, fill_cluster, ingress, live_object
from tests.support.programs import RunProgram, StateEngine

A, NAME_A = "a.example.com", "pic-prod-web-a85a2439"
RESOURCES = f"{PANGOLIN}/pangolinresources"
IN_PROD = f"{PANGOLIN}/namespaces/prod/pangolinresources"
WAITING = ("INFO", "waiting for 1 object that Kubernetes is deleting")
WARNING = (
    f"{A}: HeldByFinalizer: Kubernetes is still deleting PangolinResource prod/{NAME_A} (finalizer"
    " tunnel.pangolin.io/finalizer), which has this host: run pic up again once it is gone"
)
NOTICE = (
    f"HeldByFinalizer: PangolinResource prod/{NAME_A}: Kubernetes is deleting it (finalizer"
    f" tunnel.pangolin.io/finalizer): pic exposes {A} again once it is gone"
)


def going() -> dict[str, Any]:
    """Return the object of a host while Kubernetes is deleting it."""
    live = live_object(A, name=NAME_A)
    finalizers = ["tunnel.pangolin.io/finalizer"]
    deletion = {"uid": "old", "deletionTimestamp": "soon", "finalizers": finalizers}
    return {**live, "metadata": {**live["metadata"], **deletion}}


def page(*objects: dict[str, Any]) -> Answer:
    return Answer({"kind": "PangolinResourceList", "metadata": {}, "items": objects})


def test_23_a_run_makes_the_new_object_once_the_old_one_is_gone(api: Api, run: RunProgram) -> None:
    fill_cluster(api, [ingress("web", A)])
    api.set_answers(RESOURCES, page(going()), page())
    api.set_answers(IN_PROD, page(going()), page())

    registered = run()

    assert (registered.error, registered.names) == (None, ["cluster", A])
    assert registered.log == [WAITING]


def test_23_a_preview_does_not_wait_and_declares_what_the_state_has(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    fill_cluster(api, [ingress("web", A)], going())
    state_engine.keys = [("prod", NAME_A)]

    registered = run(preview=True)

    assert (registered.error, registered.names) == (None, ["cluster", NAME_A])
    assert registered.log == [("INFO", NOTICE), ("WARNING", WARNING)]


def test_20_without_a_state_a_run_declares_the_plan(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    fill_cluster(api, [ingress("web", A)], going())
    state_engine.exists = False

    registered = run(preview=True)

    assert (registered.error, registered.names) == (None, ["cluster", A])


def test_26_no_warning_becomes_an_event_in_a_namespace_that_is_being_deleted(
    api: Api, run: RunProgram
) -> None:
    namespace = {"metadata": {"name": "prod", "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    fill_cluster(api, [ingress("web", "*.example.com"), ingress("web", A, namespace="team")])
    api.set_objects("/api/v1/namespaces", namespace)

    registered = run()

    assert (registered.error, registered.names) == (None, ["cluster", A])
    assert [request.path for request in api.requests if request.method == "POST"] == []
