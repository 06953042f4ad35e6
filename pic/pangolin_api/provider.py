"""Implements the Pulumi provider of public hosts in a Pangolin.

The provider reads the key from the environment when it needs its client, and stores it nowhere. A
preview sends Pangolin only the reads of a refresh or an import.
"""

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from pulumi.provider.experimental import provider as sdk

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import Raw, text
from pic.pangolin_api import inputs, resource
from pic.pangolin_api.client import Client, Server
from pic.pangolin_api.errors import GoneError, UnfinishedError
from pic.pangolin_api.removing import Removals
from pic.provider import INTERRUPTED, NOT_CONFIGURED, values
from pic.provider.partial import Partial, PartialError
from pic.provider.values import plain, wrapped

# Connects to the organisation that the engine configured.
Connect = Callable[[Server], Client]
# The client has four requests in flight. More calls wait there, and share their looks.
_CALLS = 32
T = TypeVar("T")


class Pangolin(sdk.Provider):
    """The provider of the public hosts of one organisation."""

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._link: Link | None = None
        self._threads = ThreadPoolExecutor(_CALLS, thread_name_prefix="pangolin")
        self._is_cancelled = False

    async def get_schema(self, request: sdk.GetSchemaRequest) -> sdk.GetSchemaResponse:
        """Return the schema of the resource."""
        del request
        return sdk.GetSchemaResponse(json.dumps(resource.SCHEMA))

    async def configure(self, request: sdk.ConfigureRequest) -> sdk.ConfigureResponse:
        """Store where Pangolin is; send nothing yet."""
        args = plain(request.args)
        server = Server(*(text(args.get(name)) for name in ("url", "org", "ca")))
        if not server.url or not server.org:
            raise PangolinError(
                "the provider needs url and org: set pic:pangolinUrl and pic:pangolinOrg",
                kind=FailureClass.INVALID,
            )
        self._link = Link(lambda: self._connect(server))
        return sdk.ConfigureResponse(accept_secrets=True, supports_preview=True)

    async def check(self, request: sdk.CheckRequest) -> sdk.CheckResponse:
        """Validate inputs; they stay as they are."""
        given = plain(request.new_inputs)
        return values.checked(request.new_inputs, given, resource.problems(given))

    async def diff(self, request: sdk.DiffRequest) -> sdk.DiffResponse:
        """Compare: another host is a replacement, and everything else an update."""
        old, new = plain(request.old_state), plain(request.new_inputs)
        # Pangolin allows one resource for a host, and a move back and forth must not leave two.
        differences = resource.differences(old, new)
        return values.diffed(differences, stable=resource.HOST, delete_first=True)

    async def create(self, request: sdk.CreateRequest) -> sdk.CreateResponse:
        """Publish a host, or finish what a killed create of ours has left.

        Raises:
            PartialError: The host has a resource, which the next run finishes.
        """
        if request.preview:
            return sdk.CreateResponse("", request.properties)
        properties = plain(request.properties)
        wanted = inputs.decode(properties)
        try:
            number = await self._do(lambda link: link.client.create(wanted))
        except UnfinishedError as error:
            raise _partial(error, properties) from error
        return sdk.CreateResponse(str(number), wrapped(resource.outputs(properties)))

    async def read(self, request: sdk.ReadRequest) -> sdk.ReadResponse:
        """Return a resource as Pangolin has it; an empty id if it does not have it.

        The engine calls this for a refresh and for an import.
        """
        number = resource.parse_id(request.resource_id)
        state, given = plain(request.properties), plain(request.inputs)
        live = await self._do(lambda link: link.client.reader.live(number))
        if live is None:
            return sdk.ReadResponse("")
        if not resource.is_same(live.host, text(live.fields.get("niceId")), state):
            return sdk.ReadResponse("")
        found = resource.live_outputs(live, {**given, **state})
        back = resource.live_inputs(found, given)
        return sdk.ReadResponse(request.resource_id, wrapped(found), wrapped(back))

    async def update(self, request: sdk.UpdateRequest) -> sdk.UpdateResponse:
        """Change a resource in place, from what Pangolin has now.

        Raises:
            PartialError: Perhaps some of it has changed, so the state must not say that none has.
        """
        if request.preview:
            return sdk.UpdateResponse(request.news)
        number, state = resource.parse_id(request.resource_id), plain(request.olds)
        properties = plain(request.news)
        try:
            await self._do(lambda link: _update(link.client, number, state, properties))
        except UnfinishedError as error:
            raise _partial(error, properties) from error
        return sdk.UpdateResponse(wrapped(resource.outputs(properties)))

    async def delete(self, request: sdk.DeleteRequest) -> None:
        """Unpublish a host, and look that it is gone; one that is gone is fine."""
        number, state = resource.parse_id(request.resource_id), plain(request.properties)
        await self._do(lambda link: _remove(link, number, state))

    async def cancel(self) -> None:
        """Finish the calls that have begun, and refuse those that wait."""
        self._is_cancelled = True
        await asyncio.to_thread(self._threads.shutdown)

    async def _do(self, work: Callable[["Link"], T]) -> T:
        link = self._link
        if link is None:
            raise PangolinError(NOT_CONFIGURED)

        def begin() -> T:
            if self._is_cancelled:
                raise PangolinError(INTERRUPTED)
            return work(link)

        if self._is_cancelled:
            raise PangolinError(INTERRUPTED)
        return await asyncio.get_running_loop().run_in_executor(self._threads, begin)


class Link:
    """The only client of the process, from the first call that needs it.

    A connection that failed is not tried again: each of many calls would wait as long.
    """

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._lock = Lock()
        self._client: Client | None = None
        self._removals: Removals | None = None
        self._failure: PangolinError | None = None

    @property
    def client(self) -> Client:
        """The client.

        Raises:
            PangolinError: The key is malformed, or the server is unreachable, no Pangolin or old.
        """
        with self._lock:
            if self._failure:
                raise self._failure
            if self._client is None:
                try:
                    self._client = self._connect()
                except PangolinError as error:
                    self._failure = error
                    raise
            return self._client

    @property
    def removals(self) -> Removals:
        """What removes resources for all calls together."""
        client = self.client
        with self._lock:
            self._removals = self._removals or Removals(client)
            return self._removals


def _partial(error: UnfinishedError, properties: Raw) -> PartialError:
    left = Partial(str(error.resource), wrapped(resource.unfinished(properties)))
    return PartialError(left, error)


def _update(client: Client, number: int, state: Raw, properties: Raw) -> None:
    wanted = inputs.decode(properties)
    live = client.reader.live(number, wanted)
    if live is None:
        raise GoneError(
            f"host {wanted.host}: its resource {number} was deleted in Pangolin: run pic again",
            kind=FailureClass.TEMPORARY,
        )
    _refuse_another(number, live.host, text(live.fields.get("niceId")), state)
    client.update(live, wanted)


def _remove(link: Link, number: int, state: Raw) -> None:
    row = link.client.catalogue.row(number)
    if row is not None:
        _refuse_another(number, row.host, row.nice_id, state)
        link.removals.remove(number)
        return
    # It may have come after the list.
    live = link.client.reader.live(number)
    if live is not None:
        _refuse_another(number, live.host, text(live.fields.get("niceId")), state)
        link.removals.remove(number)


def _refuse_another(number: int, host: str, nice_id: str, state: Raw) -> None:
    if not resource.is_same(host, nice_id, state):
        raise PangolinError(
            f"resource {number} of this Pangolin is not that of {text(state.get(resource.HOST))},"
            f" but of {host} ({nice_id}), so pic leaves it. Check pic:pangolinUrl and"
            " pic:pangolinOrg, or let pulumi refresh forget the resource",
            kind=FailureClass.INVALID,
        )
