"""Tests which changes of hosts need an acknowledgement, and which never do."""

from dataclasses import replace

import pytest

from pic.core.held import Held, Verdict
from pic.core.model import Plan, Snapshot, Spec, Target
from pic.core.register import GoneBy
from pic.core.unread import Unreadable
from pic.settings.parse import Settings
from tests.support.memories import entry, register
from tests.support.tenants import cluster, held, ingress, live, places, plan, settled

HOSTS = [f"h{at:02}.example.com" for at in range(12)]
A, B = HOSTS[:2]
STAY = ingress("stays.example.com", name="stays")
STAYING = live("stays.example.com", ingress_name="stays")


def removing(count: int = 6, **fields: object) -> Snapshot:
    """Return a cluster whose Ingress requests none of these hosts any more."""
    lives = [replace(live(host), **fields) for host in HOSTS[:count]]  # type: ignore[arg-type]
    return cluster([STAY, ingress("x.example.com")], [STAYING, *lives], map(entry, HOSTS[:count]))


def reasons(planned: Plan) -> set[GoneBy | None]:
    assert planned.register is not None
    return {it.gone_by for it in planned.register.hosts.values() if it.host in HOSTS}


def test_more_removals_than_the_limit_are_held_as_they_are() -> None:
    planned = plan(removing())

    assert [(it.host, it.verdict, it.old) for it in planned.held] == [
        (host, Verdict.REMOVED, "prod (public)") for host in HOSTS[:6]
    ]
    assert [it.held for it in planned.resources] == [True] * 6 + [False] * 2
    assert plan(removing(5)).held == ()
    assert reasons(plan(removing(5))) == {GoneBy.PIC}


def test_a_held_host_gets_back_the_protection_that_a_user_has_taken_from_its_object() -> None:
    world = removing()
    entries = [entry(host, sso=True, block_access=True) for host in HOSTS[:6]]

    planned = plan(replace(world, registers={"pic.prod": register(entries)}))

    assert len(planned.held) == 6
    for resource in planned.resources[:6]:
        assert (resource.spec.http.sso, resource.spec.http.block_access) == (True, True)
    assert planned.register is not None
    assert [planned.register.hosts[host] for host in HOSTS[:6]] == entries


def test_an_acknowledged_removal_does_not_count_in_the_window() -> None:
    digests = ",".join(it.digest for it in plan(removing()).held)

    planned = plan(removing(), settled(acknowledge=digests))

    assert (planned.held, reasons(planned)) == ((), {GoneBy.ACKNOWLEDGED})


def test_what_kubernetes_collects_is_not_held_and_not_counted() -> None:
    world = replace(removing(), ingresses=(STAY,))

    planned = plan(world)

    assert (planned.held, reasons(planned)) == ((), {GoneBy.KUBERNETES})
    assert not planned.no_host_survives


def test_an_object_without_owners_is_not_collected() -> None:
    planned = plan(replace(removing(owners=()), ingresses=(STAY,)))

    assert len(planned.held) == 6


def test_an_object_of_an_ingress_that_cannot_be_read_is_not_collected() -> None:
    malformed = Unreadable("Ingress", "prod", "web", "wrong", "uid-prod-web")
    world = replace(removing(owners=()), ingresses=(STAY,), unreadable=(malformed,))

    planned = plan(replace(world, live=(*world.live, live(HOSTS[7]))))

    assert HOSTS[7] in places(planned)


@pytest.mark.parametrize("owned", [True, False])
def test_a_disabled_ingress_removes_as_many_hosts_as_it_has(*, owned: bool) -> None:
    off = ingress(*HOSTS, enabled="false")
    lives = [live(host, owned=owned) for host in HOSTS]

    planned = plan(cluster([STAY, off], [STAYING, *lives], map(entry, HOSTS)))

    assert (planned.held, reasons(planned)) == ((), {GoneBy.OWNER})
    alone = plan(cluster([off], lives, map(entry, HOSTS)))
    assert (alone.held, alone.no_host_survives) == ((), False)


def test_a_host_that_one_of_two_ingresses_still_enables_counts() -> None:
    off, on = ingress(*HOSTS, enabled="false"), ingress("y.example.com", name="other")
    owners = (*live(A).owners, *live(A, ingress_name="other").owners)
    lives = [replace(live(host), owners=owners) for host in HOSTS]

    assert len(plan(cluster([STAY, off, on], [STAYING, *lives], map(entry, HOSTS))).held) == 12


def test_a_preview_environment_is_removed_freely() -> None:
    planned = plan(removing(), settled(ephemeral=("pr*",)))

    assert (planned.held, reasons(planned)) == ((), {GoneBy.OWNER})


def test_before_the_first_register_the_live_hosts_count() -> None:
    many = replace(removing(), registers={})

    assert len(plan(many).held) == 6
    assert plan(many, settled(max_removals=6)).held == ()


def test_a_host_that_is_wanted_twice_is_judged_by_what_stays() -> None:
    twin = replace(live(A, "team"), owners=())
    world = cluster([ingress(A)], [live(A), twin])

    planned = plan(replace(world, registers=None), Settings())

    assert (places(planned), planned.held) == ({A: "prod"}, ())


def leading(count: int, **spec: object) -> Snapshot:
    """Return a cluster in which so many hosts lead elsewhere than their Ingress says."""
    lives = [
        replace(live(host), spec=replace(live(host).spec, **spec))  # type: ignore[arg-type]
        if at < count
        else live(host)
        for at, host in enumerate(HOSTS)
    ]
    return cluster([ingress(*HOSTS)], lives, map(entry, HOSTS))


OLD = (Target("old.prod.svc.cluster.local", 80, "http"),)
NEW = (Target("web.prod.svc.cluster.local", 80, "http"),)


def test_more_hosts_than_the_limit_led_elsewhere_are_held() -> None:
    planned = plan(leading(11, targets=OLD))

    assert plan(leading(10, targets=OLD)).held == ()
    assert planned.held == tuple(
        held(
            Verdict.RETARGETED,
            entry(host),
            ("old.prod.svc.cluster.local:80", "web.prod.svc.cluster.local:80"),
            "too many hosts would lead elsewhere in one run (pic:maxRetargeted)",
        )
        for host in HOSTS[:11]
    )
    assert [it.spec.targets for it in planned.resources] == [OLD] * 11 + [NEW]
    assert planned.notices[0].message == (
        f"{A} stays at old.prod.svc.cluster.local:80: too many hosts would lead elsewhere in one"
        " run (pic:maxRetargeted). This waits for an acknowledgement"
    )


def test_another_tunnel_of_the_same_namespace_leads_elsewhere_and_more_targets_do_not() -> None:
    settings = settled(max_retargeted=0, default_tunnel="edge")

    def verdicts(planned: Plan) -> set[Verdict]:
        return {it.verdict for it in planned.held}

    assert verdicts(plan(leading(0), settings)) == {Verdict.RETARGETED}
    assert verdicts(plan(leading(0), settled(max_retargeted=0))) == set()
    assert verdicts(plan(leading(12, targets=()), settled(max_retargeted=0))) == set()
    assert verdicts(plan(leading(12, tunnel=None), settled(max_retargeted=0))) == set()


def test_a_host_that_is_held_for_another_reason_leads_nowhere_else() -> None:
    world = leading(12, targets=OLD)
    broken = ingress(*HOSTS, backend_scheme="ftp")

    planned = plan(replace(world, ingresses=(broken,)), settled(max_retargeted=0))

    assert ({it.held for it in planned.resources}, planned.held) == ({True}, ())


def test_two_reasons_to_hold_a_host_are_both_told_and_the_login_stays() -> None:
    spec = {"targets": OLD, "http": replace(live(A).spec.http, sso=True)}

    planned = plan(leading(4, **spec), settled(max_retargeted=0))

    assert [(it.host, it.verdict) for it in planned.held if it.host == A] == [
        (A, Verdict.RETARGETED),
        (A, Verdict.WEAKENED),
    ]
    [resource, *_] = planned.resources
    assert (resource.spec.targets, resource.spec.http.sso) == (OLD, True)


def test_a_new_login_and_a_new_block_are_never_held() -> None:
    protecting = ingress(A, sso="true", block_access="true")

    planned = plan(cluster([protecting], [live(A)], [entry(A)]))

    [http] = [resource.spec.http for resource in planned.resources]
    assert (http.sso, http.block_access, planned.held) == (True, True, ())


def test_an_object_without_a_host_is_no_host() -> None:
    hostless = replace(live(A), host="", spec=Spec())

    planned = plan(
        cluster([STAY], [STAYING, hostless], [entry("stays.example.com", source="stays")])
    )

    assert (planned.held, planned.no_host_survives) == ((), False)


def test_digests_name_one_change_of_one_serial() -> None:
    world = cluster([ingress(A, B)], [live(A, sso=True), live(B, sso=True)], map(entry, (A, B)))

    def digests(snapshot: Snapshot) -> list[str]:
        return [it.digest for it in plan(snapshot).held]

    later = [entry(A, serial=2), entry(B)]
    again = [entry(A, since="2025-06-01T00:00:00Z"), entry(B)]
    first, second = digests(world)
    assert len({first, second}) == 2
    assert digests(cluster(world.ingresses, world.live, later)) != [first, second]
    assert digests(cluster(world.ingresses, world.live, later))[1] == second
    assert digests(cluster(world.ingresses, world.live, again))[0] != first
    assert digests(replace(world, cluster_id="cluster-2"))[0] != first


def test_a_held_change_names_the_ingress_that_would_make_it() -> None:
    orphan = replace(live(A), owners=())
    world = removing(6, owners=())

    waiting: list[Held] = list(plan(world).held)
    about = {notice.about for notice in plan(world).notices if notice.host in HOSTS}

    assert len(waiting) == 6
    assert {(it.kind, it.namespace, it.name) for it in about} == {
        ("PangolinResource", "prod", live(host).name) for host in HOSTS[:6]
    }
    assert orphan.name in {it.name for it in about}
