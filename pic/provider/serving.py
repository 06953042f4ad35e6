"""Serves a provider to the engine, which starts this process.

The engine runs the script of the package in `plugins`, such as `plugins/pihole`, and that runs the
module `plugin` of the provider. The process prints the port on which it listens, and the engine
then calls it with gRPC until the deployment ends.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import grpc
from pulumi.provider.experimental.provider import Provider
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from pic.core.errors import PicError, with_class
from pic.provider import partial
from pic.provider.partial import PartialError

DISTRIBUTION = "pangolin-ingress-controller"
# A killed engine does not end its plugins. So this process checks this often whether its parent is
# still the engine.
ORPHAN_SECONDS = 1.0


class Servicer(ProviderServicer):
    """Returns an expected error as its message; the SDK would append a traceback."""

    async def Configure(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Configure, request, context)

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Check, request, context)

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Create, request, context)

    async def Read(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Read, request, context)

    async def Update(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Update, request, context)

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _with_plain_error(super().Delete, request, context)


async def _with_plain_error(
    method: Callable[[Any, Any], Awaitable[Any]], request: Any, context: Any
) -> Any:
    try:
        return await method(request, context)
    except Exception as error:
        # The SDK raises its own error while it handles ours, so ours is the context.
        cause = error.__context__
        if not isinstance(cause, PicError):
            raise
        trailing: tuple[tuple[str, bytes], ...] = ()
        if isinstance(cause, PartialError):
            trailing, cause = partial.metadata(cause), cause.reason
        await context.abort(grpc.StatusCode.UNKNOWN, with_class(cause), trailing)


async def serve(provider: Provider, announce: Callable[[int], None], parent: int) -> None:
    """Serve until a signal arrives or the engine ends, then cancel the provider.

    Args:
        provider: The provider to serve.
        announce: Receives the port.
        parent: The pid of the engine.
    """
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    # The options of the SDK allow large messages, and requests that wait for longer than 30 s.
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    servicer = Servicer([], installed_version(), provider, "")
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    # The engine speaks plain gRPC with its plugins, so only this machine may connect.
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    announce(port)
    stop = asyncio.ensure_future(stopped.wait())
    while not stop.done() and os.getppid() == parent:
        await asyncio.wait([stop], timeout=ORPHAN_SECONDS)
    stop.cancel()
    # First the provider: the calls that it finishes still get their answers from the server.
    await provider.cancel()
    await server.stop(None)


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of the provider, which equals the version of pic."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "0.0.0"


def run(provider: Provider) -> None:
    """Serve as a plugin: the engine reads the port from the first line of stdout."""

    def announce(port: int) -> None:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()

    asyncio.run(serve(provider, announce, os.getppid()))
