"""Talks to a Pulumi provider as the engine does, over its protocol."""

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
import pytest
from google.protobuf import struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.provider.experimental.provider import Provider
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc, status_pb2

from pic.provider.serving import serve

Properties = Mapping[str, object]


class Calls:
    """The calls of the engine for one resource."""

    def __init__(self, port: int, urn: str) -> None:
        self.urn = urn
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        self.stub = provider_pb2_grpc.ResourceProviderStub(self.channel)

    async def configure(self, values: Properties) -> dict[str, Any]:
        return plain(await self.stub.Configure(proto.ConfigureRequest(args=struct(values))))

    async def check(self, values: Properties) -> dict[str, Any]:
        return plain(await self.stub.Check(proto.CheckRequest(urn=self.urn, news=struct(values))))

    async def diff(self, name: str, old: Properties, new: Properties) -> dict[str, Any]:
        request = proto.DiffRequest(urn=self.urn, id=name, olds=struct(old), news=struct(new))
        return plain(await self.stub.Diff(request))

    async def create(self, values: Properties, *, preview: bool = False) -> dict[str, Any]:
        request = proto.CreateRequest(urn=self.urn, properties=struct(values), preview=preview)
        return plain(await self.stub.Create(request))

    async def read(
        self, name: str, outputs: Properties | None = None, inputs: Properties | None = None
    ) -> dict[str, Any]:
        request = proto.ReadRequest(
            urn=self.urn, id=name, properties=struct(outputs or {}), inputs=struct(inputs or {})
        )
        return plain(await self.stub.Read(request))

    async def update(
        self, name: str, old: Properties, new: Properties, *, preview: bool = False
    ) -> dict[str, Any]:
        request = proto.UpdateRequest(
            urn=self.urn, id=name, olds=struct(old), news=struct(new), preview=preview
        )
        return plain(await self.stub.Update(request))

    async def delete(self, name: str, old: Properties) -> dict[str, Any]:
        request = proto.DeleteRequest(urn=self.urn, id=name, properties=struct(old))
        return plain(await self.stub.Delete(request))


def struct(values: Properties) -> struct_pb2.Struct:
    return ParseDict(dict(values), struct_pb2.Struct())


def plain(message: Any) -> dict[str, Any]:
    return MessageToDict(message)


def talk(
    provider: Provider, urn: str, act: Callable[[Calls], Awaitable[Any]], parent: int = 0
) -> Any:
    """Serve a provider while `act` runs, and end it as the engine does.

    Args:
        provider: The provider.
        urn: The resource that the calls concern.
        act: Makes the calls.
        parent: The pid of the engine; 0 is that of the parent of the tests.
    """

    async def run() -> Any:
        port = asyncio.get_running_loop().create_future()
        serving = asyncio.create_task(serve(provider, port.set_result, parent or os.getppid()))
        calls = Calls(await port, urn)
        try:
            return await act(calls)
        finally:
            await calls.channel.close()
            if not parent:
                os.kill(os.getpid(), signal.SIGINT)
            await serving

    return asyncio.run(run())


async def failure(call: Awaitable[object]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    return str(error.value.details())


async def partial_failure(call: Awaitable[object]) -> tuple[str, dict[str, Any]]:
    """Return the message, and what the engine stores of a resource that is not finished."""
    with pytest.raises(grpc.aio.AioRpcError) as error:
        await call
    details = dict(error.value.trailing_metadata() or ())["grpc-status-details-bin"]
    status = status_pb2.Status.FromString(bytes(details))
    left = proto.ErrorResourceInitFailed()
    assert status.details[0].Unpack(left)
    return str(error.value.details()), plain(left)
