"""Tests the Events that the hooks post, and when they stop a deletion."""

import threading
import time
from collections.abc import Coroutine
from typing import Any

import pytest
from pulumi import ResourceHook

from pic.cluster.events import EVENTS_A_RUN
from pic.cluster.listing import StatusError
from pic.core.errors import ClusterError
from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, STACK_LABEL, UID_LABEL
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine
from tests.support.hooks import (
    STACK,
    HookCall,
    OneObjectTransport,
    call_hook,
    hook_args,
    inputs,
    live_object,
)


def outputs(generation: int) -> dict[str, Any]:
    return {"metadata": {"generation": generation}}


def posted_event(call: HookCall) -> dict[str, Any]:
    """Return the Event that a hook posts, without its times and the suffix of its name."""
    transport = OneObjectTransport()
    assert call_hook(call, transport) is None
    [(method, path, expected_event)] = transport.requests
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    for key in ("firstTimestamp", "lastTimestamp"):
        del expected_event[key]
    name, _, rest = expected_event["metadata"].pop("name").rpartition(".")
    assert len(rest) == 16
    return {**expected_event, "name": name}


def expected_event(
    reason: str, message: str, name: str = "web", uid: str = "uid-1"
) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "name": name,
        "metadata": {"namespace": "prod"},
        "involvedObject": {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "Ingress",
            "namespace": "prod",
            "name": name,
            "uid": uid,
        },
        "type": "Normal",
        "reason": reason,
        "message": message,
        "source": {"component": "pic"},
        "reportingComponent": "pic",
        "count": 1,
    }


def create(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.post_created(hook_args(new_inputs=inputs(), new_outputs=outputs(1)))


def update(hooks: Hooks, old: int = 1, new: int = 2) -> Coroutine[Any, Any, None]:
    both = {"old_inputs": inputs(), "new_inputs": inputs()}
    return hooks.post_updated(hook_args(**both, old_outputs=outputs(old), new_outputs=outputs(new)))


def delete(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.post_deleted(hook_args(old_inputs=inputs(), old_outputs=outputs(1)))


def before_delete(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.check_owner(hook_args(old_inputs=inputs()))


def test_the_names_of_the_hooks_never_change() -> None:
    def program() -> None:
        Hooks()

    assert engine.run(program).hooks == engine.HOOKS


def bound_hooks(*, adopting: bool, events: bool) -> dict[str, bool]:
    """Return the hooks that resources bind, and whether the engine ignores their errors."""
    live: dict[str, bool] = {}

    def program() -> None:
        bindings = Hooks().binding(events=events)
        binding = bindings.adopting if adopting else bindings.usual
        for callbacks in (
            *(binding.after_create, binding.before_update, binding.after_update),
            *(binding.before_delete, binding.after_delete),
        ):
            for hook in callbacks or ():
                assert isinstance(hook, ResourceHook)
                live[hook.name] = bool(hook.opts and hook.opts.ignore_errors)

    assert engine.run(program).error is None
    return live


def test_without_events_only_the_check_before_a_deletion_is_bound() -> None:
    assert bound_hooks(adopting=False, events=False) == {"pic:before-delete": False}


def test_only_the_check_before_a_deletion_can_stop_the_engine() -> None:
    assert bound_hooks(adopting=False, events=True) == {
        "pic:after-create": True,
        "pic:after-update": True,
        "pic:before-delete": False,
        "pic:after-delete": True,
    }


def test_an_adopted_object_is_taken_over_before_its_update() -> None:
    for events in (True, False):
        usual = bound_hooks(adopting=False, events=events)

        assert bound_hooks(adopting=True, events=events) == {**usual, "pic:before-update": False}


def test_a_new_object_is_reported_at_its_ingress() -> None:
    assert posted_event(create) == expected_event(
        "Created", "app.example.com is exposed by PangolinResource prod/pic-web"
    )


def test_a_changed_object_is_reported_at_its_ingress() -> None:
    assert posted_event(update) == expected_event(
        "Updated", "app.example.com is changed in PangolinResource prod/pic-web"
    )


def test_a_deleted_object_is_reported_at_its_ingress() -> None:
    assert posted_event(delete) == expected_event(
        "Deleted",
        "app.example.com is no longer declared: deleted PangolinResource prod/pic-web",
    )


@pytest.mark.parametrize("owners", [None, []])
def test_without_owner_references_the_labels_name_the_ingress(owners: object) -> None:
    bare = inputs(ownerReferences=owners)

    assert posted_event(
        lambda hooks: hooks.post_created(hook_args(new_inputs=bare))
    ) == expected_event(
        "Created",
        "app.example.com is exposed by PangolinResource prod/pic-web",
        "label-web",
        "label-uid",
    )


def test_an_apex_host_has_no_subdomain() -> None:
    apex = {**inputs(), "spec": {"httpConfig": {"domainName": "example.com"}}}

    assert posted_event(lambda hooks: hooks.post_created(hook_args(new_inputs=apex)))[
        "message"
    ] == ("example.com is exposed by PangolinResource prod/pic-web")


def test_an_adoption_that_changes_nothing_posts_no_event() -> None:
    transport = OneObjectTransport()

    assert call_hook(lambda hooks: update(hooks, 3, 3), transport) is None
    assert transport.requests == []


def test_the_number_of_events_of_one_run_is_limited() -> None:
    transport = OneObjectTransport()

    async def often(hooks: Hooks) -> None:
        for _ in range(EVENTS_A_RUN + 3):
            await delete(hooks)

    assert call_hook(often, transport) is None
    assert len(transport.requests) == EVENTS_A_RUN


@pytest.mark.parametrize("call", [create, update, delete])
def test_with_events_off_no_event_is_posted(call: HookCall) -> None:
    transport = OneObjectTransport()

    assert call_hook(call, transport, events=False) is None
    assert transport.requests == []


@pytest.mark.parametrize("call", [create, update, delete])
def test_a_hook_without_a_context_posts_no_event(call: HookCall) -> None:
    assert call_hook(call, None) is None


@pytest.mark.parametrize("error", [StatusError(403, "no"), ClusterError("away")])
def test_an_event_that_cannot_be_posted_is_an_error_for_the_engine_to_ignore(
    error: Exception,
) -> None:
    assert call_hook(create, OneObjectTransport(error)) is error


def test_an_event_that_takes_too_long_is_abandoned() -> None:
    released = threading.Event()

    class Slow(OneObjectTransport):
        def now(self) -> str:
            return "2026-11-28T12:00:00Z"

        def request(self, method: str, path: str, body: object) -> object:
            released.wait(5)
            return super().request(method, path, body)

    started = time.monotonic()

    assert isinstance(call_hook(create, Slow()), TimeoutError)
    assert time.monotonic() - started < 2
    released.set()


def check_owner(live: object) -> str | None:
    error = call_hook(before_delete, OneObjectTransport(live))
    return None if error is None else str(error)


def not_ours(label: str) -> str:
    return (
        f"PangolinResource prod/pic-web is no longer ours ({label}): not deleted. Run `pulumi"
        " state delete` on its URN to forget it"
    )


def test_an_object_of_ours_may_be_deleted() -> None:
    assert check_owner(live_object(**{STACK_LABEL: STACK})) is None


def test_an_object_whose_labels_were_stripped_may_be_deleted() -> None:
    assert check_owner(live_object([{"manager": "pic"}])) is None


def test_a_missing_object_may_be_deleted() -> None:
    assert check_owner(StatusError(404, "no such thing")) is None


def test_an_object_of_another_stack_is_not_deleted() -> None:
    assert check_owner(live_object(**{STACK_LABEL: "pic.test"})) == not_ours("other stack")


def test_a_foreign_object_is_not_deleted() -> None:
    assert check_owner(live_object([{"manager": "kubectl"}])) == not_ours("foreign")


def test_an_object_of_the_go_controller_is_not_deleted() -> None:
    seeds = dict.fromkeys((NAME_LABEL, NAMESPACE_LABEL, UID_LABEL), "x")

    assert check_owner(live_object(**seeds)) == not_ours("predecessor")


@pytest.mark.parametrize("error", [StatusError(403, "no"), ClusterError("away")])
def test_an_object_that_cannot_be_read_is_not_deleted(error: Exception) -> None:
    assert check_owner(error) == str(error)


def test_a_hook_without_a_context_deletes_nothing() -> None:
    error = call_hook(before_delete, None)

    assert str(error) == "pic does not know its cluster yet, so nothing is deleted"


def test_26_a_namespace_that_is_being_deleted_gets_no_event() -> None:
    transport, going = OneObjectTransport(), frozenset({"prod"})

    async def program() -> None:
        hooks = Hooks()
        hooks.bind(RunContext(transport, Ownership(STACK), events=True, quiet=going))
        await delete(hooks)

    assert engine.run(program).error is None
    assert transport.requests == []
