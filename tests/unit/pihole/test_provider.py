"""The answers of the provider, over the protocol of the engine."""

import os
import runpy
import signal
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest
from google.protobuf import empty_pb2
from pulumi.runtime.proto import provider_pb2 as proto

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import RECORD_TYPE, LiveRecord
from pic.pihole import plugin
from pic.pihole.provider import Pihole
from pic.settings.parse import Settings, TakeOver
from tests.support.pihole import MemoryPihole
from tests.support.provider import Calls, failure, talk
from tests.support.waiting import until

CONFIGURATION = {"url": "http://pi.hole", "clusterId": "c1", "takeOver": "true"}
URN = f"urn:pulumi:prod::pic::{RECORD_TYPE}::app.lan/A"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
A = {"host": "app.lan", "ip": "10.0.0.1"}


class Provider:
    """Calls the provider, with the settings of the sessions that the provider opened."""

    def __init__(self, pihole: MemoryPihole, calls: Calls, configured: list[object]) -> None:
        self.pihole = pihole
        self.configured = configured
        self.calls, self.stub = calls, calls.stub

    async def configure(self, **values: str) -> dict[str, Any]:
        return await self.calls.configure({**CONFIGURATION, **values})

    async def check(self, **values: object) -> dict[str, Any]:
        return await self.calls.check(values)

    async def diff(self, old: Mapping[str, str], new: Mapping[str, str]) -> dict[str, Any]:
        return await self.calls.diff("app.lan/A", old, new)

    async def create(self, values: Mapping[str, str], *, preview: bool = False) -> dict[str, Any]:
        return await self.calls.create(values, preview=preview)

    async def read(self, identifier: str, **values: str) -> dict[str, Any]:
        return await self.calls.read(identifier, values)

    async def update(
        self, values: Mapping[str, str], old: Mapping[str, str] = A, *, preview: bool = False
    ) -> dict[str, Any]:
        return await self.calls.update("app.lan/A", old, values, preview=preview)

    async def delete(self, identifier: str, old: Mapping[str, str] = A) -> dict[str, Any]:
        return await self.calls.delete(identifier, old)


Act = Callable[[Provider], Awaitable[Any]]


def with_provider(act: Act, pihole: MemoryPihole | None = None, parent: int = 0) -> Any:
    """Serve the provider while `act` runs, and end it as the engine does."""
    pihole, configured = pihole or MemoryPihole(), list[object]()

    def open_session(settings: Settings, cluster_id: str, owned: frozenset[str]) -> Any:
        configured.append((settings, cluster_id))
        return pihole.open(owned)

    def acting(calls: Calls) -> Awaitable[Any]:
        return act(Provider(pihole, calls, configured))

    return talk(Pihole(open_session), URN, acting, parent)


def test_a_record_is_created_read_updated_and_deleted() -> None:
    pihole, moved = MemoryPihole(), {"host": "app.lan", "ip": "10.0.0.2"}

    async def act(provider: Provider) -> list[object]:
        await provider.configure()
        return [
            await provider.create(A),
            await provider.read("app.lan/A", **A),
            await provider.update(moved),
            await provider.read("app.lan/A"),
            await provider.delete("app.lan/A"),
            await provider.delete("app.lan/A"),
            await provider.read("app.lan/A"),
            provider.configured,
        ]

    assert with_provider(act, pihole) == [
        {"id": "app.lan/A", "properties": A},
        {"id": "app.lan/A", "properties": A, "inputs": A},
        {"properties": moved},
        {"id": "app.lan/A", "properties": moved, "inputs": moved},
        {},
        {},
        {"properties": {}, "inputs": {}},
        [(Settings(pihole_url="http://pi.hole", pihole_take_over=TakeOver.ALL), "c1")],
    ]
    assert (pihole.log[0], pihole.log[-1]) == (("open",), "close")


def test_a_preview_sends_pihole_no_request() -> None:
    async def act(provider: Provider) -> list[object]:
        return [
            await provider.configure(),
            await provider.create(A, preview=True),
            await provider.update(A, preview=True),
        ]

    pihole = MemoryPihole()

    assert with_provider(act, pihole) == [
        {"acceptSecrets": True, "supportsPreview": True},
        {"properties": A},
        {"properties": A},
    ]
    assert pihole.log == []


def test_inputs_are_normalised_and_every_problem_is_reported() -> None:
    async def act(provider: Provider) -> list[object]:
        return [
            await provider.check(host="App.LAN.", ip="FE80:0::1"),
            await provider.check(host=UNKNOWN, ip="10.0.0.1"),
            await provider.check(host="*.lan", ip="10.0.0.999", ttl=5),
            await provider.check(ip=7),
            await provider.check(host="a.lan", ip="fe80::1%eth0"),
        ]

    assert with_provider(act) == [
        {"inputs": {"host": "app.lan", "ip": "fe80::1"}},
        {"inputs": {"host": UNKNOWN, "ip": "10.0.0.1"}},
        {
            "inputs": {},
            "failures": [
                {
                    "property": "host",
                    "reason": "'*.lan' cannot be a host name: wildcards are not supported",
                },
                {"property": "ip", "reason": "'10.0.0.999' is not an IPv4 or IPv6 address"},
                {"property": "ttl", "reason": "is not a property of a record"},
            ],
        },
        {
            "inputs": {},
            "failures": [
                {"property": "host", "reason": "is missing"},
                {"property": "ip", "reason": "must be text"},
            ],
        },
        {
            "inputs": {"host": "a.lan"},
            "failures": [
                {
                    "property": "ip",
                    "reason": "'fe80::1%eth0' has a zone, which has no meaning on another host",
                }
            ],
        },
    ]


def test_a_new_address_is_an_update_and_a_new_name_or_family_is_a_replacement() -> None:
    async def act(provider: Provider) -> list[object]:
        return [
            await provider.diff(A, A),
            await provider.diff(A, {**A, "ip": "10.0.0.2"}),
            await provider.diff(A, {"host": "b.lan", "ip": "fe80::1"}),
        ]

    unchanged = {"changes": "DIFF_NONE", "stables": ["host"], "hasDetailedDiff": True}
    assert with_provider(act) == [
        unchanged,
        {
            **unchanged,
            "changes": "DIFF_SOME",
            "diffs": ["ip"],
            "detailedDiff": {"ip": {"kind": "UPDATE", "inputDiff": True}},
        },
        {
            **unchanged,
            "changes": "DIFF_SOME",
            "replaces": ["host", "ip"],
            "diffs": ["host", "ip"],
            "detailedDiff": {
                "host": {"kind": "UPDATE_REPLACE", "inputDiff": True},
                "ip": {"kind": "UPDATE_REPLACE", "inputDiff": True},
            },
        },
    ]


def test_an_import_finds_only_our_records() -> None:
    live = [LiveRecord("app.lan", "10.0.0.1"), LiveRecord("app.lan", "fe80::1", ours=True)]

    async def act(provider: Provider) -> list[object]:
        await provider.configure()
        return [await provider.read("app.lan/A"), await provider.read("app.lan/AAAA")]

    record = {"host": "app.lan", "ip": "fe80::1"}
    assert with_provider(act, MemoryPihole(live)) == [
        {"properties": {}, "inputs": {}},
        {"id": "app.lan/AAAA", "properties": record, "inputs": record},
    ]


MARKER = {"marker": "k8s:c1.01234567"}


def test_24_the_state_says_which_records_have_the_marker_of_the_stack() -> None:
    pihole, old, new = MemoryPihole(), {**A, "ip": "10.0.0.2"}, {**A, **MARKER}

    async def act(provider: Provider) -> list[object]:
        await provider.configure(stackId="0123456789abcdef")
        return [
            await provider.create(A),
            await provider.update(A, old),
            await provider.update(A, new),
            await provider.delete("app.lan/A", old),
            await provider.delete("app.lan/A", new),
        ]

    done = {"properties": new}
    assert with_provider(act, pihole) == [{"id": "app.lan/A", **done}, done, done, {}, {}]
    assert [edit.legacy for edit in pihole.edits] == [False, True, False, True, False]


def test_24_a_read_finds_a_record_of_an_earlier_version_unless_the_state_has_another() -> None:
    live = [LiveRecord("app.lan", "10.0.0.1", ours=True, legacy=True)]

    async def act(provider: Provider) -> list[object]:
        await provider.configure(stackId="0123456789abcdef")
        unmarked = [await provider.read("app.lan/A"), await provider.read("app.lan/A", **A)]
        marked = [await provider.read("app.lan/A", **A, **MARKER)]
        provider.pihole.records = [LiveRecord("app.lan", "10.0.0.1", ours=True)]
        return [*unmarked, *marked, await provider.read("app.lan/A")]

    found = {"id": "app.lan/A", "properties": A, "inputs": A}
    assert with_provider(act, MemoryPihole(live)) == [
        found,
        found,
        {"properties": {}, "inputs": {}},
        {**found, "properties": {**A, **MARKER}},
    ]


def test_24_an_interface_without_markers_has_none_in_the_state() -> None:
    async def act(provider: Provider) -> object:
        await provider.configure(api="dns-local", stackId="0123456789abcdef")
        return await provider.create(A)

    assert with_provider(act) == {"id": "app.lan/A", "properties": A}


def test_a_read_returns_the_second_address_of_an_interrupted_update() -> None:
    live = [LiveRecord("app.lan", ip, ours=True) for ip in ("10.0.0.1", "10.0.0.2")]

    async def act(provider: Provider) -> list[object]:
        await provider.configure()
        answers = [
            await provider.read("app.lan/A", host="app.lan", ip=record.ip) for record in live
        ]
        return [answer["properties"]["ip"] for answer in answers]

    assert with_provider(act, MemoryPihole(live)) == ["10.0.0.2", "10.0.0.1"]


def test_without_markers_the_records_that_the_engine_manages_are_ours() -> None:
    pihole = MemoryPihole()

    async def act(provider: Provider) -> None:
        await provider.configure(api="dns-local")
        await provider.create(A)
        await provider.read("b.lan/A")
        await provider.update(A)

    with_provider(act, pihole)

    assert [entry for entry in pihole.log if isinstance(entry, tuple) and entry[0] == "open"] == [
        *(("open",), ("open", "b.lan"), ("open", "app.lan", "b.lan"))
    ]


def test_an_expected_error_is_one_message_with_its_class() -> None:
    async def act(provider: Provider) -> list[str]:
        early = await failure(provider.create(A))
        wrong = await failure(provider.configure(api="v5"))
        await provider.configure()
        bad_id = await failure(provider.delete("app.lan"))
        provider.pihole.fails.append(
            PiholeError("too many", kind=FailureClass.RATE_LIMITED, retry_after=60)
        )
        return [early, wrong, bad_id, await failure(provider.create(A))]

    assert with_provider(act) == [
        "the engine has not configured the provider [temporary]",
        "pic:piholeApi is 'v5'; allowed: v6 or dns-local [invalid]",
        "'app.lan' is not the id of a record: write HOST/A or HOST/AAAA [invalid]",
        "too many [rateLimited, retry after 60 s]",
    ]


def test_an_unexpected_error_has_a_traceback() -> None:
    class Broken(MemoryPihole):
        def read(self) -> tuple[LiveRecord, ...]:
            raise ZeroDivisionError("by zero")

    async def act(provider: Provider) -> str:
        await provider.configure()
        return await failure(provider.read("app.lan/A"))

    assert "by zero:\n  File" in with_provider(act, Broken())


def test_a_cancel_ends_the_session_and_the_work() -> None:
    pihole = MemoryPihole()

    async def act(provider: Provider) -> list[object]:
        await provider.stub.Cancel(empty_pb2.Empty())
        await provider.configure()
        await provider.create(A)
        await provider.stub.Cancel(empty_pb2.Empty())
        return [list(pihole.log), await failure(provider.create(A))]

    assert with_provider(act, pihole) == [
        [("open",), ("apply", ("app.lan", "10.0.0.1")), "close"],
        "the run ended before this was done: run pic again to finish [temporary]",
    ]


def test_an_orphan_ends() -> None:
    async def wait_for_the_end(_: Provider) -> None:
        """Send no request and no signal."""

    with_provider(wait_for_the_end, parent=1)


def test_the_provider_returns_its_schema_and_version() -> None:
    async def act(provider: Provider) -> list[object]:
        schema = await provider.stub.GetSchema(proto.GetSchemaRequest())
        info = await provider.stub.GetPluginInfo(empty_pb2.Empty())
        return [schema.schema[:18], info.version != ""]

    assert with_provider(act) == ['{"name": "pihole",', True]


def test_the_password_is_read_when_a_session_opens() -> None:
    settings = Settings(pihole_url="http://127.0.0.1:9")

    with pytest.raises(PiholeError, match="PIHOLE_PASSWORD is not set"):
        plugin.session_opener({})(settings, "c1", frozenset())


def test_the_plugin_prints_its_port_and_ends_at_a_signal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def end() -> None:
        until(lambda: signal.getsignal(signal.SIGHUP) is not signal.SIG_DFL, "the plugin serves")
        os.kill(os.getpid(), signal.SIGHUP)

    ending = threading.Thread(target=end)
    ending.start()
    runpy.run_path(plugin.__file__, run_name="__main__")
    ending.join()

    assert int(capfd.readouterr().out) > 0
