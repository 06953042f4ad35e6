"""Registers many resources with the engine, each in one call of its protocol.

The SDK's resource classes take four milliseconds of processor time for each resource, most of it
for outputs that nobody reads, and wait for all of them in a loop that is quadratic in their number.
"""

import asyncio
from collections.abc import Sequence
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
from pic.run.targets.interface import Declaration, Declarations

Request = resource_pb2.RegisterResourceRequest

# Each waits in a thread until the engine is done with it; more do not make the engine any faster.
OUTSTANDING = 64


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything that one target declares, with what the engine needs to register it."""

    declarations: Declarations
    provider: pulumi.ProviderResource
    hooks: Bindings


async def register_all(batches: Sequence[Batch]) -> frozenset[str]:
    """Register what all targets have, at the same time, so that none waits for another.

    Returns:
        The names of the resources that the engine could not bring about.

    Raises:
        Exception: The engine refuses a registration, or is going away.
    """
    failed: set[str] = set()
    for result in await asyncio.gather(*map(register, batches), return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        failed |= result
    return frozenset(failed)


async def register(batch: Batch) -> frozenset[str]:
    """Register resources, replaced by deleting first, and wait until the engine has done them all.

    Returns:
        The names of those that it could not bring about.

    Raises:
        Exception: The engine refuses a registration, or is going away.
    """
    declarations = batch.declarations.resources
    calls = {
        adopting: partial(_call, get_monitor(), await _shared(batch, hooks))
        for adopting, hooks in ((False, batch.hooks.usual), (True, batch.hooks.adopting))
    }
    loop, threads = asyncio.get_running_loop(), ThreadPoolExecutor(OUTSTANDING)
    try:
        done = await asyncio.gather(
            *(
                # The SDK keeps what it knows of the run in the context of the calling task.
                loop.run_in_executor(
                    threads, copy_context().run, calls[declaration.adopting], declaration
                )
                for declaration in declarations
            )
        )
    finally:
        # Waiting here would keep the loop from answering the hooks that a registration waits for.
        threads.shutdown(wait=False, cancel_futures=True)
    results = zip(declarations, done, strict=True)
    return frozenset(declaration.name for declaration, succeeded in results if not succeeded)


async def _shared(batch: Batch, hooks: pulumi.ResourceHookBinding) -> Request:
    root, shared = get_root_resource(), batch.declarations
    return Request(
        type=shared.token,
        version=shared.version,
        parent=(await root.urn.future() or "") if root else "",
        provider=await _create_provider_ref(batch.provider),
        hooks=await _prepare_resource_hooks(hooks, shared.token),
        custom=True,
        customTimeouts=Request.CustomTimeouts(delete=shared.delete_timeout),
        # Two objects for one thing, even for a moment, make their operator fight itself.
        deleteBeforeReplace=True,
        deleteBeforeReplaceDefined=True,
        acceptSecrets=True,
        acceptResources=True,
        supportsPartialValues=True,
        supportsResultReporting=True,
    )


def _call(monitor: Any, shared: Request, declaration: Declaration) -> bool:
    """Register a resource, and say whether that went well; why not, the engine tells the user."""
    request = Request()
    request.CopyFrom(shared)
    request.name, request.importId = declaration.name, declaration.import_id
    request.object.update(declaration.inputs)
    try:
        answer = monitor.RegisterResource(request)
    except grpc.RpcError as error:
        handle_grpc_error(error)
    return bool(answer.result == resource_pb2.SUCCESS)
