"""Tests that nobody loses a host, a login or a record through another namespace.

The numbers are those of the attacks that the guard has to withstand (docs/promises.md).
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from pic.core.held import Verdict
from pic.core.ingress import Deletion
from pic.core.model import TunnelRef
from pic.core.names import SEED_LABELS, STACK_LABEL
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import GoneBy, HostEntry
from pic.settings.parse import Tenants
from tests.support.memories import NOW, OURS, entry, register
from tests.support.tenants import (
    RECENTLY,
    cluster,
    held,
    ingress,
    live,
    places,
    plan,
    settled,
)

A, B, C = "a.example.com", "b.example.com", "c.example.com"
ATTACKER = ingress(A, namespace="evil", created="2024-01-01T00:00:00Z")
OWNED = entry(A, sso=True)
GONE = replace(OWNED, gone=RECENTLY, gone_by=GoneBy.KUBERNETES)
MOVE = held(
    Verdict.MOVED,
    OWNED,
    ("prod (login)", "evil (public)"),
    "Ingress evil/web of another namespace claims it",
)
NO_LOGIN = "no Ingress asks for its login any more: Ingress prod/web has no annotation sso"
WEAK = held(Verdict.WEAKENED, OWNED, ("login", "public"), NO_LOGIN)
RESERVED = Notice(
    Reason.HELD,
    Ref("Ingress", "evil", "web"),
    f"{A} is kept for prod (login): Ingress evil/web of another namespace claims it. This waits"
    " for an acknowledgement",
    A,
)


@pytest.mark.parametrize("remembered", [OWNED, GONE])
def test_01_a_host_without_its_object_is_not_exposed_in_another_namespace(
    remembered: object,
) -> None:
    planned = plan(cluster([ATTACKER], (), [remembered]))  # type: ignore[list-item]

    assert (planned.resources, planned.held, planned.notices) == ((), (MOVE,), (RESERVED,))


def test_01_the_owner_who_comes_back_gets_the_host_although_the_other_claim_is_older() -> None:
    planned = plan(cluster([ATTACKER, ingress(A, sso="true")], (), [GONE]))

    assert (places(planned), planned.held) == ({A: "prod"}, ())
    assert [notice.reason for notice in planned.notices] == [Reason.HOST_CONFLICT]


def test_01_a_host_that_its_owner_gives_up_goes_although_another_namespace_claims_it() -> None:
    stays = live(B, ingress_name="other")
    lives = [live(A, sso=True, owned=False), stays]
    entries = [OWNED, replace(entry(B), name=stays.name)]
    world = cluster([ingress(B, name="other"), ATTACKER], lives, entries)

    for settings in (settled(), settled(acknowledge=MOVE.digest)):
        expected = {B: "prod", A: "evil"} if settings.acknowledge else {B: "prod"}
        assert places(plan(world, settings)) == expected
    assert plan(world).held == (MOVE,)
    # The limit of removals counts it as without the claim.
    limited = plan(world, settled(max_removals=0, max_removal_ratio=0.0))
    assert places(limited) == {A: "prod", B: "prod"}
    assert [it.verdict for it in limited.held] == [Verdict.MOVED, Verdict.REMOVED]
    acknowledged = settled(acknowledge=MOVE.digest, max_removals=0, max_removal_ratio=0.0)
    assert (places(plan(world, acknowledged)), plan(world, acknowledged).held) == (
        {A: "evil", B: "prod"},
        (),
    )


@pytest.mark.parametrize("old", [None, replace(OWNED, gone="2025-01-01T00:00:00Z")])
def test_01_a_host_that_goes_is_reserved_also_if_the_register_did_not_know_it(
    old: HostEntry | None,
) -> None:
    stays = live(B, ingress_name="other")
    entries = [replace(entry(B), name=stays.name), *([old] if old else [])]
    world = cluster([ingress(B, name="other"), ATTACKER], [live(A, owned=False), stays], entries)

    planned = plan(world)

    assert (places(planned), [it.verdict for it in planned.held]) == ({B: "prod"}, [Verdict.MOVED])
    assert planned.register is not None
    reserved = planned.register.hosts[A]
    assert (reserved.namespace, reserved.gone) == ("prod", NOW)


def test_01_the_only_host_does_not_go_because_another_namespace_claims_it() -> None:
    planned = plan(cluster([ATTACKER], [live(A, sso=True, owned=False)], [OWNED]))

    assert (planned.no_host_survives, planned.held) == (True, (MOVE,))


def test_01_a_policy_or_an_acknowledgement_or_enough_time_permits_the_move() -> None:
    waiting = cluster([ATTACKER], (), [GONE])
    policy = settled(host_policy={"evil": (A,)})

    assert places(plan(waiting, policy)) == {A: "evil"}
    assert places(plan(waiting, settled(acknowledge=MOVE.digest))) == {A: "evil"}
    assert places(plan(waiting, settled(move_after=timedelta(hours=12)))) == {A: "evil"}
    assert places(plan(waiting, settled(move_after=timedelta(hours=13)))) == {}
    assert places(plan(waiting, settled(max_moves=1))) == {A: "evil"}
    assert places(plan(waiting, settled(tenants=Tenants.ONE))) == {A: "evil"}


@pytest.mark.parametrize("remembered", [OWNED, GONE])
def test_02_a_login_is_kept_however_its_ingress_went_and_came(remembered: object) -> None:
    planned = plan(cluster([ingress(A)], (), [remembered]))  # type: ignore[list-item]

    [resource] = planned.resources
    assert (resource.spec.http.sso, resource.held) == (True, False)
    assert planned.held == (WEAK,)


def test_02_login_and_block_are_held_together_and_one_of_them_alone() -> None:
    both = entry(A, sso=True, block_access=True)

    [everything] = plan(cluster([ingress(A)], [live(A, sso=True, block=True)], [both])).held
    [block] = plan(cluster([ingress(A, sso="true")], (), [both])).held

    assert (everything.old, everything.new) == ("login and access block", "public")
    assert (block.old, block.new) == ("access block", "login")


def test_02_a_login_that_only_the_live_object_has_is_kept() -> None:
    planned = plan(cluster([ingress(A)], [live(A, sso=True)], [entry(A)]))

    assert [(it.verdict, it.old) for it in planned.held] == [(Verdict.WEAKENED, "login")]
    assert [resource.spec.http.sso for resource in planned.resources] == [True]


def test_03_an_object_that_only_bears_our_labels_blocks_and_is_not_touched() -> None:
    stranger = replace(live(A, "evil"), name="mine")
    victim = live(A, sso=True)

    planned = plan(cluster([ingress(A, sso="true")], [victim, stranger], [OWNED]))

    [resource] = planned.resources
    assert (resource.key, resource.held, resource.spec.http.sso) == (victim.key, True, True)
    assert [notice.message for notice in planned.notices] == [
        f"PangolinResource evil/mine already exposes {A}, and it has the labels of this stack, but"
        " pic did not make it: delete it"
    ]
    assert planned.held == ()


def test_04_an_object_of_the_go_controller_blocks_its_host_and_no_other() -> None:
    seed = live(B, "evil", stack_id="")
    seed = replace(seed, labels={key: seed.labels[key] for key in SEED_LABELS})

    planned = plan(cluster([ingress(A, B)], [seed, live(A)], [entry(A)]))

    assert places(planned) == {A: "prod"}
    assert [(notice.reason, notice.host) for notice in planned.notices] == [
        (Reason.HOST_CONFLICT, B)
    ]
    assert not planned.no_host_survives


def test_05_an_object_without_labels_in_another_namespace_is_not_ours() -> None:
    stripped = replace(live(B, "other"), labels={}, managed=True)

    planned = plan(cluster([ingress(A)], [live(A), stripped], [entry(A)]))

    assert (places(planned), planned.held) == ({A: "prod"}, ())
    assert planned.register == register([entry(A)])


def test_06_the_objects_of_a_stack_with_our_name_and_another_id_are_not_ours() -> None:
    theirs = live(B, "team", stack_id="0b0b0b0b")

    planned = plan(cluster([ingress(A, B)], [live(A), theirs], [entry(A)]))

    assert places(planned) == {A: "prod"}
    assert [notice.message for notice in planned.notices] == [
        f"PangolinResource {theirs.namespace}/{theirs.name} already exposes {B}, and it belongs to"
        " another stack: remove the host there"
    ]


def test_07_hosts_outside_the_namespaces_stay_until_their_removal_is_acknowledged() -> None:
    entries = [entry(A), entry(B, "team", block_access=True)]
    world = cluster([ingress(A)], [live(A), live(B, "team", block=True)], entries)

    planned = plan(world, settled(namespaces=("prod",)))

    outside = held(
        Verdict.OUTSIDE,
        entries[1],
        ("team (access block)", ""),
        "pic:namespaces does not list team",
    )
    assert (places(planned), planned.held) == ({A: "prod", B: "team"}, (outside,))
    assert [notice.reason for notice in planned.notices] == [Reason.LEFT_OUTSIDE]
    digest = settled(namespaces=("prod",), acknowledge=outside.digest)
    assert places(plan(world, digest)) == {A: "prod"}


def test_07_a_plan_in_which_no_live_host_survives_is_marked_and_holds_no_removal() -> None:
    hosts = [f"h{at}.example.com" for at in range(5)]
    world = cluster(
        [ingress("new.example.com")],
        [live(host, owned=False, ingress_name="old") for host in hosts],
        [entry(host, source="old") for host in hosts],
    )

    planned = plan(world)

    assert (planned.no_host_survives, planned.held) == (True, ())
    assert places(planned) == {"new.example.com": "prod"}


def test_07_an_ingress_that_is_given_another_host_survives() -> None:
    for owned in (True, False):
        planned = plan(cluster([ingress(B)], [live(A, owned=owned)], [entry(A)]))

        assert (planned.no_host_survives, places(planned)) == (False, {B: "prod"})


def test_08_a_tunnel_in_another_namespace_is_a_move() -> None:
    elsewhere = ingress(A, tunnel_name="evil/default")
    remembered = entry(A, tunnel="net/default")
    before = live(A, tunnel=TunnelRef("default", "net"))
    world = cluster([elsewhere], [before], [remembered])
    settings = settled(tunnel_namespace="net", tunnel_namespaces=("evil",))

    planned = plan(world, settings)

    move = held(
        Verdict.MOVED,
        remembered,
        ("net/default", "evil/default"),
        "its new tunnel is in another namespace",
    )
    assert planned.held == (move,)
    assert [resource.spec.tunnel for resource in planned.resources] == [before.spec.tunnel]
    acknowledged = plan(world, replace(settings, acknowledge=move.digest))
    assert [it.spec.tunnel and it.spec.tunnel.namespace for it in acknowledged.resources] == [
        "evil"
    ]


def test_08_the_login_does_not_go_with_the_acknowledgement_of_another_tunnel() -> None:
    elsewhere = ingress(A, tunnel_name="evil/default")
    remembered = entry(A, sso=True, tunnel="net/default")
    before = live(A, sso=True, tunnel=TunnelRef("default", "net"))
    world = cluster([elsewhere], [before], [remembered])
    settings = settled(tunnel_namespace="net", tunnel_namespaces=("evil",))

    [move, weak] = plan(world, settings).held
    moved = plan(world, replace(settings, acknowledge=move.digest))
    gone = plan(cluster([elsewhere], (), [remembered]), settings)

    assert (move.verdict, weak.verdict) == (Verdict.MOVED, Verdict.WEAKENED)
    assert [(it.spec.tunnel, it.spec.http.sso) for it in moved.resources] == [
        (TunnelRef("default", "evil"), True)
    ]
    assert (gone.resources, gone.held) == ((), (move, weak))


def test_02_a_permitted_move_does_not_take_the_login_with_it() -> None:
    world = cluster([ATTACKER], (), [GONE])

    for settings in (
        settled(max_moves=1),
        settled(host_policy={"evil": (A,)}),
        settled(tenants=Tenants.ONE, max_weakened=0, move_after=timedelta(days=1)),
    ):
        [resource] = plan(world, settings).resources
        assert (resource.namespace, resource.spec.http.sso) == ("evil", True)


def test_02_an_object_that_is_taken_over_or_going_keeps_its_login() -> None:
    """The register does not have it yet, or never had it."""
    before = live(A, sso=True, stack_id="")
    seed = replace(before, labels={key: before.labels[key] for key in SEED_LABELS})
    earlier = replace(before, labels={**before.labels, STACK_LABEL: "pic.test"})
    going = replace(before, going=Deletion())
    taking_over = replace(OURS, adopt=True, earlier="pic.test")

    for current in (seed, earlier, going):
        planned = plan(cluster([ingress(A)], [current]), settled(adopt=True), taking_over)
        assert [resource.spec.http.sso for resource in planned.resources] == [True]
        assert [(it.verdict, it.old) for it in planned.held] == [(Verdict.WEAKENED, "login")]
