"""Creates, updates and deletes against the simulated server, with every moment watched."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dev.pangolin_api import V1_22, Fault, Pangolin
from pic.core.errors import FailureClass
from pic.pangolin_api.client import Client
from pic.pangolin_api.errors import ConflictError, GoneError, UnfinishedError
from pic.pangolin_api.model import Health, Rule, Target, Wanted
from tests.support.pangolin_api import HOST, Caller, Witness
from tests.support.pangolin_client import (
    IMPATIENT,
    OTHER,
    TARGET,
    client_of,
    fails,
    pangolin,
    wanted,
)

BOTH = (TARGET, replace(TARGET, port=81, path="/api", match="prefix"))


def bring(client: Client, resource: int, want: Wanted) -> None:
    live = client.reader.live(resource, want)
    assert live
    client.update(live, want)


def rows(server: Pangolin) -> list[tuple[str, bool, int]]:
    """Return niceId, login and the number of targets of each resource."""
    return [
        (row["niceId"], row["sso"], len(server.store.targets_of(number)))
        for number, row in server.store.resources.items()
    ]


def test_a_host_gets_its_login_before_its_first_target() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted(targets=BOTH))
        assert server.writes == [
            "PUT /org/home/resource",
            f"POST /resource/{resource}",
            f"PUT /resource/{resource}/target",
            f"PUT /resource/{resource}/target",
        ]
        assert rows(server) == [(wanted().nice_id, True, 2)]
        assert server.reach(HOST, "/api") == "login"


def test_many_hosts_share_one_list_and_have_four_requests_in_flight() -> None:
    hosts = [f"app-{index}.example.com" for index in range(12)]
    with pangolin() as (server, client), ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda host: client.create(wanted(host)), hosts))
        reads = [str(entry) for entry in server.log if entry.method == "GET"]
        assert reads == ["GET /org/home/resources?page=1&pageSize=1000"]
        assert (len(server.writes), server.most_at_once <= 4) == (36, True)


def test_nothing_is_sent_if_nothing_differs() -> None:
    everything = wanted(
        targets=(
            replace(BOTH[1], rewrite="/", rewrite_type="stripPrefix", priority=7, health=Health()),
        ),
        ssl=True,
        sticky=True,
        host_header="h.example.com",
        tls_server_name="",
        rules=(Rule(1, "DROP", "IP", "192.0.2.1"),),
        roles=frozenset([2]),
        users=frozenset(["user-1"]),
        emails=frozenset(["a@example.com"]),
    )
    with pangolin() as (server, client):
        server.store.user("home", "a@example.com")
        resource = client.create(everything)
        server.log.clear()
        bring(client, resource, everything)
        assert server.writes == []


def test_a_new_target_comes_before_the_old_one_goes() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        server.watch = witness = Witness(reachable={HOST: "/"}, closed={HOST: "/"})
        server.log.clear()
        bring(client, resource, wanted(targets=(OTHER,)))
        assert server.writes == [f"PUT /resource/{resource}/target", "DELETE /target/1"]
        assert witness.violations == []


def test_a_changed_target_is_sent_whole_with_what_others_have_set() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        server.store.targets[1].update(hcEnabled=True, hcPath="/up", hcHeaders=[], hcTimeout=9)
        bring(client, resource, wanted(targets=(replace(TARGET, priority=5),)))
        row = server.store.targets[1]
        names = ("priority", "hcEnabled", "hcPath", "hcTimeout")
        assert [row[name] for name in names] == [5, True, "/up", 9]


def test_an_old_target_stays_until_the_new_one_is_healthy() -> None:
    checked = wanted(targets=(replace(OTHER, health=Health(path="/up")),))
    with pangolin() as (server, client):
        resource = client.create(wanted())
        server.watch = witness = Witness(reachable={HOST: "/"})
        client.sleep = lambda _: server.report_health("healthy")
        bring(client, resource, checked)
        assert (witness.violations, list(server.store.targets)) == ([], [2])


def test_an_old_target_stays_if_the_new_one_never_is_healthy() -> None:
    checked = wanted(targets=(replace(OTHER, health=Health()),))
    with pangolin() as (server, client):
        resource = client.create(wanted())
        for _ in range(2):
            with fails(FailureClass.INVALID, "is not healthy after 2 s, so the old one stays"):
                bring(client, resource, checked)
        assert (list(server.store.targets), server.reach(HOST)) == ([1, 2], "login")


def test_a_resource_that_is_deleted_while_pic_waits_for_health_is_gone() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        live = client.reader.live(resource)
        assert live
        server.inject(Fault("answer", status=404, path=f"GET|/resource/{resource}$", body={}))
        client.update(live, wanted(targets=(replace(OTHER, health=Health()),)))
        assert list(server.store.targets) == [2]


def test_a_deleted_host_is_not_public_and_a_second_delete_has_nothing_to_do() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        client.delete(resource)
        client.delete(resource)
        assert (server.reach(HOST), rows(server)) == ("nothing", [])
        assert client.reader.live(resource) is None


def test_a_route_that_does_not_exist_is_not_taken_for_a_deleted_resource() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        server.inject(Fault("answer", status=404, method="DELETE", body="<html>"))
        with fails(FailureClass.INVALID, "is no route of this server"):
            client.delete(resource)


def test_the_host_of_someone_else_is_refused() -> None:
    with pangolin() as (server, client):
        call = Caller(server)
        call.target(call.create())
        with fails(FailureClass.INVALID, "another resource of Pangolin has it", "(app)"):
            client.create(wanted())
        assert len(server.store.resources) == 1


def test_the_host_of_another_organisation_is_refused() -> None:
    with pangolin() as (server, client):
        server.store.org("other")
        server.store.resource("other", name="x", fullDomain=HOST)
        with fails(FailureClass.INVALID, "No resource of this organisation has it"):
            client.create(wanted())


@pytest.mark.parametrize("version", [(1, 18), V1_22])
def test_a_create_of_ours_that_was_killed_is_taken_over(version: tuple[int, int]) -> None:
    with pangolin(version) as (server, client):
        server.inject(Fault("die", effect=True, method="PUT"))
        server.watch = witness = Witness(closed={HOST: "/"})
        client.sleep = lambda _: None
        with fails(FailureClass.TEMPORARY, "no answer from"):
            client.create(wanted())
        server.restart()
        client_of(server).create(wanted())
        assert rows(server) == [(wanted().nice_id, True, 1)]
        assert witness.violations == []


@pytest.mark.parametrize("kind", ["drop", "hang"])
def test_a_create_whose_answer_is_lost_is_not_sent_again(kind: str) -> None:
    with pangolin(V1_22) as (server, _):
        client = client_of(server, IMPATIENT)
        server.inject(Fault(kind, effect=True, method="PUT", path="resource$"))  # type: ignore[arg-type]
        client.create(wanted())
        assert rows(server) == [(wanted().nice_id, True, 1)]


def test_a_create_that_had_no_effect_is_sent_again_after_a_look() -> None:
    with pangolin() as (server, client):
        slept: list[float] = []
        client.sleep = slept.append
        server.inject(Fault("answer", method="PUT", status=429, headers={"Retry-After": "7"}))
        client.create(wanted())
        assert [str(entry).partition("?")[0] for entry in server.log][:4] == [
            "GET /org/home/resources",
            "PUT /org/home/resource",
            "GET /org/home/resources",
            "PUT /org/home/resource",
        ]
        assert slept == [7.0]


def test_a_create_that_never_succeeds_ends() -> None:
    with pangolin() as (server, client):
        server.inject(Fault("answer", method="PUT", status=503, times=9))
        with fails(FailureClass.TEMPORARY, "with 503"):
            client.create(wanted())
        assert len(server.writes) == 3


def test_a_host_that_another_client_takes_meanwhile_is_looked_up() -> None:
    with pangolin() as (server, client):
        client.catalogue.may_have(HOST)
        other = client_of(server)
        resource = other.create(wanted())
        assert client.create(wanted()) == resource
        assert len(server.store.resources) == 1


def test_a_second_create_of_one_client_looks_again() -> None:
    with pangolin(V1_22) as (_, client):
        resource = client.create(wanted())
        assert client.create(wanted()) == resource
        client.delete(resource)
        assert client.create(wanted()) == resource + 1


def test_of_two_resources_of_ours_one_stays() -> None:
    with pangolin(V1_22) as (server, client):
        unfinished = Caller(server).create(name=HOST)
        resource = Caller(server).create(name=HOST)
        Caller(server)("POST", f"/resource/{resource}", {"niceId": wanted().nice_id})
        assert client.create(wanted()) == resource
        assert unfinished not in server.store.resources


def test_a_target_whose_answer_is_lost_exists_once() -> None:
    with pangolin() as (server, client):
        server.inject(Fault("drop", effect=True, method="PUT", path="target"))
        client.create(wanted(targets=BOTH))
        assert rows(server) == [(wanted().nice_id, True, 2)]


def test_an_update_of_a_server_that_stays_busy_ends() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        server.inject(Fault("answer", method="POST", status=503, times=99))
        with fails(FailureClass.TEMPORARY, "with 503"):
            bring(client, resource, wanted(block=True))


def test_a_resource_that_is_deleted_during_an_update_is_gone() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        live = client.reader.live(resource)
        assert live
        server.store.delete_resource(resource)
        with pytest.raises(GoneError):
            client.update(live, wanted(block=True))
        server.inject(Fault("answer", method="POST", status=503, times=3))
        with pytest.raises(GoneError, match="was deleted meanwhile"):
            client.update(live, wanted(block=True))


def test_a_resource_that_is_deleted_before_it_is_taken_over_is_reported() -> None:
    with pangolin() as (server, client):
        Caller(server).create(name=HOST)
        server.inject(Fault("answer", status=404, path="/resource/1$", body={"message": "gone"}))
        with fails(FailureClass.TEMPORARY, "was deleted meanwhile"):
            client.create(wanted())


def test_a_target_that_someone_else_deletes_first_is_no_failure() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        live = client.reader.live(resource)
        assert live
        del server.store.targets[1]
        client.update(live, wanted(targets=(OTHER,)))
        assert list(server.store.targets) == [2]


def test_a_base_domain_that_makes_another_host_leaves_nothing() -> None:
    with pangolin() as (server, client):
        server.store.domains["domain1"]["baseDomain"] = "example.org"
        with fails(FailureClass.INVALID, "Pangolin made app.example.org of the host"):
            client.create(wanted())
        assert server.store.resources == {}


def test_a_create_with_an_answer_of_another_form_is_reported() -> None:
    with pangolin() as (server, client):
        server.inject(Fault("answer", status=201, method="PUT", body={"data": {}}))
        with fails(FailureClass.INVALID, "resourceId is not a number"):
            client.create(wanted())


def test_what_pangolin_would_serve_wrongly_is_refused_before_sending() -> None:
    bad = (Target(1, "2001:db8::1", 80, path="/x`", match="prefix"),)
    with pangolin() as (server, client):
        with fails(FailureClass.INVALID, "a backtick", "an IPv6 address"):
            client.create(wanted(targets=bad))
        resource = client.create(wanted())
        live = client.reader.live(resource)
        assert live
        with fails(FailureClass.INVALID, "a backtick"):
            client.update(live, wanted(targets=bad))
        assert len(server.store.targets) == 1


def test_a_missing_action_names_itself_and_where_to_tick_it() -> None:
    with pangolin() as (server, client):
        server.forbid("createTarget")
        with fails(FailureClass.AUTH, 'tick "Create Target"', "Organization > API Keys"):
            client.create(wanted(sso=False))
        assert server.reach(HOST) == "nothing"


def test_a_resource_that_was_edited_in_the_dashboard_is_repaired() -> None:
    with pangolin() as (server, client):
        resource = client.create(wanted())
        row = server.store.resources[resource]
        row.update(sso=False, name="mine", skipToIdpId=7, fullDomain="x.example.com")
        bring(client, resource, wanted())
        names = ("sso", "name", "skipToIdpId", "fullDomain")
        assert [row[name] for name in names] == [True, HOST, 7, HOST]


def test_a_conflict_of_the_marker_is_reported() -> None:
    with pangolin() as (server, client):
        other = Caller(server).create("other")
        Caller(server)("POST", f"/resource/{other}", {"niceId": wanted().nice_id})
        with pytest.raises(UnfinishedError, match="already exists") as caught:
            client.create(wanted())
        assert isinstance(caught.value.__cause__, ConflictError)


def test_a_create_whose_resource_is_deleted_meanwhile_leaves_none() -> None:
    with pangolin() as (server, client):
        server.inject(Fault("answer", method="POST", status=404, body={"message": "not found"}))
        with pytest.raises(GoneError, match="not found"):
            client.create(wanted())
