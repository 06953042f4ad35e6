"""Tests that a plan says what became of every Ingress and of each of its hosts."""

from dataclasses import replace

import pytest

from pic.core.ingress import Deletion, Ingress, Rule
from pic.core.model import LiveRecord, LiveResource, Plan, Snapshot
from pic.core.sources import Ending
from pic.core.unread import Unreadable
from pic.planning.dns_requests import REGISTER, TARGET_IP
from pic.planning.trail import FullTrail
from pic.settings.parse import Settings, TargetName
from tests.support.memories import entry
from tests.support.tenants import PIHOLE, cluster, ingress, live, plan, settled

A, B = "a.example.com", "b.example.com"


def planned(
    *ingresses: Ingress, objects: tuple[LiveResource, ...] = (), **settings: object
) -> Plan:
    known = [entry(it.host, namespace=it.namespace) for it in objects]
    return accounted(cluster(ingresses, objects, known), settled(**settings))


def accounted(snapshot: Snapshot, settings: Settings | None = None) -> Plan:
    return plan(snapshot, settings, trail=FullTrail())


def endings(result: Plan) -> dict[str, tuple[Ending, str]]:
    """Return the ending of each Ingress, and the reason for what is not exposed."""
    return {str(it.about): (it.ending, str(it.stop.reason)) for it in result.sources}


def test_every_ingress_has_a_row_whatever_its_class_is() -> None:
    result = planned(
        ingress(A),
        replace(ingress(B, name="other"), class_name="nginx"),
        replace(ingress(B, name="near"), class_name="pangolim"),
        replace(ingress(B, name="none"), class_name=""),
        ingress(B, name="off", enabled="false"),
        ingress("*.example.com", name="wild"),
        ingress(A, namespace="later", created="2025-06-01T00:00:00Z"),
        ingress(name="empty"),
    )

    assert endings(result) == {
        "later/web": (Ending.REFUSED, "HostConflict"),
        "prod/empty": (Ending.REFUSED, "NoRules"),
        "prod/near": (Ending.IGNORED, "MisspeltClass"),
        "prod/none": (Ending.IGNORED, "NoClass"),
        "prod/off": (Ending.IGNORED, "Disabled"),
        "prod/other": (Ending.IGNORED, "OtherClass"),
        "prod/web": (Ending.EXPOSED, ""),
        "prod/wild": (Ending.REFUSED, "InvalidHost"),
    }


def test_an_ingress_with_one_exposed_host_is_exposed_and_says_why_the_other_is_not() -> None:
    (source,) = planned(ingress("*.example.com", A)).sources

    assert (source.ending, source.stop.reason) == (Ending.EXPOSED, "InvalidHost")
    assert [(fate.host, fate.ending) for fate in source.hosts] == [
        ("*.example.com", Ending.REFUSED),
        (A, Ending.EXPOSED),
    ]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"tunnel_name": "not a tunnel"}, "TunnelNotFound"),
        ({"path_regex": "perhaps"}, "InvalidAnnotation"),
        ({"subdomain": "a b"}, "InvalidAnnotation"),
    ],
)
def test_what_stops_a_new_host_holds_a_live_one(options: dict[str, str], reason: str) -> None:
    new = planned(ingress(A, **options))
    existing = planned(ingress(A, **options), objects=(live(A),))

    assert endings(new) == {"prod/web": (Ending.REFUSED, reason)}
    assert endings(existing) == {"prod/web": (Ending.HELD, reason)}


def test_a_change_that_the_guard_holds_is_held() -> None:
    result = planned(ingress(A), objects=(live(A, sso=True),))

    assert endings(result) == {"prod/web": (Ending.HELD, "weakened")}


def test_a_rule_without_paths_is_refused() -> None:
    bare = replace(ingress(), rules=(Rule(A),))

    assert endings(planned(bare)) == {"prod/web": (Ending.REFUSED, "NoPaths")}


def test_an_ingress_that_cannot_be_read_is_refused_or_held() -> None:
    broken = Unreadable("Ingress", "prod", "web", "spec must be a map", uid="uid-prod-web")
    new = replace(cluster([]), unreadable=(broken, replace(broken, kind="Service")))
    existing = replace(cluster([], [live(A)], [entry(A)]), unreadable=(broken,))

    assert endings(accounted(new)) == {"prod/web": (Ending.REFUSED, "InvalidObject")}
    assert endings(accounted(existing)) == {"prod/web": (Ending.HELD, "InvalidObject")}


def test_a_plan_without_a_full_trail_accounts_for_no_ingress() -> None:
    snapshot = cluster([ingress(A)])

    assert plan(snapshot).sources == ()
    assert plan(snapshot) == accounted(snapshot)


def registered(
    *hosts: str, name: str = "web", created: str = "2025-01-01T00:00:00Z", **annotations: str
) -> Ingress:
    """Return an Ingress of another class that requests DNS records."""
    bare = replace(ingress(*hosts, name=name, created=created), class_name="nginx")
    return replace(bare, annotations={REGISTER: "true", **annotations})


def test_a_stack_with_dns_records_only_accounts_for_every_ingress() -> None:
    records = [LiveRecord("held.lan", "192.0.2.9", ours=True), LiveRecord("other.lan", "192.0.2.9")]
    snapshot = cluster(
        [
            registered("a.lan", name="good"),
            registered("a.lan", name="late", created="2026-01-01T00:00:00Z", **{TARGET_IP: "::1"}),
            registered("b.lan", name="unknown", **{TARGET_IP: "x"}),
            registered("held.lan", name="waits", **{TARGET_IP: "x"}),
            registered("other.lan", name="taken"),
            registered("*.lan", name="wild"),
            registered(name="empty"),
            registered("c.lan", name="unclear", **{REGISTER: "perhaps"}),
            replace(ingress(A, name="none"), class_name="nginx"),
        ],
        records=records,
    )

    result = accounted(snapshot, settled(targets=PIHOLE, pihole_target_ip="192.0.2.1"))

    assert endings(result) == {
        "prod/empty": (Ending.REFUSED, "NoHosts"),
        "prod/good": (Ending.EXPOSED, ""),
        "prod/late": (Ending.REFUSED, "InvalidTargetIP"),
        "prod/none": (Ending.IGNORED, "NoRecordsRequested"),
        "prod/taken": (Ending.REFUSED, "RecordConflict"),
        "prod/unclear": (Ending.REFUSED, "InvalidAnnotation"),
        "prod/unknown": (Ending.REFUSED, "InvalidTargetIP"),
        "prod/waits": (Ending.HELD, "InvalidTargetIP"),
        "prod/wild": (Ending.REFUSED, "InvalidHost"),
    }


def test_an_ingress_of_another_class_with_a_record_is_exposed() -> None:
    both = (TargetName.PANGOLIN, TargetName.PIHOLE)
    snapshot = cluster([registered("a.lan"), registered("b.lan", name="x", **{REGISTER: "false"})])

    result = accounted(snapshot, settled(targets=both, pihole_target_ip="192.0.2.1"))

    assert endings(result) == {
        "prod/web": (Ending.EXPOSED, ""),
        "prod/x": (Ending.IGNORED, "OtherClass"),
    }


def test_the_later_of_two_requests_for_other_addresses_is_refused() -> None:
    late = registered("a.lan", name="late", created="2026-01-01T00:00:00Z")
    late = replace(late, annotations={**late.annotations, TARGET_IP: "192.0.2.7"})
    snapshot = cluster([registered("a.lan"), late])

    result = accounted(snapshot, settled(targets=PIHOLE, pihole_target_ip="192.0.2.1"))

    assert endings(result) == {
        "prod/late": (Ending.REFUSED, "HostConflict"),
        "prod/web": (Ending.EXPOSED, ""),
    }


def test_an_ingress_that_goes_while_another_one_has_the_host_is_refused() -> None:
    going = replace(ingress(A, name="going"), going=Deletion("2026-01-01T00:00:00Z"))

    result = planned(going, ingress(A))

    assert endings(result) == {
        "prod/going": (Ending.REFUSED, "BeingDeleted"),
        "prod/web": (Ending.EXPOSED, ""),
    }
