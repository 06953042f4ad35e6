"""What the provider answers the engine, over the protocol that the engine speaks."""

import asyncio
import os
import runpy
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import grpc
import pytest
from google.protobuf import empty_pb2, struct_pb2
from google.protobuf.json_format import MessageToDict, ParseDict
from pulumi.runtime.proto import provider_pb2 as proto
from pulumi.runtime.proto import provider_pb2_grpc

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import RECORD_TYPE, LiveRecord
from pic.pihole import plugin
from pic.pihole.plugin import serve
from pic.pihole.provider import Pihole
from pic.settings.parse import Settings
from tests.support.pihole import Memory
from tests.support.waiting import until

CONFIGURATION = {"url": "http://pi.hole", "clusterId": "c1", "takeOver": "true"}
URN = f"urn:pulumi:prod::pic::{RECORD_TYPE}::app.lan/A"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
A = {"host": "app.lan", "ip": "10.0.0.1"}


class Provider:
    """The provider as a client sees it, and the sessions that it has opened."""

    def __init__(self, pihole: Memory, port: int, configured: list[object]) -> None:
        self.pihole = pihole
        self.configured = configured
        channel = grpc.aio.insecure_channel(f"127.0.0.1:{port}")
        self.channel, self.stub = channel, provider_pb2_grpc.ResourceProviderStub(channel)

    async def configure(self, **values: str) -> dict[str, Any]:
        request = proto.ConfigureRequest(args=struct({**CONFIGURATION, **values}))
        return plain(await self.stub.Configure(request))

    async def check(self, **values: object) -> dict[str, Any]:
        return plain(await self.stub.Check(proto.CheckRequest(urn=URN, news=struct(values))))

    async def diff(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, Any]:
        request = proto.DiffRequest(urn=URN, id="app.lan/A", olds=struct(old), news=struct(new))
        return plain(await self.stub.Diff(request))

    async def create(self, values: Mapping[str, str], *, preview: bool = False) -> dict[str, Any]:
        request = proto.CreateRequest(urn=URN, properties=struct(values), preview=preview)
        return plain(await self.stub.Create(request))

    async def read(self, identifier: str, **values: str) -> dict[str, Any]:
        request = proto.ReadRequest(urn=URN, id=identifier, properties=struct(values))
        return plain(await self.stub.Read(request))

    async def update(self, values: Mapping[str, str], *, preview: bool = False) -> dict[str, Any]:
        request = proto.UpdateRequest(
            urn=URN, id="app.lan/A", olds=struct(A), news=struct(values), preview=preview
        )
        return plain(await self.stub.Update(request))

    async def delete(self, identifier: str) -> dict[str, Any]:
        return plain(await self.stub.Delete(proto.DeleteRequest(urn=URN, id=identifier)))


def struct(values: Mapping[str, object]) -> struct_pb2.Struct:
    return ParseDict(dict(values), struct_pb2.Struct())


def plain(message: Any) -> dict[str, Any]:
    return MessageToDict(message)


Act = Callable[[Provider], Awaitable[Any]]


def served(act: Act, pihole: Memory | None = None, parent: int = 0) -> Any:
    """Serve the provider while something is done with it, and end it as the engine does."""
    memory, configured = pihole or Memory(), list[object]()

    def connect(settings: Settings, cluster_id: str, owned: frozenset[str]) -> Any:
        configured.append((settings, cluster_id))
        return memory.open(owned)

    async def run() -> Any:
        port = asyncio.get_running_loop().create_future()
        served = asyncio.create_task(
            serve(Pihole(connect), port.set_result, parent or os.getppid())
        )
        provider = Provider(memory, await port, configured)
        try:
            return await act(provider)
        finally:
            await provider.channel.close()
            if not parent:
                os.kill(os.getpid(), signal.SIGINT)
            await served

    return asyncio.run(run())


async def failure(asked: Awaitable[object]) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await asked
    return str(caught.value.details())


def test_a_record_is_made_read_changed_and_taken_away() -> None:
    pihole, moved = Memory(), {"host": "app.lan", "ip": "10.0.0.2"}

    async def act(it: Provider) -> list[object]:
        await it.configure()
        return [
            await it.create(A),
            await it.read("app.lan/A", **A),
            await it.update(moved),
            await it.read("app.lan/A"),
            await it.delete("app.lan/A"),
            await it.delete("app.lan/A"),
            await it.read("app.lan/A"),
            it.configured,
        ]

    assert served(act, pihole) == [
        {"id": "app.lan/A", "properties": A},
        {"id": "app.lan/A", "properties": A, "inputs": A},
        {"properties": moved},
        {"id": "app.lan/A", "properties": moved, "inputs": moved},
        {},
        {},
        {"properties": {}, "inputs": {}},
        [(Settings(pihole_url="http://pi.hole", pihole_take_over=True), "c1")],
    ]
    assert (pihole.log[0], pihole.log[-1]) == (("open",), "close")


def test_a_preview_asks_pihole_for_nothing() -> None:
    async def act(it: Provider) -> list[object]:
        return [
            await it.configure(),
            await it.create(A, preview=True),
            await it.update(A, preview=True),
        ]

    pihole = Memory()

    assert served(act, pihole) == [
        {"acceptSecrets": True, "supportsPreview": True},
        {"properties": A},
        {"properties": A},
    ]
    assert pihole.log == []


def test_inputs_are_written_in_one_spelling_and_everything_wrong_is_told() -> None:
    async def act(it: Provider) -> list[object]:
        return [
            await it.check(host="App.LAN.", ip="FE80:0::1"),
            await it.check(host=UNKNOWN, ip="10.0.0.1"),
            await it.check(host="*.lan", ip="10.0.0.999", ttl=5),
            await it.check(ip=7),
            await it.check(host="a.lan", ip="fe80::1%eth0"),
        ]

    assert served(act) == [
        {"inputs": {"host": "app.lan", "ip": "fe80::1"}},
        {"inputs": {"host": UNKNOWN, "ip": "10.0.0.1"}},
        {
            "inputs": {},
            "failures": [
                {
                    "property": "host",
                    "reason": "'*.lan' cannot be a name: a wildcard cannot be exposed",
                },
                {"property": "ip", "reason": "'10.0.0.999' is no IPv4 or IPv6 address"},
                {"property": "ttl", "reason": "is no property of a record"},
            ],
        },
        {
            "inputs": {},
            "failures": [
                {"property": "host", "reason": "is missing"},
                {"property": "ip", "reason": "needed is text"},
            ],
        },
        {
            "inputs": {"host": "a.lan"},
            "failures": [
                {
                    "property": "ip",
                    "reason": "'fe80::1%eth0' has a zone, which means nothing to another host",
                }
            ],
        },
    ]


def test_another_address_is_an_update_another_name_or_family_a_replacement() -> None:
    async def act(it: Provider) -> list[object]:
        return [
            await it.diff(A, A),
            await it.diff(A, {**A, "ip": "10.0.0.2"}),
            await it.diff(A, {"host": "b.lan", "ip": "fe80::1"}),
        ]

    same = {"changes": "DIFF_NONE", "stables": ["host"], "hasDetailedDiff": True}
    assert served(act) == [
        same,
        {
            **same,
            "changes": "DIFF_SOME",
            "diffs": ["ip"],
            "detailedDiff": {"ip": {"kind": "UPDATE", "inputDiff": True}},
        },
        {
            **same,
            "changes": "DIFF_SOME",
            "replaces": ["host", "ip"],
            "diffs": ["host", "ip"],
            "detailedDiff": {
                "host": {"kind": "UPDATE_REPLACE", "inputDiff": True},
                "ip": {"kind": "UPDATE_REPLACE", "inputDiff": True},
            },
        },
    ]


def test_an_import_finds_only_what_is_ours() -> None:
    live = [LiveRecord("app.lan", "10.0.0.1"), LiveRecord("app.lan", "fe80::1", ours=True)]

    async def act(it: Provider) -> list[object]:
        await it.configure()
        return [await it.read("app.lan/A"), await it.read("app.lan/AAAA")]

    found = {"host": "app.lan", "ip": "fe80::1"}
    assert served(act, Memory(live)) == [
        {"properties": {}, "inputs": {}},
        {"id": "app.lan/AAAA", "properties": found, "inputs": found},
    ]


def test_a_second_address_of_an_interrupted_change_is_told_so_that_it_goes() -> None:
    live = [LiveRecord("app.lan", ip, ours=True) for ip in ("10.0.0.1", "10.0.0.2")]

    async def act(it: Provider) -> list[object]:
        await it.configure()
        found = [await it.read("app.lan/A", host="app.lan", ip=each.ip) for each in live]
        return [each["properties"]["ip"] for each in found]

    assert served(act, Memory(live)) == ["10.0.0.2", "10.0.0.1"]


def test_without_room_for_markers_what_the_engine_remembers_is_ours() -> None:
    pihole = Memory()

    async def act(it: Provider) -> None:
        await it.configure(api="dns-local")
        await it.create(A)
        await it.read("b.lan/A")
        await it.update(A)

    served(act, pihole)

    assert [each for each in pihole.log if isinstance(each, tuple) and each[0] == "open"] == [
        *(("open",), ("open", "b.lan"), ("open", "app.lan", "b.lan"))
    ]


def test_an_expected_error_is_one_message_with_its_class() -> None:
    async def act(it: Provider) -> list[str]:
        early = await failure(it.create(A))
        wrong = await failure(it.configure(api="v5"))
        await it.configure()
        odd = await failure(it.delete("app.lan"))
        it.pihole.fails.append(
            PiholeError("too many", kind=FailureClass.RATE_LIMITED, retry_after=60)
        )
        return [early, wrong, odd, await failure(it.create(A))]

    assert served(act) == [
        "the provider is not configured: the engine has not said for what [temporary]",
        "pic:piholeApi is 'v5'; allowed: v6 or dns-local [invalid]",
        "'app.lan' is no id of a record: it is HOST/A or HOST/AAAA [invalid]",
        "too many [rateLimited, retry after 60 s]",
    ]


def test_an_unexpected_error_says_where_it_is_from() -> None:
    class Broken(Memory):
        def read(self) -> tuple[LiveRecord, ...]:
            raise ZeroDivisionError("by zero")

    async def act(it: Provider) -> str:
        await it.configure()
        return await failure(it.read("app.lan/A"))

    assert "by zero:\n  File" in served(act, Broken())


def test_a_cancel_gives_the_session_back_and_ends_the_work() -> None:
    pihole = Memory()

    async def act(it: Provider) -> list[object]:
        await it.stub.Cancel(empty_pb2.Empty())
        await it.configure()
        await it.create(A)
        await it.stub.Cancel(empty_pb2.Empty())
        return [list(pihole.log), await failure(it.create(A))]

    assert served(act, pihole) == [
        [("open",), ("apply", ("app.lan", "10.0.0.1")), "close"],
        "the run was ended before this was done: run again to finish [temporary]",
    ]


def test_an_orphan_ends() -> None:
    async def wait_for_the_end(_: Provider) -> None:
        """Ask for nothing, and send no signal."""

    served(wait_for_the_end, parent=1)


def test_what_the_resource_looks_like_is_told() -> None:
    async def act(it: Provider) -> list[object]:
        schema = await it.stub.GetSchema(proto.GetSchemaRequest())
        info = await it.stub.GetPluginInfo(empty_pb2.Empty())
        return [schema.schema[:18], info.version != ""]

    assert served(act) == ['{"name": "pihole",', True]


def test_the_password_is_looked_for_when_pihole_is_entered() -> None:
    settings = Settings(pihole_url="http://127.0.0.1:9")

    with pytest.raises(PiholeError, match="set PIHOLE_PASSWORD"):
        plugin.connect({})(settings, "c1", frozenset())


def test_a_checkout_without_the_distribution_has_a_version_too() -> None:
    assert plugin.installed_version("no-such-distribution") == "0.0.0"


def test_it_is_a_plugin_which_tells_its_port_and_ends_when_asked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def end() -> None:
        until(lambda: signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL, "it is served")
        os.kill(os.getpid(), signal.SIGHUP)

    ending = threading.Thread(target=end)
    ending.start()
    runpy.run_path(plugin.__file__, run_name="__main__")
    ending.join()

    assert int(capfd.readouterr().out) > 0
