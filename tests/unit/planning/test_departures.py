"""Tests that each host that goes, and each protection that is lost, has its reason."""

from dataclasses import replace

import pytest

from pic.core.ingress import Ingress
from pic.core.model import LiveRecord, Plan
from pic.core.register import RecordEntry
from pic.core.unread import Unreadable
from pic.planning.dns_requests import REGISTER, TARGET_IP
from tests.support.memories import entry, register
from tests.support.tenants import PIHOLE, cluster, ingress, live, plan, settled

A, B = "a.example.com", "b.example.com"
LIVE = live(A)
CLASSES = "its class is nginx, and pic exposes only the classes pangolin, pangolin-*"


def planned(*ingresses: Ingress, sso: bool = False, **settings: object) -> Plan:
    objects = [live(A, sso=sso)]
    return plan(cluster(ingresses, objects, [entry(A, sso=sso)]), settled(**settings))


@pytest.mark.parametrize(
    ("ingresses", "why"),
    [
        ([], "Ingress prod/web is gone"),
        ([ingress(B)], "Ingress prod/web has no rule for it any more"),
        (
            [ingress(A, enabled="false")],
            "Ingress prod/web does not count: its annotation pangolin.ingress.k8s.io/enabled is"
            " false",
        ),
        (
            [replace(ingress(A), class_name="nginx", origin="web.yaml:3")],
            f"Ingress prod/web does not count: {CLASSES} (pic does not know which class it had)"
            " (web.yaml:3)",
        ),
    ],
)
def test_the_owner_of_an_object_says_why_it_goes(ingresses: list[Ingress], why: str) -> None:
    assert planned(*ingresses).departures == {LIVE.key: why}


def test_a_policy_is_a_reason() -> None:
    result = planned(ingress(A), host_policy={"prod": (B,)})

    assert result.departures == {
        LIVE.key: f"Ingress prod/web does not get it: {A} is not allowed in namespace prod:"
        f" pic:hostPolicy allows {B} there"
    }


def test_a_namespace_that_the_stack_gives_up_is_a_reason() -> None:
    result = planned(namespaces=("apps",))

    assert result.departures == {LIVE.key: "pic:namespaces does not list prod"}


def test_a_host_that_stays_has_no_reason() -> None:
    assert planned(ingress(A)).departures == {}


@pytest.mark.parametrize(
    ("options", "says"),
    [({}, "has no annotation sso"), ({"sso": "false"}, "sets sso to false")],
)
def test_the_ingress_says_why_a_login_is_lost(options: dict[str, str], says: str) -> None:
    result = planned(replace(ingress(A, **options), origin="web.yaml:3"), sso=True)

    (held,) = result.held
    assert result.weakenings == {A: f"Ingress prod/web {says} (web.yaml:3)"}
    assert held.reason == f"no Ingress asks for its login any more: Ingress prod/web {says}"


RECORD = LiveRecord("nas.lan", "192.0.2.1", ours=True)
REMEMBERED = RecordEntry("nas.lan/A", "192.0.2.1", "prod", "Ingress/web")


def requesting(*hosts: str, **annotations: str) -> Ingress:
    return replace(ingress(*hosts), annotations={REGISTER: "true", **annotations})


@pytest.mark.parametrize(
    ("ingresses", "remembered", "settings", "why"),
    [
        ([], [REMEMBERED], {}, "Ingress prod/web is gone"),
        ([], [], {}, "no Ingress requests it"),
        ([], [REMEMBERED], {"namespaces": ("apps",)}, "pic:namespaces does not list prod"),
        (
            [requesting("tv.lan")],
            [REMEMBERED],
            {},
            "Ingress prod/web does not request it any more",
        ),
        (
            [requesting("nas.lan")],
            [REMEMBERED],
            {"host_policy": {"prod": ("tv.lan",)}},
            "Ingress prod/web does not get it: nas.lan is not allowed in namespace prod:"
            " pic:hostPolicy allows tv.lan there",
        ),
    ],
)
def test_the_owner_of_a_record_says_why_it_goes(
    ingresses: list[Ingress], remembered: list[RecordEntry], settings: dict[str, object], why: str
) -> None:
    snapshot = cluster(ingresses, (), register((), remembered), records=[RECORD])

    result = plan(snapshot, settled(targets=PIHOLE, pihole_target_ip="192.0.2.1", **settings))

    assert result.departures == {RECORD.key: why}


def test_a_record_that_stays_has_no_reason() -> None:
    kept = requesting("nas.lan", **{TARGET_IP: "192.0.2.7"})
    snapshot = cluster([kept], (), register((), [REMEMBERED]), records=[RECORD])

    assert plan(snapshot, settled(targets=PIHOLE)).departures == {}


def test_a_host_whose_ingress_cannot_be_read_loses_nothing_and_has_no_reason() -> None:
    broken = Unreadable("Ingress", "prod", "web", "spec must be a map", uid="uid-prod-web")
    taken = replace(ingress(A, name="other", created="2024-01-01T00:00:00Z"))
    snapshot = replace(
        cluster([taken], [live(A, sso=True)], [entry(A, sso=True)]), unreadable=(broken,)
    )

    assert plan(snapshot).weakenings == {}
