"""What the proxy of the simulated Pangolin serves, and faults between client and server."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.client import HTTPException
from urllib.request import Request, urlopen

import pytest

from dev.pangolin_api import Fault, Moment, Pangolin, Visitor
from dev.workspace import ROOT
from tests.support.pangolin_api import HOST, Caller
from tests.support.waiting import is_gone


@pytest.fixture
def server() -> Iterator[Pangolin]:
    with Pangolin() as server:
        yield server


@pytest.fixture
def call(server: Pangolin) -> Caller:
    return Caller(server)


def update(call: Caller, resource: int, **fields: object) -> None:
    assert call("POST", f"/resource/{resource}", fields)[0] == 200


def test_a_resource_without_targets_has_no_route_and_one_with_a_target_asks_for_a_login(
    call: Caller,
) -> None:
    resource = call.create()
    assert call.server.reach(HOST) == "nothing"
    call.target(resource)
    assert call.server.reach(HOST.upper()) == "login"
    assert call.server.reach("other.example.com") == "nothing"


def test_block_login_and_off_are_told_apart(call: Caller) -> None:
    resource = call.create()
    call.target(resource)
    reached = []
    for fields in ({"sso": False}, {"blockAccess": True}, {"enabled": False}):
        update(call, resource, **fields)
        reached.append(call.server.reach(HOST))
    assert reached == ["open", "blocked", "nothing"]


def test_a_whitelist_alone_asks_for_a_login(call: Caller) -> None:
    resource = call.create()
    call.target(resource)
    update(call, resource, sso=False, emailWhitelistEnabled=True)
    assert call.server.reach(HOST) == "login"


def test_paths_become_rules_with_the_priorities_of_pangolin(call: Caller) -> None:
    resource = call.create()
    for path, match in (("/e", "exact"), ("/p", "prefix"), ("^/r", "regex"), ("/", "prefix")):
        call.target(resource, path=path, pathMatchType=match)
    call.target(resource)
    call.target(resource, path="/own", pathMatchType="prefix", priority=7)
    assert [(route.rule.removeprefix("Host"), route.priority) for route in call.server.routes] == [
        ("(`app.example.com`) && Path(`/e`)", 115),
        ("(`app.example.com`) && PathPrefix(`/p`)", 113),
        ("(`app.example.com`) && PathRegexp(`^/r`)", 112),
        ("(`app.example.com`)", 100),
        ("(`app.example.com`) && PathPrefix(`/own`)", 7),
        ("(`app.example.com`) && PathPrefix(`/`)", 1),
    ]
    assert [call.server.reach(HOST, path) for path in ("/e", "/r1", "/p/x")] == ["login"] * 3


def test_equal_paths_share_a_router_with_the_highest_priority(call: Caller) -> None:
    resource = call.create()
    call.target(resource, path="/a", pathMatchType="prefix", priority=3)
    call.target(resource, path="/a", pathMatchType="prefix", priority=9, port=81)
    assert [(route.priority, route.backends) for route in call.server.routes] == [
        (9, ("http://10.0.0.1:80", "http://10.0.0.1:81"))
    ]


def test_long_paths_of_a_host_collide(call: Caller) -> None:
    resource = call.create()
    for end in "ab":
        call.target(resource, path=f"/{'x' * 60}{end}", pathMatchType="exact")
    assert len(call.server.routes) == 1


def test_a_backtick_in_a_path_takes_another_host(call: Caller) -> None:
    resource = call.create()
    update(call, resource, sso=False)
    call.target(resource, path="/x`) || Host(`victim.example.com", pathMatchType="prefix")
    assert call.server.reach("victim.example.com", "/any") == "open"


def test_an_unhealthy_or_disabled_target_is_not_in_the_pool(call: Caller) -> None:
    resource = call.create()
    call.target(resource, hcEnabled=True)
    call.target(resource, enabled=False)
    assert call.server.reach(HOST) == "nothing"
    call.server.report_health("healthy")
    assert call.server.reach(HOST) == "login"


@pytest.mark.parametrize(
    ("match", "value", "path"),
    [
        ("IP", "203.0.113.7", "/"),
        ("CIDR", "203.0.113.0/24", "/"),
        ("COUNTRY", "NL", "/"),
        ("ASN", "AS64500", "/"),
        ("PATH", "/api/*", "/api/v1/x"),
        ("PATH", "/a*", "/abc"),
    ],
)
def test_rules_come_before_the_login(call: Caller, match: str, value: str, path: str) -> None:
    resource = call.create()
    call.target(resource)
    rule = {"match": match, "value": value, "priority": 1}
    call("PUT", f"/resource/{resource}/rule", {**rule, "action": "ACCEPT"})
    reached = [call.server.reach(HOST, path)]
    update(call, resource, applyRules=True)
    reached.append(call.server.reach(HOST, path))
    call("PUT", f"/resource/{resource}/rule", {**rule, "action": "DROP", "priority": 0})
    reached.append(call.server.reach(HOST, path))
    call("PUT", f"/resource/{resource}/rule", {**rule, "action": "PASS", "priority": -1})
    reached.append(call.server.reach(HOST, path))
    assert reached == ["login", "open", "denied", "login"]
    stranger = Visitor("2001:db8::1", "US", "AS1")
    assert call.server.reach(HOST, "/else", stranger) == "login"


def test_a_path_rule_of_another_path_concerns_none(call: Caller) -> None:
    resource = call.create()
    call.target(resource)
    update(call, resource, applyRules=True)
    rule = {"action": "DROP", "match": "PATH", "value": "/api/*/x", "priority": 1}
    call("PUT", f"/resource/{resource}/rule", rule)
    assert [call.server.reach(HOST, path) for path in ("/api/y", "/api/1/x")] == [
        "login",
        "denied",
    ]


def test_the_more_open_of_two_resources_with_one_rule_counts(call: Caller) -> None:
    for sso in (True, False):
        resource = call.create()
        update(call, resource, sso=sso)
        call.target(resource)
        call.server.store.resources[resource]["fullDomain"] = HOST
        if sso:
            call.server.store.resources[resource]["fullDomain"] = "moved.example.com"
    for row in call.server.store.resources.values():
        row["fullDomain"] = HOST
    assert call.server.reach(HOST) == "open"


def test_the_watch_sees_the_routes_after_every_request(server: Pangolin) -> None:
    moments: list[Moment] = []
    server.watch = moments.append
    call = Caller(server)
    call.target(call.create())
    call("GET", "/org/home/sites")
    seen = [(str(moment.after), moment.after.status, moment.reach(HOST)) for moment in moments]
    assert seen == [
        ("PUT /org/home/resource", 201, "nothing"),
        ("PUT /resource/1/target", 201, "login"),
        ("GET /org/home/sites", 200, "login"),
    ]


def test_a_server_killed_after_a_create_has_the_resource_when_it_starts_again(
    call: Caller,
) -> None:
    server = call.server
    server.inject(Fault("die", effect=True, method="PUT"))
    with pytest.raises((OSError, HTTPException)):
        call.create()
    with pytest.raises(OSError, match="refused"):
        call.create()
    url = server.url
    server.restart()
    assert (server.url, len(server.deaths)) == (url, 1)
    assert call("GET", "/org/home/resources")[1]["pagination"]["total"] == 1


def test_a_lost_answer_has_had_its_effect(call: Caller) -> None:
    call.server.inject(Fault("drop", effect=True, method="PUT"))
    with pytest.raises((OSError, HTTPException)):
        call.create()
    assert len(call.server.store.resources) == 1


def test_an_injected_answer_replaces_the_real_one(call: Caller) -> None:
    call.server.inject(Fault("answer", status=429, path="/sites", skip=1, times=2))
    call.server.inject(Fault("hang", path="/never"))
    statuses = [call("GET", "/org/home/sites")[0] for _ in range(4)]
    assert statuses == [200, 429, 429, 200]
    assert len(call.server.faults_left) == 1
    call.server.heal()
    assert call.server.faults_left == []


def test_a_hanging_request_does_not_stop_the_others(call: Caller) -> None:
    server = call.server
    server.inject(Fault("hang", path="/sites"))
    request = Request(f"{server.url}/v1/org/home/sites", headers={})  # noqa: S310 - 127.0.0.1
    with pytest.raises(TimeoutError):
        urlopen(request, timeout=0.1)  # noqa: S310 - 127.0.0.1
    assert call("GET", "/org/home/domains")[0] == 200


def test_each_request_with_a_key_takes_its_time() -> None:
    with Pangolin(pace=0.02) as server:
        call = Caller(server)
        call("GET", "/org/home/sites")
        call.full("GET", "/")
        assert server.busy >= 0.02
        assert server.most_at_once == 1


def test_the_program_prints_its_url_and_ends_at_a_signal() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "dev.pangolin_api"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PANGOLIN_API_KEY": "given.key"},
    ) as program:
        assert program.stdout
        assert program.stderr
        lines = [program.stdout.readline() for _ in range(3)]
        pairs = (line.removeprefix("export ").strip().partition("=") for line in lines)
        printed = {name: value for name, _, value in pairs}
        message = program.stderr.readline()
        headers = {"Authorization": "Bearer given.key"}
        url = f"{printed['PANGOLIN_URL']}/v1/org/home/sites"
        with urlopen(Request(url, headers=headers), timeout=10) as answer:  # noqa: S310 - 127.0.0.1
            sites = json.load(answer)["data"]["sites"]
        program.terminate()
        rest = program.communicate()

    assert message.startswith(f"{printed['PANGOLIN_URL']} serves until Ctrl-C: organisation home")
    assert [site["niceId"] for site in sites] == ["home"]
    assert (program.returncode, rest) == (0, ("", ""))
    assert is_gone(program.pid)
