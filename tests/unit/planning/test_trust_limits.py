"""Tests the limits of what may go, move or lead elsewhere, and what acknowledges more.

The numbers are those of the attacks that the guard has to withstand (docs/promises.md).
"""

from dataclasses import replace

from pic.core.held import Verdict
from pic.core.model import LiveRecord
from pic.core.notices import Reason
from pic.core.register import GoneBy, RecordEntry, bucket_of
from pic.settings.parse import Settings, Tenants
from tests.support.memories import entry, register
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
OWNED = entry(A, sso=True)
WEAK = held(Verdict.WEAKENED, OWNED, ("login", "public"), "no Ingress asks for its login any more")
TOO_MANY = (
    "Ingress prod/web has no rule for it any more, but pic has removed as many hosts as it may"
    " (pic:maxRemovals, pic:removalWindow)"
)


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
