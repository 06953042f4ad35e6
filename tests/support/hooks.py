"""Helps to test hooks: a transport with one PangolinResource, and arguments of hooks."""

from collections.abc import Callable, Coroutine
from typing import Any

from pulumi import ResourceHookArgs

from pic.cluster.listing import PANGOLIN
from pic.core.names import NAME_LABEL, NAMESPACE_LABEL, UID_LABEL
from pic.engine.hooks import Hooks, RunContext
from pic.planning.ownership import Ownership
from tests.support import engine

OBJECT_PATH = f"{PANGOLIN}/namespaces/prod/pangolinresources/pic-web"
STACK = "pic.prod"
# The labels that the Go controller sets, and an entry of managedFields as it leaves it.
PREDECESSOR_LABELS = dict.fromkeys((NAME_LABEL, NAMESPACE_LABEL, UID_LABEL), "x")
PREDECESSOR_FIELDS = {
    "apiVersion": "tunnel.pangolin.io/v1alpha1",
    "manager": "manager",
    "operation": "Update",
    "fieldsV1": {"f:spec": {"f:siteRef": {}}},
}

HookCall = Callable[[Hooks], Coroutine[Any, Any, None]]


class OneObjectTransport:
    """A transport with one object, or an error in its place. It records what is written."""

    def __init__(self, live: object = None, *refusals: Exception) -> None:
        self.live = live
        self.refusals = list(refusals)
        self.requests: list[tuple[str, str, Any]] = []

    def get(self, path: str) -> object:
        assert path == OBJECT_PATH
        if isinstance(self.live, Exception):
            raise self.live
        return self.live

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        if isinstance(self.live, Exception):
            raise self.live
        self.requests.append((method, path, body))
        if self.refusals:
            raise self.refusals.pop(0)
        return body


def inputs(**metadata: object) -> dict[str, Any]:
    """Return the inputs of a PangolinResource."""
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


def hook_args(**values: Any) -> ResourceHookArgs:
    """Return the arguments of a hook of a PangolinResource."""
    return ResourceHookArgs("urn", "prod/pic-web", "app.example.com", "type", **values)


def live_object(managers: object = None, **labels: str) -> dict[str, object]:
    """Return the live object as the API server has it."""
    metadata = {"namespace": "prod", "name": "pic-web", "labels": labels}
    return {"metadata": {**metadata, "managedFields": managers}, "spec": {}}


def call_hook(
    call: HookCall, transport: OneObjectTransport | None, *, events: bool = True
) -> Exception | None:
    """Call a hook in a program, and return its error. Without a transport it has no context."""

    async def program() -> None:
        hooks = Hooks(deadline=0.1)
        if transport:
            hooks.bind(RunContext(transport, Ownership(STACK), events))
        await call(hooks)

    return engine.run(program).error
