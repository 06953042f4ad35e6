"""What an interrupted run has left, as a plain `pulumi up` and its preview tell it."""

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
    "an interrupted run has left it and nothing asks for it; the engine does not know it, so it"
    " stays: pic up deletes it"
)


@pytest.mark.parametrize("preview", [False, True])
def test_what_the_engine_does_not_know_and_so_leaves_is_told(
    api: Api, run: Run, memory: Memory, *, preview: bool
) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B), live_object(C))
    memory.keys = [("prod", f"pic-{host}") for host in (A, B)]

    seen = run(preview=preview)

    assert seen.error is None
    assert seen.log == [("WARNING", f"UntrackedOrphan: PangolinResource prod/pic-{C}: {LEFT}")]


def test_that_the_engine_cannot_be_asked_stops_nothing(api: Api, run: Run, memory: Memory) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    memory.error = "no way to the backend"

    seen = run()

    assert (seen.error, seen.names) == (None, ["cluster", A])
    assert seen.log == [
        (
            "INFO",
            "what interrupted runs may have left is not looked for: no way to the backend",
        )
    ]


def test_without_the_stack_nothing_is_said_to_be_left(api: Api, run: Run, memory: Memory) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A), live_object(B))
    memory.there = False

    assert run().log == [
        (
            "INFO",
            "what interrupted runs may have left is not looked for: the backend has no stack"
            " organization/pic/prod",
        )
    ]


def test_the_engine_is_only_asked_where_something_goes(api: Api, run: Run, memory: Memory) -> None:
    fill_cluster(api, [ingress("web", A)], live_object(A))
    memory.error = "not to be asked"

    assert run().log == []
