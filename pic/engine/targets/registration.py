"""Registers many resources with the engine, each with one call of the engine's protocol.

The SDK's resource classes are too slow for thousands of resources. They take four milliseconds of
processor time each, most of it for outputs that pic does not read. They also wait for all resources
in a loop whose time is quadratic in their number.
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
from pic.run.targets.interface import Declaration, Declarations

Request = resource_pb2.RegisterResourceRequest


@dataclass(frozen=True, slots=True)
class Batch:
    """The declarations of one target, with the provider and the hooks of its resources.

    Attributes:
        hooks: The hooks with Events, by True, and those without, by False.
        silent: The resources whose changes are no Events, by name.
    """

    declarations: Declarations
    provider: pulumi.ProviderResource
    hooks: Mapping[bool, Bindings]
    silent: frozenset[str] = frozenset()

    def binding(self, declaration: Declaration) -> pulumi.ResourceHookBinding:
        """Return the hooks of a resource. Resources with the same hooks have the same object."""
        bindings = self.hooks[declaration.name not in self.silent]
        return bindings.adopting if declaration.adopting else bindings.usual


async def register_in_order(phases: Sequence[Sequence[Batch]]) -> frozenset[str]:
    """Register the resources of each phase after those of the phase before.

    What fails in one phase does not stop the next.

    Returns:
        The names of the resources that failed.

    Raises:
        Exception: The engine refuses a registration or ends.
    """
    failed: frozenset[str] = frozenset()
    for batches in phases:
        failed |= await register_all(batches)
    return failed


async def register_all(batches: Sequence[Batch]) -> frozenset[str]:
    """Register the resources of all targets at the same time, so that no target waits for another.

    Returns:
        The names of the resources that failed.

    Raises:
        Exception: The engine refuses a registration or ends.
    """
    failed: set[str] = set()
    for result in await asyncio.gather(*map(register, batches), return_exceptions=True):
        if isinstance(result, BaseException):
            raise result
        failed |= result
    return frozenset(failed)


async def register(batch: Batch) -> frozenset[str]:
    """Register the resources of one target, and wait until the engine has finished all of them.

    Returns:
        The names of the resources that failed.

    Raises:
        Exception: The engine refuses a registration or ends.
    """
    declarations = batch.declarations.resources
    bindings = {id(hooks): hooks for hooks in map(batch.binding, declarations)}
    calls = {
        key: partial(_call, get_monitor(), await _shared_request(batch, hooks))
        for key, hooks in bindings.items()
    }
    # Each call waits in a thread for the engine.
    loop, threads = (
        asyncio.get_running_loop(),
        ThreadPoolExecutor(batch.declarations.at_once),
    )
    try:
        successes = await asyncio.gather(
            *(
                # The SDK keeps the state of the run in the context of the calling task.
                loop.run_in_executor(
                    threads, copy_context().run, calls[id(batch.binding(declaration))], declaration
                )
                for declaration in declarations
            )
        )
    finally:
        # Waiting here would keep the loop from answering the hooks that a registration waits for.
        threads.shutdown(wait=False, cancel_futures=True)
    results = zip(declarations, successes, strict=True)
    return frozenset(declaration.name for declaration, succeeded in results if not succeeded)


async def _shared_request(batch: Batch, hooks: pulumi.ResourceHookBinding) -> Request:
    """Return the part of a request that is the same for all resources of a target."""
    root, declarations = get_root_resource(), batch.declarations
    return Request(
        type=declarations.token,
        version=declarations.version,
        parent=(await root.urn.future() or "") if root else "",
        provider=await _create_provider_ref(batch.provider),
        hooks=await _prepare_resource_hooks(hooks, declarations.token),
        custom=True,
        customTimeouts=Request.CustomTimeouts(delete=declarations.delete_timeout),
        # Two objects for one host, even for a moment, make their operator switch back and forth.
        deleteBeforeReplace=True,
        deleteBeforeReplaceDefined=True,
        acceptSecrets=True,
        acceptResources=True,
        supportsPartialValues=True,
        supportsResultReporting=True,
    )


def _call(monitor: Any, shared: Request, declaration: Declaration) -> bool:
    """Register a resource, and return whether it succeeded. The engine reports the reason."""
    request = Request()
    request.CopyFrom(shared)
    request.name, request.importId = declaration.name, declaration.import_id
    request.object.update(declaration.inputs)
    try:
        answer = monitor.RegisterResource(request)
    except grpc.RpcError as error:
        handle_grpc_error(error)
    return bool(answer.result == resource_pb2.SUCCESS)
