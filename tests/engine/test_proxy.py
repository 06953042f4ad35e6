"""Tests the proxy that refuses to create existing objects, and pic behind it."""

import json
from collections.abc import Iterable
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from urllib.parse import urlsplit

import pytest
import yaml

from dev.controlplane.api import APPLY, RefusedError
from dev.controlplane.faults import PIC, PLUGIN, Answer, Exchange, Fault, Request
from dev.controlplane.proxy import Proxy, proxied
from tests.engine.proxy import is_create
from tests.engine.stage import APIS, Object, Stage

APPLYING = "fieldManager=pic&force=true"
CREATING = f"{APPLYING}&fieldValidation=Warn"


def resource(name: str, host: str) -> Object:
    return {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": name},
        "spec": {"name": host},
    }


def apply(proxy: Proxy, path: str, query: str, body: Object) -> tuple[int, Object]:
    """Apply as the plugin does, and return the status and the answer."""
    headers = {"Content-Type": APPLY, "User-Agent": f"{PLUGIN}/4.25.0"}
    with closing(connect(proxy)) as connection:
        connection.request("PATCH", f"{path}?{query}", json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


def test_the_proxy_refuses_to_create_an_existing_object_as_the_api_server_does(
    stage: Stage, proxy: Proxy
) -> None:
    collection = APIS["PangolinResource"].format(stage.name)
    body, path = resource("one", stage.host("www")), f"{collection}/one"

    assert apply(proxy, path, CREATING, body)[0] == 201
    refused = apply(proxy, path, CREATING, body)

    with pytest.raises(RefusedError) as raised:
        stage.cluster.api.request("POST", collection, body)
    text = str(raised.value).removeprefix("the API server answered 409: ")
    assert refused == (409, json.loads(text))
    assert apply(proxy, path, APPLYING, body)[0] == 200
    assert apply(proxy, path, f"{CREATING}&dryRun=All", body)[0] == 200


def test_the_proxy_distinguishes_creates_from_other_writes(
    strict_stage: Stage, proxy: Proxy
) -> None:
    stage = strict_stage
    stage.ingress("web", "www", "shop")
    www, shop = stage.host("www"), stage.host("shop")

    assert (stage.pic("up").code, creates(proxy)) == (0, {(www, 201), (shop, 201)})
    stage.ingress("web", "www", "shop", paths=("/changed",))
    assert (stage.pic("up").code, creates(proxy)) == (0, set())
    before = stage.identities()
    stage.state_file.unlink()
    assert stage.pic("up").out == "Done: 2 adopted, 2 updated.\n"
    assert (stage.identities(), creates(proxy)) == (before, set())
    name = stage.object("www")["metadata"]["name"]
    stage.cluster.patch("PangolinResource", stage.name, name, {"spec": {"enabled": False}})
    assert (stage.pic("up").code, creates(proxy)) == (0, set())
    stage.cluster.delete("PangolinResource", stage.name, name)
    assert (stage.pic("up").code, creates(proxy)) == (0, {(www, 201)})


def creates(proxy: Proxy) -> set[tuple[str, int]]:
    """Return the hosts and the statuses of the creates since the last call.

    The plugin sends a GET before every other write, which checks `is_create` in another way.
    """
    log, proxy.log[:] = list(proxy.log), []
    assert {exchange.request.agent for exchange in log} == {PIC, PLUGIN}
    applied = [
        exchange
        for exchange in log
        if exchange.request.headers.get("content-type") == APPLY
        and "/pangolinresources" in exchange.request.path
    ]
    created = [exchange for exchange in applied if is_create(exchange.request)]
    for exchange in applied:
        assert has_get_before(log, exchange) == (exchange not in created), exchange
    return {
        (yaml.safe_load(exchange.request.body)["spec"]["name"], exchange.status)
        for exchange in created
    }


def has_get_before(log: Iterable[Exchange], write: Exchange) -> bool:
    """Say whether the plugin has read an object before it wrote it."""
    for exchange in log:
        if exchange is write:
            return False
        request = exchange.request
        if (request.agent, request.method, request.path, exchange.status) == (
            *(PLUGIN, "GET"),
            *(write.request.path, 200),
        ):
            return True
    raise AssertionError(write)


def test_pic_does_not_overwrite_an_object_that_it_cannot_see(
    strict_stage: Stage, proxy: Proxy
) -> None:
    stage, strict = strict_stage, proxy.rule
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    stage.state_file.unlink()
    before = stage.objects()
    name = before[0]["metadata"]["name"]

    def hide_resources(request: Request) -> Fault | None:
        if request.agent == PIC and request.path.endswith("/pangolinresources"):
            return Answer(200, {"kind": "PangolinResourceList", "metadata": {}, "items": []})
        return strict(request)

    proxy.rule = hide_resources
    answer = stage.pic("up")

    assert (answer.code, f'"{name}" already exists' in answer.err) == (6, True), answer.err
    assert stage.objects() == before


def test_the_proxy_passes_on_each_watch_event_at_once(stage: Stage) -> None:
    path, events = f"{APIS['PangolinResource'].format(stage.name)}?watch=true", []
    with proxied(stage.plane) as proxy, closing(connect(proxy)) as connection:
        connection.request("GET", path)
        watch = connection.getresponse()
        for name in ("one", "two"):
            stage.cluster.apply("PangolinResource", stage.name, name, {"name": stage.host(name)})
            event = json.loads(watch.readline())
            events.append((event["type"], event["object"]["metadata"]["name"]))

    assert events == [("ADDED", "one"), ("ADDED", "two")]


def test_a_proxy_that_stops_cuts_open_connections(stage: Stage) -> None:
    with proxied(stage.plane) as proxy:
        connection = connect(proxy)
        connection.request("GET", f"{APIS['PangolinResource'].format(stage.name)}?watch=true")
        watch = connection.getresponse()

    with closing(connection), pytest.raises(IncompleteRead):
        watch.read()
    assert not proxy.kubeconfig.exists()


def connect(proxy: Proxy) -> HTTPConnection:
    return HTTPConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=30)
