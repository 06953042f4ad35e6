"""Lists that are whole, and a resource with all that belongs to it."""

import pytest

from dev.pangolin_api import V1_15, V1_22, Fault, Pangolin
from pic.core.errors import FailureClass
from pic.pangolin_api.client import Server, connect
from pic.pangolin_api.connection import KEY, Timeouts
from pic.pangolin_api.model import Domain, ListedTarget, Role, Rule, Site, User
from tests.support.pangolin_api import HOST, Caller
from tests.support.pangolin_client import QUICK, client_of, fails, pangolin, wanted


@pytest.mark.parametrize(("count", "requests"), [(430, 1), (1001, 2)])
def test_every_resource_is_listed_by_a_request_for_each_1000(count: int, requests: int) -> None:
    with pangolin() as (server, client):
        for index in range(count):
            server.store.resource("home", name="same", fullDomain=f"app-{index}.example.com")
        assert len({row.id for row in client.reader.resources()}) == count
        assert len(server.log) == requests


def test_a_list_with_fewer_rows_than_its_total_is_no_list() -> None:
    short: dict[str, object] = {"data": {"sites": [], "pagination": {"total": 25}}}
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=200, body=short, times=9))
        with fails(FailureClass.TEMPORARY, "returned 0 of 25 rows", "Run pic again"):
            client.reader.sites()


def test_a_list_that_changes_while_pic_reads_it_is_read_again() -> None:
    short: dict[str, object] = {"data": {"sites": [], "pagination": {"total": 3}}}
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=200, body=short))
        assert [site.nice_id for site in client.reader.sites()] == ["home"]


def test_a_list_without_a_total_is_one_page() -> None:
    body: dict[str, object] = {"data": {"sites": [{"siteId": 1}]}}
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=200, body=body))
        assert [site.id for site in client.reader.sites()] == [1]


def test_a_list_of_another_form_is_reported() -> None:
    body: dict[str, object] = {"data": {"sites": {}}}
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=200, body=body))
        with fails(FailureClass.INVALID, "sites is a map, not a list"):
            client.reader.sites()


def test_what_an_organisation_has_is_listed() -> None:
    with pangolin() as (server, client):
        server.store.user("home", "a@example.com")
        reader = client.reader
        assert (reader.sites(), reader.domains(), reader.roles(), reader.users()) == (
            (Site(1, "home", "Home", "newt", online=True),),
            (Domain("domain1", "example.com", "wildcard", verified=True),),
            (Role(1, "Admin", is_admin=True), Role(2, "Member", is_admin=False)),
            (User("user-1", "a@example.com", "a@example.com"),),
        )


@pytest.mark.parametrize("version", [(1, 18), V1_22])
def test_a_host_is_looked_up_as_a_whole(version: tuple[int, int]) -> None:
    with pangolin(version) as (server, client):
        call = Caller(server)
        call.target(call.create())
        call.create("my-app")
        rows = client.reader.at(HOST)
        target = ListedTarget(1, 1, "10.0.0.1", 80, enabled=True, health="unknown")
        assert [(row.host, row.targets) for row in rows] == [(HOST, (target,))]


def test_a_resource_is_read_with_two_requests_and_its_access_if_it_matters() -> None:
    rule = Rule(1, "DROP", "IP", "192.0.2.1")
    want = wanted(
        rules=(rule,),
        roles=frozenset([2]),
        users=frozenset(["user-1"]),
        emails=frozenset(["a@example.com"]),
    )
    with pangolin() as (server, client):
        server.store.user("home", "a@example.com")
        resource = client.create(want)
        server.log.clear()
        short = client.reader.live(resource)
        assert short
        assert (len(short.targets), short.rules, len(server.log)) == (1, (), 2)
        live = client.reader.live(resource, want)
        assert live
        assert (live.rules, live.roles, live.users, live.emails) == (
            ((1, rule),),
            frozenset([2]),
            frozenset(["user-1"]),
            frozenset(["a@example.com"]),
        )


def test_a_resource_of_another_form_is_reported() -> None:
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=200, body={"data": {}}))
        with fails(FailureClass.INVALID, "resourceId is not a number"):
            client.reader.live(1)


def test_the_name_of_an_organisation_is_quoted() -> None:
    with pangolin() as (server, _):
        client = connect(Server(server.url, "a/b"), {KEY: server.key}, QUICK)
        assert client.reader.org_path == "/org/a%2Fb"


def test_a_server_that_is_too_old_is_refused_with_one_request() -> None:
    with Pangolin(version=V1_15) as server:
        with fails(FailureClass.INVALID, "is older than 1.16"):
            client_of(server)
        assert [str(entry) for entry in server.log] == ["GET /openapi.json"]


def test_a_server_without_the_document_is_no_integration_api() -> None:
    with Pangolin() as server:
        server.inject(Fault("answer", status=404, body="<html>"))
        with fails(FailureClass.INVALID, "GET /openapi.json is no route of this server"):
            client_of(server)


def test_a_dialect_that_the_caller_remembers_saves_a_request() -> None:
    with Pangolin() as server:
        dialect = client_of(server).reader.dialect
        server.log.clear()
        assert client_of(server, dialect=dialect).reader.dialect == dialect
        assert server.log == []


def test_the_timeouts_have_defaults() -> None:
    with Pangolin() as server:
        client = connect(Server(server.url, "home"), {KEY: server.key})
        assert client.reader.connection.timeouts == Timeouts()
