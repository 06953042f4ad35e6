"""Tests that nobody loses a host, a login or a record through another namespace.

The numbers are those of the attacks that the guard has to withstand (docs/promises.md).
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from pic.core.held import Verdict
from pic.core.ingress import Deletion
from pic.core.model import LiveRecord, TunnelRef
from pic.core.names import SEED_LABELS, STACK_LABEL
from pic.core.notices import Notice, Reason, Ref
from pic.core.register import GoneBy, RecordEntry, bucket_of
from pic.settings.parse import Settings, Tenants
from tests.support.memories import OURS, entry, register
from tests.support.tenants import (
    PIHOLE,
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
WEAK = held(Verdict.WEAKENED, OWNED, ("login", "public"), "no Ingress asks for its login any more")
TOO_MANY = "pic has removed as many hosts as it may (pic:maxRemovals, pic:removalWindow)"
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


def test_01_a_live_host_of_the_owner_stays_as_it_is() -> None:
    orphan = live(A, sso=True, owned=False)

    planned = plan(cluster([ATTACKER], [orphan], [OWNED]))

    [resource] = planned.resources
    assert (resource.key, resource.held, resource.spec) == (orphan.key, True, orphan.spec)
    assert planned.held == (MOVE,)


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


def bogus(count: int, namespace: str = "evil") -> list[str]:
    return [f"x{at}-{namespace}.example.com" for at in range(count)]


def test_09_bogus_hosts_of_one_namespace_raise_no_limit_of_another() -> None:
    victims = [f"v{at}.example.com" for at in range(30)]
    fakes = bogus(150)
    world = cluster(
        [ingress(B), ingress(*fakes, namespace="evil")],
        [live(host) for host in [*victims, B]] + [live(host, "evil") for host in fakes],
        [*(entry(host) for host in [*victims, B]), *(entry(host, "evil") for host in fakes)],
    )

    planned = plan(world)

    assert [(it.host, it.verdict, it.reason) for it in planned.held] == [
        (host, Verdict.REMOVED, TOO_MANY) for host in sorted(victims)
    ]
    assert len(planned.resources) == 181


def test_09_a_namespace_that_disables_its_own_hosts_keeps_nobody_from_deploying() -> None:
    fakes = bogus(150)
    world = cluster(
        [ingress(A, B), ingress(*fakes, namespace="evil", enabled="false")],
        [live(A)] + [live(host, "evil") for host in fakes],
        [entry(A), *(entry(host, "evil") for host in fakes)],
    )

    planned = plan(world)

    assert (places(planned), planned.held) == ({A: "prod", B: "prod"}, ())


RECORD = RecordEntry(f"{A}/A", "192.0.2.1", "prod", "Ingress/web", serial=1, since="t")
RECORDS = settled(targets=PIHOLE, pihole_target_ip="192.0.2.1")


def requesting(host: str, namespace: str, address: str, created: str) -> object:
    annotations = {
        "pihole.io/register": "true",
        "pihole.io/target-ip": address,
    }
    return replace(ingress(host, namespace=namespace, created=created), annotations=annotations)


def test_16_a_record_is_not_led_elsewhere_by_an_older_ingress_of_another_namespace() -> None:
    attacker = requesting(A, "evil", "6.6.6.6", "2024-01-01T00:00:00Z")
    owner = requesting(A, "prod", "192.0.2.1", "2025-01-01T00:00:00Z")
    records = [LiveRecord(A, "192.0.2.1", ours=True)]
    remembered = register((), [RECORD])

    both = plan(cluster([attacker, owner], (), remembered, records=records), RECORDS)  # type: ignore[list-item]
    alone = plan(cluster([attacker], (), remembered, records=records), RECORDS)  # type: ignore[list-item]

    assert [(it.host, it.ip) for it in both.records] == [(A, "192.0.2.1")]
    assert both.held == ()
    assert [(it.host, it.ip, it.held) for it in alone.records] == [(A, "192.0.2.1", True)]
    assert alone.held == (
        held(
            Verdict.MOVED,
            RECORD,
            ("prod (192.0.2.1)", "evil (6.6.6.6)"),
            "Ingress evil/web requests it",
        ),
    )


def test_17_removals_one_by_one_count_like_removals_at_once() -> None:
    hosts = [f"h{at:02}.example.com" for at in range(12)]
    tombstones = [entry(host, gone=RECENTLY, gone_by=GoneBy.PIC, serial=1) for host in hosts[:5]]
    staying = [entry(host) for host in hosts[5:]]
    world = cluster(
        [ingress(*hosts[6:])], [live(host) for host in hosts[5:]], [*tombstones, *staying]
    )

    planned = plan(world)

    assert planned.held == (held(Verdict.REMOVED, staying[0], ("prod (public)", ""), TOO_MANY),)
    assert places(planned) == dict.fromkeys(hosts[5:], "prod")
    # The window is a day, and the tombstones are half a day old.
    assert planned.next_change == "2026-01-02T12:00:00Z"
    later = replace(world, now="2026-01-02T12:00:00Z")
    assert (plan(later).held, len(plan(later).resources)) == ((), 6)


def test_18_a_used_digest_never_works_again() -> None:
    settings = settled(acknowledge=WEAK.digest)
    world = cluster([ingress(A)], [live(A, sso=True)], [OWNED])

    first = plan(world, settings)
    assert (first.held, first.notices) == ((), ())
    assert first.register is not None
    after = first.register.hosts[A]
    assert (after.sso, after.serial) == (False, 2)

    again = plan(cluster([ingress(A, sso="true")], [live(A)], first.register), settings)
    assert again.register is not None
    third = plan(cluster([ingress(A)], [live(A, sso=True)], again.register), settings)
    assert [it.digest for it in third.held] != [WEAK.digest]
    assert [(it.verdict, it.host) for it in third.held] == [(Verdict.WEAKENED, A)]
    assert Reason.ACKNOWLEDGEMENT_UNUSED in {notice.reason for notice in third.notices}
    assert bucket_of(A) in third.register.buckets if third.register else False


def test_19_no_login_goes_without_an_acknowledgement_unless_the_cluster_has_one_tenant() -> None:
    hosts = [f"h{at}.example.com" for at in range(5)]
    world = cluster(
        [ingress(*hosts)],
        [live(host, sso=True) for host in hosts],
        [entry(host, sso=True) for host in hosts],
    )

    def weakened(settings: Settings) -> int:
        return len(plan(world, settings).held)

    assert weakened(settled()) == 5
    assert weakened(settled(max_weakened=4)) == 5
    assert weakened(settled(max_weakened=5)) == 0
    assert weakened(settled(tenants=Tenants.ONE)) == 0
    assert weakened(settled(tenants=Tenants.ONE, max_removals=4, max_removal_ratio=0)) == 5


def test_19_a_deleted_ingress_that_asked_for_login_leaves_its_sibling_with_the_login() -> None:
    planned = plan(cluster([ingress(A, name="sibling")], [live(A, sso=True)], [OWNED]))

    assert [it.verdict for it in planned.held] == [Verdict.WEAKENED]
    assert [resource.spec.http.sso for resource in planned.resources] == [True]
