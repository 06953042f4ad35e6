"""What the hooks tell, and when a delete is stopped."""

import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from pulumi import ResourceHook, ResourceHookArgs

from pic.cluster.events import EVENTS_A_RUN
from pic.cluster.listing import PANGOLIN, StatusError
from pic.core.errors import ClusterError
from pic.core.names import (
    NAME_LABEL,
    NAMESPACE_LABEL,
    STACK_LABEL,
    UID_LABEL,
)
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine

WHERE = f"{PANGOLIN}/namespaces/prod/pangolinresources/pic-web"
STACK = "pic.prod"


class Cluster:
    """A transport that writes down what is posted and has one object."""

    def __init__(self, found: object = None, *refusals: Exception) -> None:
        self.found = found
        self.refusals = list(refusals)
        self.posted: list[tuple[str, str, Any]] = []

    def get(self, path: str) -> object:
        assert path == WHERE
        if isinstance(self.found, Exception):
            raise self.found
        return self.found

    def request(self, method: str, path: str, body: object) -> object:
        if isinstance(self.found, Exception):
            raise self.found
        self.posted.append((method, path, body))
        if self.refusals:
            raise self.refusals.pop(0)
        return body


def inputs(**metadata: object) -> dict[str, Any]:
    return {
        "metadata": {
            "namespace": "prod",
            "name": "pic-web",
            "labels": {NAME_LABEL: "label-web", UID_LABEL: "label-uid"},
            "ownerReferences": [{"kind": "Ingress", "name": "web", "uid": "uid-1"}, {}],
            **metadata,
        },
        "spec": {"httpConfig": {"domainName": "example.com", "subdomain": "app"}},
    }


def outputs(generation: int) -> dict[str, Any]:
    return {"metadata": {"generation": generation}}


def args(**given: Any) -> ResourceHookArgs:
    return ResourceHookArgs("urn", "prod/pic-web", "app.example.com", "type", **given)


Call = Callable[[Hooks], Coroutine[Any, Any, None]]


def called(call: Call, cluster: Cluster | None, *, events: bool = True) -> Exception | None:
    """Call a hook of hooks that are bound to a cluster, and return its error."""

    async def program() -> None:
        hooks = Hooks(deadline=0.1)
        if cluster:
            hooks.bind(RunContext(cluster, Ownership(STACK), events))
        await call(hooks)

    return engine.run(program).error


def told(call: Call) -> dict[str, Any]:
    """The Event that a hook posts, without its name and times."""
    cluster = Cluster()
    assert called(call, cluster) is None
    [(method, path, event)] = cluster.posted
    assert (method, path) == ("POST", "/api/v1/namespaces/prod/events")
    for key in ("firstTimestamp", "lastTimestamp"):
        del event[key]
    name, _, rest = event["metadata"].pop("name").rpartition(".")
    assert len(rest) == 16
    return {**event, "name": name}


def event(reason: str, message: str, name: str = "web", uid: str = "uid-1") -> dict[str, Any]:
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
    return hooks.created(args(new_inputs=inputs(), new_outputs=outputs(1)))


def update(hooks: Hooks, old: int = 1, new: int = 2) -> Coroutine[Any, Any, None]:
    both = {"old_inputs": inputs(), "new_inputs": inputs()}
    return hooks.updated(args(**both, old_outputs=outputs(old), new_outputs=outputs(new)))


def delete(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.deleted(args(old_inputs=inputs(), old_outputs=outputs(1)))


def about_to_delete(hooks: Hooks) -> Coroutine[Any, Any, None]:
    return hooks.check_owner(args(old_inputs=inputs()))


def test_the_names_of_the_hooks_stay_as_they_are_for_ever() -> None:
    def program() -> None:
        Hooks()

    assert engine.run(program).hooks == engine.HOOKS


def bound(*, adopting: bool, events: bool) -> dict[str, bool]:
    """What resources bind, and whether the engine goes on where it fails."""
    found: dict[str, bool] = {}

    def program() -> None:
        bindings = Hooks().binding(events=events)
        binding = bindings.adopting if adopting else bindings.usual
        for each in (
            *(binding.after_create, binding.before_update, binding.after_update),
            *(binding.before_delete, binding.after_delete),
        ):
            for hook in each or ():
                assert isinstance(hook, ResourceHook)
                found[hook.name] = bool(hook.opts and hook.opts.ignore_errors)

    assert engine.run(program).error is None
    return found


def test_without_events_only_the_check_before_a_delete_is_bound() -> None:
    assert bound(adopting=False, events=False) == {"pic:before-delete": False}


def test_only_the_check_before_a_delete_can_stop_the_engine() -> None:
    assert bound(adopting=False, events=True) == {
        "pic:after-create": True,
        "pic:after-update": True,
        "pic:before-delete": False,
        "pic:after-delete": True,
    }


def test_what_is_adopted_is_taken_over_before_it_is_updated_or_not_updated() -> None:
    for events in (True, False):
        usual = bound(adopting=False, events=events)

        assert bound(adopting=True, events=events) == {**usual, "pic:before-update": False}


def test_a_new_object_is_told_to_its_ingress() -> None:
    assert told(create) == event(
        "Created", "app.example.com is exposed by PangolinResource prod/pic-web"
    )


def test_a_changed_object_is_told_to_its_ingress() -> None:
    assert told(update) == event(
        "Updated", "app.example.com is changed in PangolinResource prod/pic-web"
    )


def test_a_deleted_object_is_told_to_its_ingress() -> None:
    assert told(delete) == event(
        "Deleted",
        "app.example.com is no longer declared: deleted PangolinResource prod/pic-web",
    )


@pytest.mark.parametrize("owners", [None, []])
def test_without_owner_references_the_labels_name_the_ingress(owners: object) -> None:
    bare = inputs(ownerReferences=owners)

    assert told(lambda hooks: hooks.created(args(new_inputs=bare))) == event(
        "Created",
        "app.example.com is exposed by PangolinResource prod/pic-web",
        "label-web",
        "label-uid",
    )


def test_an_apex_host_has_no_subdomain() -> None:
    apex = {**inputs(), "spec": {"httpConfig": {"domainName": "example.com"}}}

    assert told(lambda hooks: hooks.created(args(new_inputs=apex)))["message"] == (
        "example.com is exposed by PangolinResource prod/pic-web"
    )


def test_an_adoption_that_moves_nothing_tells_nothing() -> None:
    cluster = Cluster()

    assert called(lambda hooks: update(hooks, 3, 3), cluster) is None
    assert cluster.posted == []


def test_only_so_many_events_are_posted_in_one_run() -> None:
    cluster = Cluster()

    async def often(hooks: Hooks) -> None:
        for _ in range(EVENTS_A_RUN + 3):
            await delete(hooks)

    assert called(often, cluster) is None
    assert len(cluster.posted) == EVENTS_A_RUN


@pytest.mark.parametrize("call", [create, update, delete])
def test_with_events_off_nothing_is_told(call: Call) -> None:
    cluster = Cluster()

    assert called(call, cluster, events=False) is None
    assert cluster.posted == []


@pytest.mark.parametrize("call", [create, update, delete])
def test_before_the_cluster_is_known_nothing_is_told(call: Call) -> None:
    assert called(call, None) is None


@pytest.mark.parametrize("error", [StatusError(403, "no"), ClusterError("away")])
def test_an_event_that_cannot_be_posted_is_an_error_for_the_engine_to_ignore(
    error: Exception,
) -> None:
    assert called(create, Cluster(error)) is error


def test_an_event_that_takes_too_long_is_given_up() -> None:
    ended = threading.Event()

    class Slow(Cluster):
        def request(self, method: str, path: str, body: object) -> object:
            ended.wait(5)
            return super().request(method, path, body)

    started = time.monotonic()

    assert isinstance(called(create, Slow()), TimeoutError)
    assert time.monotonic() - started < 2
    ended.set()


def live(managers: object = None, **labels: str) -> dict[str, object]:
    metadata = {"namespace": "prod", "name": "pic-web", "labels": labels}
    return {"metadata": {**metadata, "managedFields": managers}, "spec": {}}


def checked(found: object) -> str | None:
    error = called(about_to_delete, Cluster(found))
    return None if error is None else str(error)


def whose(label: str) -> str:
    return (
        f"PangolinResource prod/pic-web is no longer ours ({label}): not deleted. Run `pulumi"
        " state delete` on its URN to forget it"
    )


def test_an_object_of_ours_may_be_deleted() -> None:
    assert checked(live(**{STACK_LABEL: STACK})) is None


def test_an_object_whose_labels_were_stripped_may_be_deleted() -> None:
    assert checked(live([{"manager": "pic"}])) is None


def test_an_object_that_is_gone_may_be_deleted() -> None:
    assert checked(StatusError(404, "no such thing")) is None


def test_an_object_of_another_stack_is_not_deleted() -> None:
    assert checked(live(**{STACK_LABEL: "pic.test"})) == whose("other stack")


def test_an_object_of_somebody_else_is_not_deleted() -> None:
    assert checked(live([{"manager": "kubectl"}])) == whose("foreign")


def test_an_object_of_the_go_controller_is_not_deleted() -> None:
    seeds = dict.fromkeys((NAME_LABEL, NAMESPACE_LABEL, UID_LABEL), "x")

    assert checked(live(**seeds)) == whose("predecessor")


@pytest.mark.parametrize("error", [StatusError(403, "no"), ClusterError("away")])
def test_an_object_that_cannot_be_looked_at_is_not_deleted(error: Exception) -> None:
    assert checked(error) == str(error)


def test_before_the_cluster_is_known_nothing_is_deleted() -> None:
    error = called(about_to_delete, None)

    assert str(error) == "pic does not know its cluster yet, so nothing is deleted"


SEEDS = dict.fromkeys((NAME_LABEL, NAMESPACE_LABEL, UID_LABEL), "x")
WRITTEN = {
    "apiVersion": "tunnel.pangolin.io/v1alpha1",
    "manager": "manager",
    "operation": "Update",
    "fieldsV1": {"f:spec": {"f:siteRef": {}}},
}
TAKEN = {
    "metadata": {
        "resourceVersion": None,
        "managedFields": [{**WRITTEN, "manager": "pic", "operation": "Apply"}],
    }
}
PATCHED = ("PATCH", f"{WHERE}?fieldManager=pic", TAKEN)
CONFLICT = StatusError(409, "the object has been modified")
