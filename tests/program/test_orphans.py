"""Tests how a plain `pulumi up` and its preview report what an interrupted run has left."""

from collections.abc import Callable

import pytest

from tests.program.conftest import Memory
from tests.support.api import (
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.engine import Seen

Run = Callable[..., Seen]
A, B, C = "a.example.com", "b.example.com", "c.example.com"
LEFT = (
    "an interrupted run left it and no Ingress asks for it; the state does not have it, so this"
    " run leaves it: pic up deletes it"
)


@pytest.mark.parametrize("preview", [False, True])
def test_an_object_that_the_engine_does_not_know_causes_a_warning(
    api: Api, run: Run, memory: Memory, *, preview: bool
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B), live_object(C))
    memory.keys = [("prod", f"pic-{host}") for host in (A, B)]

    registered = run(preview=preview)

    assert registered.error is None
    assert registered.log == [
        ("WARNING", f"UntrackedOrphan: PangolinResource prod/pic-{C}: {LEFT}")
    ]


def test_a_failing_engine_does_not_stop_the_run(api: Api, run: Run, memory: Memory) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    memory.error = "no way to the backend"

    registered = run()

    assert (registered.error, registered.names) == (None, ["cluster", A])
    assert registered.log == [
        (
            "INFO",
            "pic does not look for what interrupted runs may have left: no way to the backend",
        )
    ]


def test_without_a_stack_nothing_is_reported_as_left(api: Api, run: Run, memory: Memory) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    memory.exists = False

    assert run().log == [
        (
            "INFO",
            "pic does not look for what interrupted runs may have left: the backend has no stack"
            " organization/pic/prod",
        )
    ]


def test_the_engine_is_queried_only_if_an_object_would_be_deleted(
    api: Api, run: Run, memory: Memory
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A))
    memory.error = "the program must not query the engine"

    assert run().log == []
