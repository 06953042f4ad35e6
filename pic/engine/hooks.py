"""Hooks into the engine's steps: posts Events at Ingresses, and checks an object before a write.

The engine calls a hook in the event loop of the program, while the registration of the resource
still waits. So hooks send their requests in threads of their own, with a deadline.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pulumi import ResourceHook, ResourceHookArgs, ResourceHookBinding, ResourceHookOptions

from pic.cluster import events, managed_fields
from pic.cluster.events import EVENTS_A_RUN, InvolvedObject
from pic.cluster.listing import PANGOLIN, StatusError, Transport
from pic.core.json_values import Raw, mapping
from pic.core.model import FIELD_MANAGER, Owner
from pic.core.names import NAME_LABEL, UID_LABEL
from pic.core.notices import Level
from pic.engine.unpublishing import LONGEST_SECONDS, Unpublisher
from pic.planning.ownership import OwnerKind, Ownership
from pic.report.event_texts import EventText
from pic.snapshot.pangolin import live_resource

DEADLINE_SECONDS = 30.0
WORKERS = 8
T = TypeVar("T")
# The operator may write in between. The Go controller, if it still runs, writes all the time.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class RunContext:
    """What the hooks need to know of a run.

    Attributes:
        unread_reasons: Why this run does not know what a target holds, by target. pic deletes
            nothing there.
        owners: The Ingresses of DNS records, by host.
        publishers: The Ingresses of the hosts in Pangolin itself, by host.
        quiet: The namespaces that get no Event for each change, or none at all: the API server
            creates nothing in one that is being deleted.
        unpublish: Whether a host is blocked in Pangolin before its object is deleted.
    """

    transport: Transport
    ownership: Ownership
    events: bool
    unread_reasons: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, Sequence[Owner]] = field(default_factory=dict)
    publishers: Mapping[str, Sequence[Owner]] = field(default_factory=dict)
    quiet: frozenset[str] = frozenset()
    unpublish: bool = False


@dataclass(frozen=True, slots=True)
class Bindings:
    """The hooks of resources: `adopting` is for objects of the Go controller."""

    usual: ResourceHookBinding
    adopting: ResourceHookBinding


class Hooks:
    """The hooks of every resource.

    The state records the names of hooks, and the engine refuses to delete a resource whose hook the
    program does not register. So the names never change, and all hooks are registered before
    anything can fail.
    """

    def __init__(
        self, deadline: float = DEADLINE_SECONDS, unpublish_seconds: float = LONGEST_SECONDS
    ) -> None:
        self._deadline = deadline
        self._unpublish_seconds = unpublish_seconds
        self._context: RunContext | None = None
        self._posted = 0
        # All threads of the event loop are busy with registrations, each of which waits for its
        # hook. So hooks need their own.
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="pic-hook")
        ignored = ResourceHookOptions(ignore_errors=True)
        self._after_create = ResourceHook("pic:after-create", self.post_created, ignored)
        self._before_update = ResourceHook("pic:before-update", self.take_over)
        self._after_update = ResourceHook("pic:after-update", self.post_updated, ignored)
        self._before_delete = ResourceHook("pic:before-delete", self.check_owner)
        self._after_delete = ResourceHook("pic:after-delete", self.post_deleted, ignored)
        self._after_record_create = ResourceHook(
            "pic:pihole-after-create", self.post_record_created, ignored
        )
        self._after_record_update = ResourceHook(
            "pic:pihole-after-update", self.post_record_updated, ignored
        )
        self._before_record_delete = ResourceHook("pic:pihole-before-delete", self.check_read)
        self._after_record_delete = ResourceHook(
            "pic:pihole-after-delete", self.post_record_deleted, ignored
        )
        self._after_publish = ResourceHook("pic:public-after-create", self.post_published, ignored)
        self._after_public_update = ResourceHook(
            "pic:public-after-update", self.post_republished, ignored
        )
        self._before_unpublish = ResourceHook("pic:public-before-delete", self.check_published)
        self._after_unpublish = ResourceHook(
            "pic:public-after-delete", self.post_unpublished, ignored
        )

    def binding(self, *, events: bool) -> Bindings:
        """Return the hooks of PangolinResources.

        Every call of a hook costs time, so without Events only the checks are bound.
        """
        adopting = self._resource_binding(events=events)
        adopting.before_update = [self._before_update]
        return Bindings(self._resource_binding(events=events), adopting)

    def record_binding(self, *, events: bool) -> Bindings:
        """Return the hooks of DNS records."""
        binding = ResourceHookBinding(before_delete=[self._before_record_delete])
        if events:
            binding.after_create = [self._after_record_create]
            binding.after_update = [self._after_record_update]
            binding.after_delete = [self._after_record_delete]
        return Bindings(binding, binding)

    def public_binding(self, *, events: bool) -> Bindings:
        """Return the hooks of resources in Pangolin itself."""
        binding = ResourceHookBinding(before_delete=[self._before_unpublish])
        if events:
            binding.after_create = [self._after_publish]
            binding.after_update = [self._after_public_update]
            binding.after_delete = [self._after_unpublish]
        return Bindings(binding, binding)

    def no_binding(self, *, events: bool) -> Bindings:
        """Return no hooks, for resources that need no check and post no Event."""
        del events
        binding = ResourceHookBinding()
        return Bindings(binding, binding)

    def _resource_binding(self, *, events: bool) -> ResourceHookBinding:
        if not events:
            return ResourceHookBinding(before_delete=[self._before_delete])
        return ResourceHookBinding(
            after_create=[self._after_create],
            after_update=[self._after_update],
            before_delete=[self._before_delete],
            after_delete=[self._after_delete],
        )

    def bind(self, context: RunContext) -> None:
        """Set the context of the run, before the first resource is declared."""
        self._context = context

    async def warn(self, warnings: Sequence[EventText]) -> int:
        """Post warnings as Events, and return how many could not be posted in time."""
        context = self._context
        if context is None:
            return len(warnings)
        jobs = (
            self._run_in_thread(partial(events.warn, context.transport, warning))
            for warning in warnings
        )
        results = await asyncio.gather(*jobs, return_exceptions=True)
        return sum(isinstance(result, Exception) for result in results)

    async def post_created(self, args: ResourceHookArgs) -> None:
        """Post that an object is new."""
        await self._post_host("Created", "is exposed by", args.new_inputs)

    async def post_updated(self, args: ResourceHookArgs) -> None:
        """Post that an object changed. An adoption changes no object, so it posts nothing."""
        if _generation(args.old_outputs) != _generation(args.new_outputs):
            await self._post_host("Updated", "is changed in", args.new_inputs)

    async def post_deleted(self, args: ResourceHookArgs) -> None:
        """Post that an object is deleted."""
        blocked = "blocked and " if self._context and self._context.unpublish else ""
        what = f"is {blocked}no longer declared: deleted"
        await self._post_host("Deleted", what, args.old_inputs)

    async def check_owner(self, args: ResourceHookArgs) -> None:
        """Fail the deletion of an object that meanwhile belongs to another owner.

        With `pic:unpublish: block`, block its host first.

        Raises:
            RuntimeError: The live object is not ours, or its host could not be blocked.
        """
        context = self._context
        if context is None:
            raise RuntimeError("pic does not know its cluster yet, so nothing is deleted")
        _refuse_unread(context, "pangolin")
        namespace, name, _ = _identity(args.old_inputs)
        live = await self._run_in_thread(partial(_check, context, namespace, name))
        if live and context.unpublish:
            await Unpublisher(
                context.transport,
                _path(namespace, name),
                f"{namespace}/{name}",
                self._run_in_thread,
                self._unpublish_seconds,
            ).block(live)

    async def take_over(self, args: ResourceHookArgs) -> None:
        """Make pic the manager of the fields of the Go controller's object, before it is updated.

        Raises:
            RuntimeError: The live object belongs neither to that controller nor to us.
        """
        context = self._context
        if context is None:
            raise RuntimeError("pic does not know its cluster yet, so nothing is taken over")
        namespace, name, _ = _identity(args.new_inputs)
        await self._run_in_thread(partial(_take_over, context, namespace, name))

    async def check_read(self, _: ResourceHookArgs) -> None:
        """Fail the deletion of a record if this run could not read Pi-hole.

        Raises:
            RuntimeError: Pi-hole was not read.
        """
        if self._context is None:
            raise RuntimeError("pic does not know its Pi-hole yet, so nothing is deleted")
        _refuse_unread(self._context, "pihole")

    async def post_record_created(self, args: ResourceHookArgs) -> None:
        """Post that a record is new."""
        await self._post_record("Created", "Pi-hole answers {host} with {ip}", args.new_inputs)

    async def post_record_updated(self, args: ResourceHookArgs) -> None:
        """Post that a record has another address."""
        text = "Pi-hole answers {host} with a new address, {ip}"
        await self._post_record("Updated", text, args.new_inputs)

    async def post_record_deleted(self, args: ResourceHookArgs) -> None:
        """Post that a record is deleted."""
        text = "Pi-hole no longer answers {host} with {ip}"
        await self._post_record("Deleted", text, args.old_inputs)

    async def check_published(self, _: ResourceHookArgs) -> None:
        """Fail the deletion of a resource if this run could not read Pangolin.

        Raises:
            RuntimeError: Pangolin was not read.
        """
        if self._context is None:
            raise RuntimeError("pic does not know its Pangolin yet, so nothing is deleted")
        _refuse_unread(self._context, "pangolin-api")

    async def post_published(self, args: ResourceHookArgs) -> None:
        """Post that a host is published."""
        await self._post_public("Created", "is published by Pangolin", args.new_inputs)

    async def post_republished(self, args: ResourceHookArgs) -> None:
        """Post that a host changed in Pangolin."""
        await self._post_public("Updated", "is changed in Pangolin", args.new_inputs)

    async def post_unpublished(self, args: ResourceHookArgs) -> None:
        """Post that a host is not published any more."""
        what = "is no longer published: its resource in Pangolin is deleted"
        await self._post_public("Deleted", what, args.old_inputs)

    async def _post_public(self, reason: str, what: str, inputs: Mapping[str, Any] | None) -> None:
        context, host = self._context, str((inputs or {}).get("host"))
        publishers = context.publishers if context else {}
        for owner in publishers.get(host, ()):
            subject = InvolvedObject(owner.namespace, owner.name, owner.uid)
            await self._post(subject, reason, f"{host} {what}")

    async def _post_record(self, reason: str, text: str, inputs: Mapping[str, Any] | None) -> None:
        context, inputs = self._context, inputs or {}
        message = text.format(host=inputs.get("host"), ip=inputs.get("ip"))
        owners = context.owners if context else {}
        for owner in owners.get(str(inputs.get("host")), ()):
            await self._post(
                InvolvedObject(owner.namespace, owner.name, owner.uid), reason, message
            )

    async def _post_host(self, reason: str, what: str, inputs: Mapping[str, Any] | None) -> None:
        namespace, name, subject = _identity(inputs)
        message = f"{_host(inputs)} {what} PangolinResource {namespace}/{name}"
        await self._post(subject, reason, message)

    async def _post(self, subject: InvolvedObject, reason: str, message: str) -> None:
        context = self._context
        if context is None or not context.events or subject.namespace in context.quiet:
            return
        # The changes that the plan knows fit. The engine may find more.
        if self._posted >= EVENTS_A_RUN:
            return
        self._posted += 1
        await self._run_in_thread(
            partial(events.post, context.transport, subject, Level.NORMAL, reason, message)
        )

    async def _run_in_thread(self, job: Callable[[], T]) -> T:
        loop = asyncio.get_running_loop()
        return await asyncio.wait_for(loop.run_in_executor(self._workers, job), self._deadline)


def _refuse_unread(context: RunContext, target: str) -> None:
    if reason := context.unread_reasons.get(target):
        raise RuntimeError(f"not deleted: this run could not read {target}: {reason}")


def _check(context: RunContext, namespace: str, name: str) -> Raw | None:
    """Return the live object if it is ours; None if it does not exist."""
    try:
        live, owner = _live(context, namespace, name)
    except StatusError as error:
        if error.status == 404:
            return None
        raise
    if owner not in (OwnerKind.OURS, OwnerKind.STRIPPED):
        raise RuntimeError(
            f"PangolinResource {namespace}/{name} is no longer ours ({owner}): not deleted. Run"
            " `pulumi state delete` on its URN to forget it"
        )
    return live


def _take_over(context: RunContext, namespace: str, name: str) -> None:
    for _ in range(ATTEMPTS):
        live, owner = _live(context, namespace, name)
        if owner not in (OwnerKind.PREDECESSOR, OwnerKind.OURS, OwnerKind.STRIPPED):
            raise RuntimeError(
                f"PangolinResource {namespace}/{name} belongs to another owner ({owner}): not"
                " taken over"
            )
        patch = managed_fields.takeover_patch(live)
        if patch is None:
            return
        try:
            path = f"{_path(namespace, name)}?fieldManager={FIELD_MANAGER}"
            context.transport.request("PATCH", path, patch)
        except StatusError as error:
            if error.status != 409:
                raise
        else:
            return
    raise RuntimeError(
        f"PangolinResource {namespace}/{name} keeps changing: not taken over. Scale the Go"
        " controller to 0, then run pic again"
    )


def _live(context: RunContext, namespace: str, name: str) -> tuple[Raw, OwnerKind]:
    """Return a live object and the kind of its owner."""
    raw = mapping(context.transport.get(_path(namespace, name)), "PangolinResource")
    return raw, context.ownership.of(live_resource(raw))


def _path(namespace: str, name: str) -> str:
    return f"{PANGOLIN}/namespaces/{namespace}/pangolinresources/{name}"


def _identity(inputs: Mapping[str, Any] | None) -> tuple[str, str, InvolvedObject]:
    """Return the namespace and name of an object, and the Ingress that controls it."""
    metadata = mapping((inputs or {}).get("metadata"), "metadata")
    namespace, name = str(metadata.get("namespace")), str(metadata.get("name"))
    owners = metadata.get("ownerReferences") or [{}]
    labels = mapping(metadata.get("labels"), "metadata.labels")
    first = mapping(owners[0] if isinstance(owners, list) else {}, "owner")
    ingress = first.get("name") or labels.get(NAME_LABEL)
    uid = first.get("uid") or labels.get(UID_LABEL)
    return namespace, name, InvolvedObject(namespace, str(ingress), str(uid))


def _host(inputs: Mapping[str, Any] | None) -> str:
    spec = mapping((inputs or {}).get("spec"), "spec")
    http = mapping(spec.get("httpConfig"), "httpConfig")
    parts = (http.get("subdomain"), http.get("domainName"))
    return ".".join(str(part) for part in parts if part)


def _generation(outputs: Mapping[str, Any] | None) -> object:
    return mapping((outputs or {}).get("metadata"), "metadata").get("generation")
