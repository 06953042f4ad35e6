"""Serves the provider to the engine, as the process that the engine starts.

python -m pic.pihole.plugin ENGINE_ADDRESS
"""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import grpc
from pulumi.provider.experimental.server import ProviderServicer
from pulumi.runtime._grpc_settings import _GRPC_CHANNEL_OPTIONS
from pulumi.runtime.proto import provider_pb2_grpc

from pic.core.errors import PicError, with_class
from pic.pihole.batching import Owned
from pic.pihole.protocol import Hosts
from pic.pihole.provider import Connect, Pihole
from pic.settings.parse import Settings

DISTRIBUTION = "pangolin-ingress-controller"
# An engine that is killed asks nobody to end.
ORPHAN_SECONDS = 1.0


class Servicer(ProviderServicer):
    """Tells an expected error as it is; the SDK would put a traceback behind it."""

    async def Configure(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Configure, request, context)

    async def Check(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Check, request, context)

    async def Create(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Create, request, context)

    async def Read(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Read, request, context)

    async def Update(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Update, request, context)

    async def Delete(self, request: Any, context: Any) -> Any:  # noqa: D102, N802
        return await _told(super().Delete, request, context)


async def _told(method: Callable[[Any, Any], Awaitable[Any]], request: Any, context: Any) -> Any:
    try:
        return await method(request, context)
    except Exception as error:
        cause = error.__context__
        if not isinstance(cause, PicError):
            raise
        await context.abort(grpc.StatusCode.UNKNOWN, with_class(cause))


async def serve(provider: Pihole, tell: Callable[[int], None], parent: int) -> None:
    """Serve until a signal comes or the engine is gone, and give the session back.

    Args:
        provider: What is served.
        tell: Told the port.
        parent: The pid of the engine.
    """
    stopped, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, stopped.set)
    server = grpc.aio.server(options=_GRPC_CHANNEL_OPTIONS)
    servicer = Servicer([], installed_version(), provider, "")
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    tell(port)
    stop = asyncio.ensure_future(stopped.wait())
    while not stop.done() and os.getppid() == parent:
        await asyncio.wait([stop], timeout=ORPHAN_SECONDS)
    stop.cancel()
    await provider.cancel()
    await server.stop(None)


def installed_version(distribution: str = DISTRIBUTION) -> str:
    """Return the version of the provider, which is that of pic."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "0.0.0"


def connect(environment: Mapping[str, str]) -> Connect:
    """Return what opens a session with the password of the environment."""

    def opened(settings: Settings, cluster_id: str, owned: Owned) -> AbstractContextManager[Hosts]:
        # Only a run that has records to deal with needs the client.
        from pic.pihole import connect as door  # noqa: PLC0415

        return door.session(settings, cluster_id, environment, owned)

    return opened


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Serve, as the engine's protocol for plugins wants it: the port on the first line."""
    del arguments

    def tell(port: int) -> None:
        sys.stdout.write(f"{port}\n")
        sys.stdout.flush()

    asyncio.run(serve(Pihole(connect(environment)), tell, os.getppid()))


if __name__ == "__main__":
    main(sys.argv[1:], os.environ)
