"""The answers of the provider of public hosts, over the protocol of the engine."""

import asyncio
import os
import runpy
import signal
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from google.protobuf import empty_pb2
from pulumi.provider.experimental import provider as sdk
from pulumi.runtime.proto import provider_pb2 as proto

from dev.pangolin_api import V1_15, Fault, Pangolin
from pic.core.errors import PangolinError
from pic.core.model import PUBLIC_TYPE
from pic.pangolin_api import client, inputs, plugin
from pic.pangolin_api.client import Client, Server
from pic.pangolin_api.connection import KEY
from pic.pangolin_api.model import Wanted
from pic.pangolin_api.provider import Pangolin as Provider
from pic.provider import values
from tests.support.pangolin_api import HOST, Caller, Witness
from tests.support.pangolin_client import OTHER, QUICK, TARGET, wanted
from tests.support.provider import Calls, failure, partial_failure, talk
from tests.support.waiting import until

URN = f"urn:pulumi:prod::pic::{PUBLIC_TYPE}::{HOST}"
Act = Callable[[Calls], Awaitable[Any]]


def properties(want: Wanted | None = None) -> dict[str, object]:
    return {**inputs.encode(want or wanted()), "object": "apps/web"}


def with_provider(server: Pangolin, act: Act, key: str | None = None) -> Any:
    """Serve a configured provider while `act` runs."""

    def connect(where: Server) -> Client:
        environment = {KEY: server.key if key is None else key}
        connected = client.connect(where, environment, QUICK)
        connected.sleep = lambda _: None
        return connected

    async def configured(calls: Calls) -> Any:
        await calls.configure({"url": server.url, "org": "home"})
        return await act(calls)

    return talk(Provider(connect), URN, configured)


@contextmanager
def published(want: Wanted | None = None) -> Iterator[tuple[Pangolin, dict[str, object]]]:
    """Provide a server with one resource, which an earlier run has created; its id is 1."""
    with Pangolin() as server:
        made = with_provider(server, lambda calls: calls.create(properties(want)))
        server.log.clear()
        yield server, made["properties"]


def test_a_host_is_created_read_updated_and_deleted() -> None:
    before, after = properties(), properties(wanted(targets=(OTHER,), sso=False))

    async def act(calls: Calls) -> list[Any]:
        made = await calls.create(before)
        same = await calls.read("1", made["properties"], before)
        changed = await calls.update("1", made["properties"], after)
        found = await calls.read("1", made["properties"], before)
        await calls.delete("1", changed["properties"])
        await calls.delete("1", changed["properties"])
        gone = await calls.read("1", changed["properties"], after)
        return [made["id"], same["inputs"], found["inputs"], changed["properties"], gone.get("id")]

    with Pangolin() as server:
        number, same, found, stored, gone = with_provider(server, act)
        assert (number, same, gone) == ("1", before, None)
        assert found == stored == after
        assert (server.routes, "home" in str(server.log[0])) == ((), False)


def test_a_preview_sends_nothing() -> None:
    async def act(calls: Calls) -> list[Any]:
        return [
            await calls.create(properties(), preview=True),
            await calls.update("1", properties(), properties(), preview=True),
            await calls.check(properties()),
            (await calls.diff("1", properties(), properties()))["changes"],
        ]

    with Pangolin() as server:
        same = {"properties": properties()}
        answers = [same, same, {"inputs": properties()}, "DIFF_NONE"]
        assert with_provider(server, act) == answers
        assert server.log == []


def problems(*changes: dict[str, object]) -> list[list[str]]:
    """Return what a check says of inputs with some changes; None removes one."""

    async def act(calls: Calls) -> list[list[str]]:
        results = []
        for change in changes:
            merged = {**properties(), **change}
            given = {name: value for name, value in merged.items() if value is not None}
            failures = (await calls.check(given)).get("failures", ())
            results.append([f"{it['property']}: {it['reason']}" for it in failures])
        return results

    result: list[list[str]] = talk(Provider(lambda _: pytest.fail("connects")), URN, act)
    return result


def targets(**fields: object) -> dict[str, object]:
    return {"targets": [{"siteId": 1, "ip": "10.0.0.1", "port": 80, **fields}]}


def test_what_pangolin_would_serve_otherwise_is_refused_before_it_is_sent() -> None:
    path = "/x`) || Host(`victim.example.com"
    (backtick,) = problems(targets(path=path, pathMatchType="prefix"))[0]

    assert "has a backtick, which would end the rule" in backtick
    assert problems(
        targets(ip="2001:db8::1"),
        targets(method="ftp"),
        targets(port=0, siteId=1.5),
        {"targets": [{}], "sso": "yes"},
        {"targets": ["10.0.0.1"]},
        targets(hcEnabled=True),
    ) == [
        [
            "targets: target 2001:db8::1:80: Pangolin cannot reach an IPv6 address; use a name or"
            " an IPv4 address"
        ],
        ["targets: target 10.0.0.1:80: the method is 'ftp'; use one of http, https, h2c"],
        [
            "targets: target 10.0.0.1:0: siteId is missing or not a possible number",
            "targets: target 10.0.0.1:0: port is missing or not a possible number",
        ],
        [
            "sso: must be true or false",
            "targets: target :: siteId is missing or not a possible number",
            "targets: target :: port is missing or not a possible number",
            "targets: target :: ip is missing",
        ],
        ["targets: a target is text, not a map"],
        ["targets: target 10.0.0.1:80: hcEnabled is not a property of a target"],
    ]


def test_missing_and_malformed_inputs_are_named() -> None:
    nothing = dict.fromkeys(properties())

    assert problems(
        nothing,
        {"host": "App.example.com"},
        {"host": "*.example.com", "niceId": "a b", "domainId": "", "ttl": 5},
        {"object": 7},
    ) == [
        [f"{name}: is missing" for name in ("host", "niceId", "domainId", "targets")],
        ["host: 'App.example.com' has another normal form: write app.example.com"],
        [
            "ttl: is not a property of a public host",
            "host: '*.example.com' cannot be a host name: wildcards are not supported",
            "niceId: may have letters, digits and hyphens only",
            "domainId: is empty",
        ],
        ["object: must be text"],
    ]


def test_another_host_is_a_replacement_and_everything_else_an_update() -> None:
    first, second = replace(TARGET, priority=100), replace(TARGET, port=81)
    one, two = (
        properties(wanted(targets=(first, second))),
        properties(wanted(targets=(second, TARGET, TARGET))),
    )
    moved = {**two, "host": "new.example.com", "object": "apps/other"}

    async def act(calls: Calls) -> list[Any]:
        return [await calls.diff("1", one, new) for new in (two, moved)]

    with Pangolin() as server:
        same, other = with_provider(server, act)
    assert (same["changes"], same.get("diffs")) == ("DIFF_NONE", None)
    assert (other["replaces"], other["diffs"]) == (["host"], ["host", "object"])
    assert other["deleteBeforeReplace"]
    assert other["detailedDiff"] == {
        "host": {"kind": "UPDATE_REPLACE", "inputDiff": True},
        "object": {"kind": "UPDATE", "inputDiff": True},
    }


def test_an_import_returns_what_is_live() -> None:
    async def act(calls: Calls) -> Any:
        return await calls.read("1")

    with published() as (server, stored):
        found = with_provider(server, act)
    live = {name: value for name, value in stored.items() if name != "object"}
    assert found == {"id": "1", "properties": live, "inputs": live}


def test_what_the_dashboard_changed_is_read_and_repaired() -> None:
    want = properties()

    async def act(calls: Calls) -> list[Any]:
        found = await calls.read("1", want, want)
        drift = await calls.diff("1", found["properties"], want)
        await calls.update("1", found["properties"], want)
        again = await calls.read("1", want, want)
        return [drift["diffs"], found["inputs"]["sso"], again["inputs"] == want]

    with published() as (server, _):
        edit = Caller(server)
        edit("POST", "/resource/1", {"sso": False, "niceId": "by-hand", "stickySession": True})
        edit("PUT", "/resource/1/target", {**targets()["targets"][0], "rewritePath": "/a"})  # type: ignore[index]
        assert with_provider(server, act) == [["niceId", "sso", "targets"], False, True]
        assert server.store.resources[1]["stickySession"]


def test_a_resource_that_moved_to_another_host_comes_back_in_place() -> None:
    want = properties()

    async def act(calls: Calls) -> list[Any]:
        found = await calls.read("1", want, want)
        drift = await calls.diff("1", found["properties"], want)
        await calls.update("1", found["properties"], want)
        return [drift["diffs"], drift.get("replaces")]

    with published() as (server, _):
        Caller(server)("POST", "/resource/1", {"subdomain": "else", "domainId": "domain1"})
        assert with_provider(server, act) == [["subdomain"], None]
        assert server.reach(HOST) == "login"


def test_another_resource_with_the_same_id_stays() -> None:
    """After a change of pic:pangolinUrl, the ids of the state mean other resources."""
    state = properties(wanted("other.example.com"))

    async def act(calls: Calls) -> list[Any]:
        return [
            (await calls.read("1", state, state)).get("id"),
            await failure(calls.update("1", state, state)),
            await failure(calls.delete("1", state)),
        ]

    with published() as (server, _):
        found, update, delete = with_provider(server, act)
        assert (found, server.writes) == (None, [])
    assert update == delete
    assert update.startswith("resource 1 of this Pangolin is not that of other.example.com, but of")


def test_a_create_that_fails_half_way_leaves_its_id_to_the_engine() -> None:
    async def act(calls: Calls) -> Any:
        return await partial_failure(calls.create(properties()))

    async def finish(calls: Calls) -> Any:
        drift = await calls.diff("1", left["properties"], properties())
        await calls.update("1", left["properties"], properties())
        return drift["diffs"]

    with Pangolin() as server:
        server.watch = witness = Witness(closed={HOST: "/"})
        server.inject(Fault("answer", path="/target", times=99, status=400, body={"message": "no"}))
        message, left = with_provider(server, act)
        assert message == "Pangolin answers PUT /resource/1/target with 400: no [invalid]"
        assert (left["id"], left["reasons"], server.reach(HOST)) == ("1", [message], "nothing")
        server.heal()
        assert with_provider(server, finish) == ["targets"]
        assert (server.reach(HOST), [*server.store.resources]) == ("login", [1])
    assert witness.violations == []


def test_an_update_that_fails_half_way_is_repaired_also_if_it_is_taken_back() -> None:
    before, after = properties(wanted(block=True)), properties()

    async def act(calls: Calls) -> list[Any]:
        _, left = await partial_failure(calls.update("1", before, after))
        server.heal()
        drift = await calls.diff("1", left["properties"], before)
        await calls.update("1", left["properties"], before)
        return [left["id"], drift["diffs"]]

    with published(wanted(block=True)) as (server, _):
        # The block goes, but the answer gets lost again and again.
        lost = Fault("answer", effect=True, method="POST", times=99, status=400)
        server.inject(lost)
        assert with_provider(server, act) == ["1", ["blockAccess", "targets"]]
        assert server.reach(HOST) == "blocked"


def test_a_create_that_nobody_heard_of_is_taken_over() -> None:
    with published() as (server, stored):
        made = with_provider(server, lambda calls: calls.create(properties()))
        assert (made, server.writes) == ({"id": "1", "properties": stored}, [])


def test_a_resource_that_the_dashboard_deleted_is_no_longer_updated() -> None:
    with published() as (server, stored):
        Caller(server)("DELETE", "/resource/1")
        message = with_provider(
            server, lambda calls: failure(calls.update("1", stored, properties()))
        )
    assert message == (
        f"host {HOST}: its resource 1 was deleted in Pangolin: run pic again [temporary]"
    )


def test_a_removal_has_looked_that_the_host_is_gone() -> None:
    with published() as (server, stored):
        with_provider(server, lambda calls: calls.delete("1", stored))
        requests = [f"{entry} {entry.status}" for entry in server.log[1:]]
    assert requests == [
        "GET /org/home/resources?page=1&pageSize=1000 200",
        "DELETE /resource/1 200",
        "GET /resource/1 404",
    ]


def test_a_resource_that_came_after_the_list_is_deleted_too() -> None:
    async def act(calls: Calls) -> None:
        made = await calls.create(properties())
        await calls.delete(made["id"], made["properties"])

    with Pangolin() as server:
        with_provider(server, act)
        assert server.store.resources == {}


@pytest.mark.parametrize(
    ("key", "part"),
    [
        ("without-a-dot", "PANGOLIN_API_KEY is not a key of Pangolin"),
        ("wrong.key", "Pangolin does not accept the key in PANGOLIN_API_KEY (Invalid API key)"),
    ],
)
def test_a_wrong_key_is_tried_once(key: str, part: str) -> None:
    async def act(calls: Calls) -> list[str]:
        return [await failure(calls.create(properties())) for _ in range(3)]

    with Pangolin() as server:
        messages = with_provider(server, act, key)
        assert (len(set(messages)), part in messages[0]) == (1, True)
        assert sum("/org/" in str(entry) for entry in server.log) <= 1


def test_a_server_that_is_too_old_or_another_one_is_named() -> None:
    def message(server: Pangolin) -> str:
        said: str = with_provider(server, lambda calls: failure(calls.create(properties())))
        return said

    with Pangolin(version=V1_15) as server:
        assert "is older than 1.16, which pic needs" in message(server)
    with Pangolin() as server:
        html = "<html>not here</html>"
        server.inject(Fault("answer", times=99, status=404, body=html))
        assert "is no route of this server (404, not JSON)" in message(server)


def test_an_html_page_is_no_proof_that_a_resource_is_gone() -> None:
    with published() as (server, stored):
        fault = Fault("answer", path="/resource/", times=99, status=404, body="<html></html>")
        server.inject(fault)
        answers = with_provider(server, lambda calls: failure(calls.read("1", stored)))
    assert "is no route of this server" in answers


def test_a_provider_needs_its_configuration_and_valid_ids() -> None:
    async def act(calls: Calls) -> list[str]:
        early = await failure(calls.read("1"))
        missing = await failure(calls.configure({"url": "http://127.0.0.1:9"}))
        return [early, missing, await failure(calls.read("app.example.com"))]

    assert talk(Provider(lambda _: pytest.fail("connects")), URN, act) == [
        "the engine has not configured the provider [temporary]",
        "the provider needs url and org: set pic:pangolinUrl and pic:pangolinOrg [invalid]",
        "'app.example.com' is not the id of a resource: write the resourceId, such as 12 [invalid]",
    ]


def test_a_cancel_refuses_what_comes_later() -> None:
    async def act(calls: Calls) -> str:
        await calls.stub.Cancel(empty_pb2.Empty())
        return await failure(calls.create(properties()))

    with Pangolin() as server:
        message = with_provider(server, act)
        assert (message, server.log) == (
            "the run ended before this was done: run pic again to finish [temporary]",
            [],
        )


def test_a_cancel_refuses_what_waits_and_finishes_what_has_begun() -> None:
    begun, release = threading.Event(), threading.Event()

    def connect(_: Server) -> Client:
        begun.set()
        release.wait()
        raise PangolinError("it was tried")

    async def act() -> list[BaseException | sdk.ReadResponse]:
        provider = Provider(connect)
        args = values.wrapped({"url": "http://127.0.0.1:9", "org": "home"})
        await provider.configure(
            sdk.ConfigureRequest({}, args, accept_secrets=True, accept_resources=True)
        )
        reads = [
            asyncio.ensure_future(provider.read(sdk.ReadRequest(URN, "1", {}, {})))
            for _ in range(40)
        ]
        await asyncio.to_thread(begun.wait)
        ending = asyncio.ensure_future(provider.cancel())
        await asyncio.sleep(0)
        release.set()
        await ending
        return await asyncio.gather(*reads, return_exceptions=True)

    messages = [str(error) for error in asyncio.run(act())]

    interrupted = "the run ended before this was done: run pic again to finish"
    assert set(messages) == {"it was tried", interrupted}
    assert messages.count(interrupted) >= 8, "no more than 32 have begun"


def test_the_provider_returns_its_schema() -> None:
    async def act(calls: Calls) -> str:
        schema: str = (await calls.stub.GetSchema(proto.GetSchemaRequest())).schema
        return schema

    assert talk(Provider(lambda _: pytest.fail("connects")), URN, act).startswith(
        '{"name": "pangolin",'
    )


def test_the_key_comes_from_the_environment() -> None:
    with Pangolin() as server:
        connected = plugin.connector({KEY: server.key})(Server(server.url, "home"))
        assert connected.reader.resources() == ()


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
