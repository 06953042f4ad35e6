"""Tests how a plain `pulumi up` and its preview report what an interrupted run has left."""

import pytest

from tests.support.api import Api, fill_cluster, ingress, live_object
from tests.support.programs import RunProgram, StateEngine

A, B, C = "a.example.com", "b.example.com", "c.example.com"
LEFT = (
    "an interrupted run left it and no Ingress asks for it; the state does not have it, so this"
    " run leaves it: pic up deletes it"
)


@pytest.mark.parametrize("preview", [False, True])
def test_an_object_that_the_state_does_not_have_causes_a_warning(
    api: Api, run: RunProgram, state_engine: StateEngine, *, preview: bool
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B), live_object(C))
    state_engine.keys = [("prod", f"pic-{host}") for host in (A, B)]

    registered = run(preview=preview)

    assert registered.error is None
    assert registered.log == [
        ("WARNING", f"UntrackedOrphan: PangolinResource prod/pic-{C}: {LEFT}")
    ]


def test_a_failing_engine_does_not_stop_the_run(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    state_engine.error = "no answer from the backend"

    registered = run()

    assert (registered.error, registered.names) == (None, ["cluster", A])
    assert registered.log == [
        (
            "INFO",
            "pic does not look for what interrupted runs may have left: no answer from the backend",
        )
    ]


def test_without_a_stack_nothing_is_reported_as_left(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    state_engine.exists = False

    assert run().log == [
        (
            "INFO",
            "pic does not look for what interrupted runs may have left: the backend has no stack"
            " organization/pic/prod",
        )
    ]


def test_the_engine_is_queried_only_if_an_object_would_be_deleted(
    api: Api, run: RunProgram, state_engine: StateEngine
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A))
    state_engine.error = "the program must not query the engine"

    assert run().log == []
