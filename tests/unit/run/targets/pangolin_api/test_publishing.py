"""Tests a stack that changes Pangolin itself, from the Ingress to the routes, without an engine."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pic.core.errors import FailureClass
from pic.core.held import Verdict
from pic.core.notices import Reason
from pic.core.register import Register
from pic.pangolin_api import naming
from pic.run.situation import Situation
from tests.support.api import STACK_ID, ingress
from tests.support.publishing import HOST, Publisher, publishing

OTHER = "shop.example.com"


@pytest.fixture
def publisher(tmp_path: Path) -> Iterator[Publisher]:
    with publishing(tmp_path) as publisher:
        publisher.ingresses(ingress("web", HOST))
        yield publisher


def reasons(situation: Situation) -> list[str]:
    return [str(notice.reason) for notice in situation.plan.notices]


def messages(situation: Situation, reason: Reason) -> list[str]:
    return [notice.message for notice in situation.plan.notices if notice.reason is reason]


def fields(situation: Situation) -> list[tuple[str, object, object]]:
    return [
        (field.path, field.old, field.new)
        for update in situation.changes.updated
        for field in update.fields
    ]


def with_path(name: str, path: str) -> dict[str, Any]:
    body = ingress(name, HOST)
    body["spec"]["rules"][0]["http"]["paths"][0]["path"] = path
    return body


def test_an_ingress_is_published_and_then_nothing_is_left_to_do(publisher: Publisher) -> None:
    first = publisher.deploy()

    assert [it.host for it in first.changes.created] == [HOST]
    assert publisher.server.reach(HOST) == "open"
    publisher.server.log.clear()
    again = publisher.situation()
    assert not again.changes.needs_run
    assert [str(entry).split(" -> ")[0] for entry in publisher.server.log] != []
    assert len(publisher.server.log) == 4
    assert publisher.server.writes == []


def test_a_login_is_added_and_its_loss_is_held(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.ingresses(ingress("web", HOST, sso="true"))

    assert fields(publisher.deploy()) == [("spec.httpConfig.sso", False, True)]
    assert publisher.server.reach(HOST) == "login"

    publisher.ingresses(ingress("web", HOST))
    held = publisher.deploy()
    assert [(it.host, it.verdict) for it in held.plan.held] == [(HOST, Verdict.WEAKENED)]
    assert publisher.server.reach(HOST) == "login"


def test_a_path_that_the_list_does_not_show_is_compared_by_reading_the_resource(
    publisher: Publisher,
) -> None:
    publisher.deploy()
    publisher.ingresses(with_path("web", "/docs"))

    situation = publisher.deploy()

    assert ("spec.targets[0].path", None, "^/docs(/|$)") in fields(situation)
    assert publisher.server.reach(HOST) == "nothing"
    assert publisher.server.reach(HOST, "/docs") == "open"
    assert not publisher.situation().changes.needs_run


def test_a_removed_host_is_gone_and_the_register_reserves_it(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST), ingress("shop", OTHER))
    publisher.deploy()
    publisher.ingresses(ingress("shop", OTHER))

    situation = publisher.deploy()

    assert [live.host for live in situation.changes.removed] == [HOST]
    assert [publisher.server.reach(host) for host in (HOST, OTHER)] == ["nothing", "open"]


def test_the_last_host_is_not_removed_without_a_word(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.ingresses()

    assert publisher.situation().changes.no_host_survives


def test_what_the_dashboard_changed_is_set_again(publisher: Publisher) -> None:
    publisher.deploy()
    number = publisher.id_of()
    changed = {"enabled": False, "name": "Renamed", "sso": True}
    publisher.server.ask("POST", f"/resource/{number}", changed)

    situation = publisher.situation()

    assert fields(situation) == [
        ("spec.enabled", False, True),
        ("spec.name", "Renamed", HOST),
    ]
    assert [it.verdict for it in situation.plan.held] == [Verdict.WEAKENED]


def test_only_a_full_look_finds_a_block_of_the_dashboard(publisher: Publisher) -> None:
    publisher.deploy()
    number = publisher.id_of()
    publisher.server.ask("POST", f"/resource/{number}", {"blockAccess": True})

    assert not publisher.situation().changes.needs_run
    [live] = publisher.situation(everything=True).snapshot.live
    assert (live.shallow, live.spec.http.block_access) == (False, True)


def test_a_resource_that_is_deleted_in_the_dashboard_is_made_again(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.client.delete(publisher.id_of())

    assert [it.host for it in publisher.deploy().changes.created] == [HOST]
    assert publisher.server.reach(HOST) == "open"


def test_without_a_register_the_oldest_ingress_has_the_host(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.remember(Register())

    situation = publisher.situation()

    assert (situation.changes.created, situation.changes.updated) == ((), ())
    assert [live.namespace for live in situation.snapshot.live] == ["prod"]
    assert [it.import_id for it in publisher.declarations(situation)] == [str(publisher.id_of())]


def test_a_resource_of_ours_that_nothing_asks_for_is_found_without_a_register(
    publisher: Publisher,
) -> None:
    publisher.ingresses(ingress("web", HOST), ingress("shop", OTHER))
    publisher.deploy()
    publisher.remember(Register())
    publisher.ingresses(ingress("web", HOST))

    assert [live.host for live in publisher.situation().changes.removed] == [OTHER]


def test_what_a_killed_create_left_is_taken_up(publisher: Publisher) -> None:
    publisher.remember(publisher.situation().plan.register)
    publisher.server.ask(
        "PUT",
        "/org/home/resource",
        {
            "name": HOST,
            "http": True,
            "protocol": "tcp",
            "domainId": publisher.server.domain_id,
            "subdomain": "web",
        },
    )

    situation = publisher.deploy()

    assert (situation.plan.held, len(situation.changes.updated)) == ((), 1)
    assert (publisher.server.reach(HOST), len(publisher.server.store.resources)) == ("open", 1)


def test_a_second_resource_of_a_host_is_deleted(publisher: Publisher) -> None:
    publisher.deploy()
    first = publisher.server.store.resources[publisher.id_of()]
    nice = f"{naming.prefix('prod', STACK_ID)}another"
    publisher.server.store.resource(
        "home", name=HOST, niceId=nice, fullDomain=HOST, domainId=first["domainId"]
    )

    situation = publisher.situation()

    assert [live.spec.name for live in situation.changes.removed] == [HOST]
    assert situation.changes.removed[0].published != first["resourceId"]


def test_the_host_of_someone_else_is_refused_with_the_name_of_the_resource(
    publisher: Publisher,
) -> None:
    publisher.server.store.resource("home", name="By hand", niceId="by-hand", fullDomain=HOST)

    situation = publisher.situation()

    assert situation.plan.resources == ()
    assert messages(situation, Reason.HOST_CONFLICT) == [
        f"the resource 'By hand' (by-hand) of Pangolin already exposes {HOST}, and pic did not make"
        " it: delete it in the dashboard of Pangolin, or use another host"
    ]


def test_two_stacks_do_not_touch_each_other(publisher: Publisher) -> None:
    publisher.deploy()
    nice = naming.nice_id("staging", "11111111", OTHER)
    publisher.server.store.resource("home", name=OTHER, niceId=nice, fullDomain=OTHER)
    publisher.ingresses(ingress("web", HOST, OTHER))

    situation = publisher.situation()

    assert situation.changes.removed == ()
    assert [it.host for it in situation.plan.resources] == [HOST]
    assert messages(situation, Reason.HOST_CONFLICT) == [
        f"the resource '{OTHER}' ({nice}) of Pangolin already exposes {OTHER}, and another stack of"
        " pic made it: remove the host there"
    ]


def test_a_host_that_no_verified_domain_covers_is_not_published(publisher: Publisher) -> None:
    publisher.server.store.domain("home", "example.org", verified=False)
    publisher.server.store.domain("home", "one.example.net", "cname")
    publisher.ingresses(
        ingress("web", HOST, "a.example.org", "one.example.net", "b.one.example.net")
    )

    situation = publisher.deploy()

    assert [it.host for it in situation.plan.resources] == ["one.example.net", HOST]
    assert [text.split("(")[0] for text in messages(situation, Reason.DOMAIN_NOT_VERIFIED)] == [
        "no verified base domain of organisation home covers a.example.org ",
        "no verified base domain of organisation home covers b.one.example.net ",
    ]
    assert publisher.server.reach("one.example.net") == "open"


def test_a_live_host_stays_while_its_domain_is_not_verified(publisher: Publisher) -> None:
    publisher.deploy()
    publisher.server.store.domains[publisher.server.domain_id]["verified"] = False

    situation = publisher.situation()

    assert (bool(situation.changes), [it.held for it in situation.plan.resources]) == (
        False,
        [True],
    )
    assert "it stays as it is" in messages(situation, Reason.DOMAIN_NOT_VERIFIED)[0]


def test_a_tunnel_is_a_site(publisher: Publisher) -> None:
    publisher.server.store.site("home", "Cellar", online=False)
    publisher.server.store.site("home", "Twin")
    twin = publisher.server.store.site("home", "Twin")
    publisher.server.store.sites[twin]["niceId"] = "twin-2"
    publisher.server.store.sites[twin - 1]["niceId"] = "twin-1"
    publisher.ingresses(
        ingress("named", "a.example.com", tunnel_name="Cellar"),
        ingress("unknown", "b.example.com", tunnel_name="attic"),
        ingress("placed", "c.example.com", tunnel_name="pangolin/home"),
        ingress("twin", "d.example.com", tunnel_name="Twin"),
    )

    situation = publisher.deploy()

    assert [it.host for it in situation.plan.resources] == ["a.example.com"]
    assert messages(situation, Reason.TUNNEL_NOT_READY) == [
        "site cellar is offline: its hosts are published, but do not answer until it is online"
    ]
    assert sorted(messages(situation, Reason.TUNNEL_NOT_FOUND)) == [
        "organisation home has no site 'attic': create it in the dashboard of Pangolin, or correct"
        " the name; the niceIds of its sites are cellar, home, twin-1, twin-2",
        "several sites of organisation home are named 'Twin': use one of their niceIds, twin-1,"
        " twin-2",
        "tunnel pangolin/home names a namespace, but the sites of Pangolin are in none: name the"
        " site alone",
    ]


def test_a_host_whose_site_is_gone_stays(publisher: Publisher) -> None:
    publisher.deploy()
    row = publisher.server.store.sites.pop(publisher.server.site_id)
    publisher.server.store.site("home", "Other")

    situation = publisher.situation()

    assert ([it.held for it in situation.plan.resources], bool(situation.changes)) == (
        [True],
        False,
    )
    [declaration] = publisher.declarations(situation)
    assert f"'siteId': {row['siteId']}" in str(declaration.inputs)


def test_hosts_stay_as_they_are_while_pangolin_does_not_answer(publisher: Publisher) -> None:
    publisher.deploy()
    before = publisher.situation()
    publisher.server.die("a test")

    situation = publisher.situation()

    assert [it.kind for it in situation.unread_targets.values()] == [FailureClass.TEMPORARY]
    assert (situation.plan.resources, situation.changes.needs_run) == ((), False)
    assert situation.plan.register == before.plan.register


def test_h2c_is_forwarded(publisher: Publisher) -> None:
    publisher.ingresses(ingress("web", HOST))
    body = {
        "metadata": {"name": "web", "namespace": "prod"},
        "spec": {"ports": [{"port": 80, "appProtocol": "kubernetes.io/h2c"}]},
    }
    publisher.api.set_objects("/api/v1/services", body)

    publisher.deploy()

    [target] = publisher.server.store.targets.values()
    assert target["method"] == "h2c"


def test_a_host_of_an_operator_is_refused(publisher: Publisher) -> None:
    publisher.api.set_objects(
        "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources",
        {
            "metadata": {"namespace": "prod", "name": "theirs", "uid": "1"},
            "spec": {"httpConfig": {"domainName": "example.com", "subdomain": "web"}},
        },
    )

    situation = publisher.situation()

    assert situation.plan.resources == ()
    assert "PangolinResource prod/theirs already exposes" in str(
        messages(situation, Reason.HOST_CONFLICT)
    )


@pytest.mark.parametrize("status", [403, 404])
def test_the_crd_of_an_operator_is_not_needed(publisher: Publisher, status: int) -> None:
    path = "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources"
    publisher.api.refuse(path, status, "no")

    assert [it.host for it in publisher.situation().changes.created] == [HOST]
