"""The proxy that makes a cluster strict: what it refuses, what it tells apart, what it lets by."""

import json
from collections.abc import Iterable
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from urllib.parse import urlsplit

import pytest
import yaml

from dev.controlplane.api import APPLY, RefusedError
from dev.controlplane.faults import (
    PIC,
    PLUGIN,
    Answer,
    Exchange,
    Fault,
    Request,
)
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
    """Apply as the plugin does, and return the answer."""
    headers = {"Content-Type": APPLY, "User-Agent": f"{PLUGIN}/4.25.0"}
    with closing(connected(proxy)) as connection:
        connection.request("PATCH", f"{path}?{query}", json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


def test_a_create_of_what_exists_is_refused_in_the_words_of_the_api_server(
    stage: Stage, proxy: Proxy
) -> None:
    collection = APIS["PangolinResource"].format(stage.name)
    body, path = resource("one", stage.host("www")), f"{collection}/one"

    assert apply(proxy, path, CREATING, body)[0] == 201
    refused = apply(proxy, path, CREATING, body)

    with pytest.raises(RefusedError) as caught:
        stage.cluster.api.request("POST", collection, body)
    words = str(caught.value).removeprefix("the API server answered 409: ")
    assert refused == (409, json.loads(words))
    assert apply(proxy, path, APPLYING, body)[0] == 200
    assert apply(proxy, path, f"{CREATING}&dryRun=All", body)[0] == 200


def test_creates_are_told_from_all_else_that_is_written(strict_stage: Stage, proxy: Proxy) -> None:
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
    """Return hosts and statuses of what was created since the last call.

    Whatever else was applied, the plugin had looked at before; so it is by another sign as well.
    """
    log, proxy.log[:] = list(proxy.log), []
    assert {it.request.agent for it in log} == {PIC, PLUGIN}
    applied = [it for it in log if it.request.headers.get("content-type") == APPLY]
    created = [it for it in applied if is_create(it.request)]
    for each in applied:
        assert has_looked(log, each) == (each not in created), each
    return {(yaml.safe_load(it.request.body)["spec"]["name"], it.status) for it in created}


def has_looked(log: Iterable[Exchange], write: Exchange) -> bool:
    """Say whether the plugin has got an object before it was written."""
    for each in log:
        if each is write:
            return False
        if (each.request.agent, each.request.method, each.request.path, each.status) == (
            *(PLUGIN, "GET"),
            *(write.request.path, 200),
        ):
            return True
    raise AssertionError(write)


def test_pic_creates_over_nothing_that_it_does_not_see(strict_stage: Stage, proxy: Proxy) -> None:
    stage, strict = strict_stage, proxy.rule
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    stage.state_file.unlink()
    before = stage.objects()
    name = before[0]["metadata"]["name"]

    def blind(request: Request) -> Fault | None:
        if request.agent == PIC and request.path.endswith("/pangolinresources"):
            return Answer(200, {"kind": "PangolinResourceList", "metadata": {}, "items": []})
        return strict(request)

    proxy.rule = blind
    answer = stage.pic("up")

    assert (answer.code, f'"{name}" already exists' in answer.err) == (6, True), answer.err
    assert stage.objects() == before


def test_a_watch_is_passed_on_as_it_happens(stage: Stage) -> None:
    path, seen = f"{APIS['PangolinResource'].format(stage.name)}?watch=true", []
    with proxied(stage.plane) as proxy, closing(connected(proxy)) as connection:
        connection.request("GET", path)
        watch = connection.getresponse()
        for name in ("one", "two"):
            stage.cluster.apply("PangolinResource", stage.name, name, {"name": stage.host(name)})
            event = json.loads(watch.readline())
            seen.append((event["type"], event["object"]["metadata"]["name"]))

    assert seen == [("ADDED", "one"), ("ADDED", "two")]


def test_a_proxy_that_stops_cuts_what_is_open(stage: Stage) -> None:
    with proxied(stage.plane) as proxy:
        connection = connected(proxy)
        connection.request("GET", f"{APIS['PangolinResource'].format(stage.name)}?watch=true")
        watch = connection.getresponse()

    with closing(connection), pytest.raises(IncompleteRead):
        watch.read()
    assert not proxy.kubeconfig.exists()


def connected(proxy: Proxy) -> HTTPConnection:
    return HTTPConnection("127.0.0.1", urlsplit(proxy.url).port, timeout=30)
