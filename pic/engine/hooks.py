"""What happens around the engine's steps: Events at Ingresses, and checks before it writes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pulumi import ResourceHook, ResourceHookArgs, ResourceHookBinding, ResourceHookOptions

from pic.cluster import events, managed_fields
from pic.cluster.events import EVENTS_A_RUN, InvolvedObject
from pic.cluster.listing import PANGOLIN, StatusError, Transport
from pic.core.json_values import Raw, mapping
from pic.core.model import FIELD_MANAGER, Owner
from pic.core.names import NAME_LABEL, UID_LABEL
from pic.core.notices import Level
from pic.planning.ownership import OwnerKind, Ownership
from pic.report.event_texts import EventText
from pic.snapshot.pangolin import live_resource

DEADLINE_SECONDS = 30.0
WORKERS = 8
# The operator may write in between; a controller that still runs writes again and again.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the hooks work with once the settings are known.

    Attributes:
        unread: By target, why this run does not know what is there: so nothing is deleted there.
        owners: The Ingresses of DNS records, by host.
    """

    transport: Transport
    ownership: Ownership
    events: bool
    unread: Mapping[str, str] = field(default_factory=dict)
    owners: Mapping[str, Sequence[Owner]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Bindings:
    """What resources bind: `adopting` those whose object is of the Go controller."""

    usual: ResourceHookBinding
    adopting: ResourceHookBinding


class Hooks:
    """The hooks of every resource.

    The state records their names, and the engine refuses to delete a resource whose hook the
    program does not register. So the names stay as they are for ever, and all of them are
    registered before anything can fail.
    """

    def __init__(self, deadline: float = DEADLINE_SECONDS) -> None:
        self._deadline = deadline
        self._surroundings: Surroundings | None = None
        self._told = 0
        # Threads of our own: those of the event loop are all busy with registrations, and each of
        # these waits for its hook.
        self._workers = ThreadPoolExecutor(WORKERS, thread_name_prefix="pic-hook")
        ignored = ResourceHookOptions(ignore_errors=True)
        self._after_create = ResourceHook("pic:after-create", self.created, ignored)
        self._before_update = ResourceHook("pic:before-update", self.take_over)
        self._after_update = ResourceHook("pic:after-update", self.updated, ignored)
        self._before_delete = ResourceHook("pic:before-delete", self.check_owner)
        self._after_delete = ResourceHook("pic:after-delete", self.deleted, ignored)
        self._record_created = ResourceHook("pic:pihole-after-create", self.registered, ignored)
        self._record_updated = ResourceHook("pic:pihole-after-update", self.readdressed, ignored)
        self._record_going = ResourceHook("pic:pihole-before-delete", self.check_read)
        self._record_deleted = ResourceHook("pic:pihole-after-delete", self.gone, ignored)

    def binding(self, *, events: bool) -> Bindings:
        """Return what resources bind: every call costs time, so without Events only the checks."""
        adopting = self._bound(events=events)
        adopting.before_update = [self._before_update]
        return Bindings(self._bound(events=events), adopting)

    def record_binding(self, *, events: bool) -> Bindings:
        """Return what DNS records bind."""
        bound = ResourceHookBinding(before_delete=[self._record_going])
        if events:
            bound.after_create = [self._record_created]
            bound.after_update = [self._record_updated]
            bound.after_delete = [self._record_deleted]
        return Bindings(bound, bound)

    def _bound(self, *, events: bool) -> ResourceHookBinding:
        if not events:
            return ResourceHookBinding(before_delete=[self._before_delete])
        return ResourceHookBinding(
            after_create=[self._after_create],
            after_update=[self._after_update],
            before_delete=[self._before_delete],
            after_delete=[self._after_delete],
        )

    def bind(self, surroundings: Surroundings) -> None:
        """Give the hooks what they work with, before the first resource is declared."""
        self._surroundings = surroundings

    async def warn(self, news: Sequence[EventText]) -> int:
        """Tell Ingresses of warnings, and return how many could not be told in time."""
        surroundings = self._surroundings
        if surroundings is None:
            return len(news)
        jobs = (self._work(partial(events.warn, surroundings.transport, each)) for each in news)
        ends = await asyncio.gather(*jobs, return_exceptions=True)
        return sum(isinstance(end, Exception) for end in ends)

    async def created(self, args: ResourceHookArgs) -> None:
        """Tell the Ingress of a new object."""
        await self._tell("Created", "is exposed by", args.new_inputs)

    async def updated(self, args: ResourceHookArgs) -> None:
        """Tell the Ingress of a changed object; an adoption changes nothing and tells nothing."""
        if _generation(args.old_outputs) != _generation(args.new_outputs):
            await self._tell("Updated", "is changed in", args.new_inputs)

    async def deleted(self, args: ResourceHookArgs) -> None:
        """Tell the Ingress of an object that is gone."""
        await self._tell("Deleted", "is no longer exposed; deleted is", args.old_inputs)

    async def check_owner(self, args: ResourceHookArgs) -> None:
        """Fail the delete of an object that has become somebody else's.

        Raises:
            RuntimeError: The live object is not ours.
        """
        surroundings = self._surroundings
        if surroundings is None:
            raise RuntimeError("pic does not know its cluster yet, so nothing is deleted")
        _refuse_unread(surroundings, "pangolin")
        namespace, name, _ = _identity(args.old_inputs)
        await self._work(partial(_check, surroundings, namespace, name))

    async def take_over(self, args: ResourceHookArgs) -> None:
        """Make the fields of the Go controller's object pic's, before pic applies its own.

        Raises:
            RuntimeError: The live object is neither that controller's nor ours.
        """
        surroundings = self._surroundings
        if surroundings is None:
            raise RuntimeError("pic does not know its cluster yet, so nothing is taken over")
        namespace, name, _ = _identity(args.new_inputs)
        await self._work(partial(_take_over, surroundings, namespace, name))

    async def check_read(self, _: ResourceHookArgs) -> None:
        """Fail the delete of a record where this run does not know what Pi-hole has.

        Raises:
            RuntimeError: It was not read.
        """
        if self._surroundings is None:
            raise RuntimeError("pic does not know its Pi-hole yet, so nothing is deleted")
        _refuse_unread(self._surroundings, "pihole")

    async def registered(self, args: ResourceHookArgs) -> None:
        """Tell the Ingresses of a new record."""
        await self._tell_of_record("Created", "Pi-hole answers {host} with {ip}", args.new_inputs)

    async def readdressed(self, args: ResourceHookArgs) -> None:
        """Tell the Ingresses of another address."""
        text = "Pi-hole answers {host} with another address, {ip}"
        await self._tell_of_record("Updated", text, args.new_inputs)

    async def gone(self, args: ResourceHookArgs) -> None:
        """Tell the Ingresses of a record that is gone."""
        text = "Pi-hole does not answer {host} with {ip} any more"
        await self._tell_of_record("Deleted", text, args.old_inputs)

    async def _tell_of_record(
        self, reason: str, text: str, inputs: Mapping[str, Any] | None
    ) -> None:
        surroundings, inputs = self._surroundings, inputs or {}
        message = text.format(host=inputs.get("host"), ip=inputs.get("ip"))
        owners = surroundings.owners if surroundings else {}
        for owner in owners.get(str(inputs.get("host")), ()):
            await self._post(
                InvolvedObject(owner.namespace, owner.name, owner.uid), reason, message
            )

    async def _tell(self, reason: str, what: str, inputs: Mapping[str, Any] | None) -> None:
        namespace, name, subject = _identity(inputs)
        message = f"{_host(inputs)} {what} PangolinResource {namespace}/{name}"
        await self._post(subject, reason, message)

    async def _post(self, subject: InvolvedObject, reason: str, message: str) -> None:
        surroundings = self._surroundings
        if surroundings is None or not surroundings.events or self._told >= EVENTS_A_RUN:
            return
        self._told += 1
        await self._work(
            partial(events.post, surroundings.transport, subject, Level.NORMAL, reason, message)
        )

    async def _work(self, job: Callable[[], None]) -> None:
        loop = asyncio.get_running_loop()
        await asyncio.wait_for(loop.run_in_executor(self._workers, job), self._deadline)


def _refuse_unread(surroundings: Surroundings, target: str) -> None:
    if why := surroundings.unread.get(target):
        raise RuntimeError(f"not deleted: this run does not know what {target} has, since {why}")


def _check(surroundings: Surroundings, namespace: str, name: str) -> None:
    try:
        _, whose = _look(surroundings, namespace, name)
    except StatusError as error:
        if error.status == 404:
            return
        raise
    if whose not in (OwnerKind.OURS, OwnerKind.STRIPPED):
        raise RuntimeError(
            f"PangolinResource {namespace}/{name} is not ours any more ({whose}): not deleted. Run"
            " `pulumi state delete` on its URN to forget it"
        )


def _take_over(surroundings: Surroundings, namespace: str, name: str) -> None:
    for _ in range(ATTEMPTS):
        found, whose = _look(surroundings, namespace, name)
        if whose not in (OwnerKind.PREDECESSOR, OwnerKind.OURS, OwnerKind.STRIPPED):
            raise RuntimeError(
                f"PangolinResource {namespace}/{name} has become somebody else's ({whose}): not"
                " taken over"
            )
        wanted = managed_fields.takeover_patch(found)
        if wanted is None:
            return
        try:
            path = f"{_path(namespace, name)}?fieldManager={FIELD_MANAGER}"
            surroundings.transport.request("PATCH", path, wanted)
        except StatusError as error:
            if error.status != 409:
                raise
        else:
            return
    raise RuntimeError(
        f"PangolinResource {namespace}/{name} changes all the time: not taken over. Scale the Go"
        " controller to 0, and run again"
    )


def _look(surroundings: Surroundings, namespace: str, name: str) -> tuple[Raw, OwnerKind]:
    """Return a live object, and whose it is."""
    found = mapping(surroundings.transport.get(_path(namespace, name)), "PangolinResource")
    return found, surroundings.ownership.of(live_resource(found))


def _path(namespace: str, name: str) -> str:
    return f"{PANGOLIN}/namespaces/{namespace}/pangolinresources/{name}"


def _identity(inputs: Mapping[str, Any] | None) -> tuple[str, str, InvolvedObject]:
    """Return namespace and name of an object, and the Ingress that controls it."""
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
