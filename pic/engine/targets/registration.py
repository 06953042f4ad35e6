"""Registers many resources with the engine, each in one call of its protocol.

The SDK's resource classes take four milliseconds of processor time for each resource, most of it
for outputs that nobody reads, and wait for all of them in a loop that is quadratic in their number.
"""

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any

import grpc
import pulumi
from pulumi.runtime import get_root_resource
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.resource import _create_provider_ref, _prepare_resource_hooks
from pulumi.runtime.settings import get_monitor, handle_grpc_error

from pic.engine.hooks import Bindings

Request = resource_pb2.RegisterResourceRequest

# Each waits in a thread until the engine is done with it; more do not make the engine any faster.
OUTSTANDING = 64


@dataclass(frozen=True, slots=True)
class Declaration:
    """One resource as it is declared.

    Attributes:
        name: The Pulumi name.
        inputs: Plain values, without None and without empty maps and lists.
        import_id: The id of the object that it is already, empty where there is none.
        adopting: That object was made by the Go controller.
    """

    name: str
    inputs: Mapping[str, Any]
    import_id: str = ""
    adopting: bool = False


@dataclass(frozen=True, slots=True)
class Kind:
    """What all resources of a kind share.

    Attributes:
        token: The type token.
        version: That of the provider's plugin; empty where the project says which it is.
        delete_timeout: As Pulumi writes durations, such as `2m`.
    """

    token: str
    version: str
    provider: pulumi.ProviderResource
    hooks: Bindings
    delete_timeout: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything of one target."""

    kind: Kind
    declarations: Sequence[Declaration]


async def register_all(batches: Sequence[Batch]) -> frozenset[str]:
    """Register what all targets have, at the same time, so that none waits for another.

    Returns:
        The names of the resources that the engine could not bring about.

    Raises:
        Exception: The engine refuses a registration, or is going away.
    """
    calls = (register(each.kind, each.declarations) for each in batches)
    failed: set[str] = set()
    for each in await asyncio.gather(*calls, return_exceptions=True):
        if isinstance(each, BaseException):
            raise each
        failed |= each
    return frozenset(failed)


async def register(kind: Kind, declarations: Sequence[Declaration]) -> frozenset[str]:
    """Register resources, replaced by deleting first, and wait until the engine has done them all.

    Returns:
        The names of those that it could not bring about.

    Raises:
        Exception: The engine refuses a registration, or is going away.
    """
    calls = {
        adopting: partial(_call, get_monitor(), await _shared(kind, hooks))
        for adopting, hooks in ((False, kind.hooks.usual), (True, kind.hooks.adopting))
    }
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(OUTSTANDING)
    try:
        done = await asyncio.gather(
            *(
                # The SDK keeps what it knows of the run in the context of the calling task.
                loop.run_in_executor(threads, copy_context().run, calls[each.adopting], each)
                for each in declarations
            )
        )
    finally:
        # Waiting here would keep the loop from answering the hooks that a registration waits for.
        threads.shutdown(wait=False, cancel_futures=True)
    return frozenset(each.name for each, well in zip(declarations, done, strict=True) if not well)


async def _shared(kind: Kind, hooks: pulumi.ResourceHookBinding) -> Request:
    root = get_root_resource()
    return Request(
        type=kind.token,
        version=kind.version,
        parent=(await root.urn.future() or "") if root else "",
        provider=await _create_provider_ref(kind.provider),
        hooks=await _prepare_resource_hooks(hooks, kind.token),
        custom=True,
        customTimeouts=Request.CustomTimeouts(delete=kind.delete_timeout),
        # Two objects for one thing, even for a moment, make their operator fight itself.
        deleteBeforeReplace=True,
        deleteBeforeReplaceDefined=True,
        acceptSecrets=True,
        acceptResources=True,
        supportsPartialValues=True,
        supportsResultReporting=True,
    )


def _call(monitor: Any, shared: Request, declared: Declaration) -> bool:
    """Register a resource, and say whether that went well; why not, the engine tells the user."""
    request = Request()
    request.CopyFrom(shared)
    request.name, request.importId = declared.name, declared.import_id
    request.object.update(declared.inputs)
    try:
        answer = monitor.RegisterResource(request)
    except grpc.RpcError as error:
        handle_grpc_error(error)
    return bool(answer.result == resource_pb2.SUCCESS)
