"""Tests what the attacker of the chaos run sends, and that the rest of its world stays clear."""

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from dev.chaos.attacker import (
    ACTIONS,
    ADDRESS,
    BULK_HOSTS,
    BULKS,
    INGRESSES,
    TUNNELS,
    Attacker,
    Loot,
)
from dev.chaos.judge import FORGED, HOSTILE
from dev.chaos.stage import FORBIDDEN
from dev.chaos.world import NAMESPACES, IngressSpec, World, manifest
from dev.controlplane.api import Api, RefusedError
from dev.controlplane.errors import ControlPlaneError

STACK = "pic.ingress.k8s.io/stack"
LABELS = {STACK: "pic.chaos", "pic.ingress.k8s.io/uid": "u", "pic.ingress.k8s.io/name": "web"}
VICTIM = {
    "metadata": {"name": "pic-chaos-a-web", "namespace": "chaos-a", "labels": LABELS},
    "spec": {
        "name": "x.chaos.example",
        "httpConfig": {"subdomain": "x", "domainName": "chaos.example", "sso": True},
    },
}
OWN = {"metadata": {"name": "mine", "labels": {"a": "b"}, "finalizers": ["f"]}, "spec": {}}


class FakeApi(Api):
    """An API server that records requests, and has one object of each kind.

    Outside the namespace of the attacker it forbids everything.
    """

    def __init__(self, *, conflict: bool = False) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.conflict = conflict

    def request(
        self, method: str, path: str, body: object = None, content: str = "application/json"
    ) -> dict[str, Any]:
        del content
        self.requests.append((method, path, json.loads(body) if isinstance(body, str) else body))
        if f"/namespaces/{HOSTILE}/" not in path:
            raise RefusedError(403, "forbidden")
        if method == "POST" and self.conflict:
            raise RefusedError(409, "it exists")
        return {"items": [OWN]} if method == "GET" else {}

    @property
    def writes(self) -> list[tuple[str, str, Any]]:
        return [request for request in self.requests if request[0] != "GET"]


def attacker(api: Api, seed: int = 1) -> Attacker:
    loot = Loot(forbidden=FORBIDDEN)
    loot.add([VICTIM], ["x.chaos.example"])
    return Attacker(api, random.Random(seed), loot)  # noqa: S311 - nothing secret


def all_of(action: Callable[[Attacker], None], *, conflict: bool = False) -> list[Any]:
    """Return what an action sends with many seeds, without repetitions."""
    api = FakeApi(conflict=conflict)
    for seed in range(40):
        action(attacker(api, seed))
    return [json.loads(text) for text in dict.fromkeys(map(json.dumps, api.writes))]


def test_the_same_seed_attacks_in_the_same_way() -> None:
    runs = []
    for _ in range(2):
        api = FakeApi()
        one = attacker(api)
        one.prepare()
        for _ in range(100):
            one.act()
        runs.append((api.requests, one.counts))

    assert runs[0] == runs[1]
    assert runs[0][1].total() == 100


@pytest.mark.parametrize(
    "action",
    [action for _, _, action in ACTIONS if action is not Attacker.trespass],
    ids=lambda action: action.__name__,
)
def test_every_action_stays_in_the_namespace_and_knows_what_to_do_without_loot(
    action: Callable[[Attacker], None],
) -> None:
    api = FakeApi()
    for seed in range(20):
        action(Attacker(api, random.Random(seed), Loot()))  # noqa: S311 - nothing secret
    requests = [*api.writes, *all_of(action)]

    assert requests
    assert {path.partition("/namespaces/")[2].partition("/")[0] for _, path, _ in requests} == {
        HOSTILE
    }


def test_a_trespass_is_forbidden_or_told() -> None:
    one = attacker(FakeApi())
    for _ in range(30):
        one.trespass()

    assert (one.answers, one.trespasses) == ({"forbidden": 30}, [])
    one.loot = Loot(forbidden=(f"{INGRESSES}/web",))
    one.trespass()
    assert one.trespasses == [f"{INGRESSES}/web: 200"]


def test_without_an_answer_the_attacker_goes_on() -> None:
    class Gone(FakeApi):
        def request(self, *_: object, **__: object) -> dict[str, Any]:
            raise ControlPlaneError("away")

    one = attacker(Gone())
    one.claim()
    one.remove()
    one.trespass()

    assert (one.answers, one.trespasses) == ({"no answer": 3}, [])


def test_01_claims_are_for_hosts_of_others_and_replace_what_exists() -> None:
    sent = all_of(Attacker.claim, conflict=True)

    assert {method for method, _, _ in sent} == {"POST", "PATCH"}
    hosts = {rule["host"] for _, _, body in sent for rule in body["spec"]["rules"]}
    assert hosts == {"x.chaos.example"}


def test_03_old_ingresses_get_hosts_of_others() -> None:
    hosts = [
        rule["host"] for _, _, body in all_of(Attacker.rehost) for rule in body["spec"]["rules"]
    ]

    assert "x.chaos.example" in hosts
    assert all(path.startswith(INGRESSES) for _, path, _ in all_of(Attacker.rehost))


def test_03_04_planted_objects_have_our_labels_or_those_of_the_go_controller_and_no_login() -> None:
    sent = all_of(Attacker.plant)

    labels = [body["metadata"]["labels"] for _, _, body in sent]
    go = {key: value for key, value in LABELS.items() if key != STACK}
    for expected in (LABELS, go, {**LABELS, STACK: "pic.other"}, {}):
        assert expected in labels
    assert {method for method, _, _ in sent} == {"POST"}
    assert {body["metadata"]["name"] for _, _, body in sent} == {"pic-chaos-a-web", "planted-1"}
    assert {body["spec"]["httpConfig"]["sso"] for _, _, body in sent} == {False}


def test_03_an_object_in_the_name_of_pic_is_marked_for_the_judge() -> None:
    forged = {
        path.partition("fieldManager=")[2]: body["metadata"]["annotations"]
        for _, path, body in all_of(Attacker.plant)
    }

    assert forged == {"attacker": {}, "pic": {FORGED: "true"}}


def test_05_labels_and_managers_are_removed() -> None:
    metadata = [body["metadata"] for _, _, body in all_of(Attacker.relabel)]

    assert {"labels": {"a": None}} in metadata
    assert {"labels": {"a": None, **LABELS}, "managedFields": [{}]} in metadata


def test_08_a_tunnel_has_the_bare_name_of_others() -> None:
    sent = all_of(Attacker.shadow_tunnel)

    assert {(method, path.partition("?")[0]) for method, path, _ in sent} == {
        ("POST", TUNNELS),
        ("PATCH", f"{TUNNELS}/default/status"),
        ("DELETE", f"{TUNNELS}/default"),
    }


def test_09_many_hosts_come_and_go_at_once() -> None:
    api = FakeApi()
    attacker(api).inflate()

    hosts = [rule["host"] for _, _, body in api.writes for rule in body["spec"]["rules"]]
    assert len(set(hosts)) == len(hosts) == BULKS * BULK_HOSTS == 150
    ways = [
        (method, tuple(sorted((body or {}).get("spec", (body or {}).get("metadata", {})))))
        for method, _, body in all_of(Attacker.deflate)
    ]
    assert set(ways) == {
        ("DELETE", ()),
        ("PATCH", ("annotations",)),
        ("PATCH", ("ingressClassName",)),
        ("POST", ("ingressClassName", "rules")),
    }


def test_16_dns_records_of_others_are_requested_with_another_address() -> None:
    annotations = [body["metadata"]["annotations"] for _, _, body in all_of(Attacker.redirect)]

    assert {
        "pihole.io/register": "true",
        "pihole.io/hosts": "x.chaos.example",
        "pihole.io/target-ip": ADDRESS,
    } in annotations
    assert {"pihole.io/managed-hosts": "x.chaos.example"} in annotations


def test_21_each_flood_causes_new_warnings() -> None:
    api = FakeApi()
    one = attacker(api)
    one.flood()
    one.flood()

    texts = [tuple(body["metadata"]["annotations"]) for _, _, body in api.writes]
    assert len(set(texts)) == len(texts) == 20


def test_23_an_object_that_is_being_deleted_stays_until_its_finalizer_is_released() -> None:
    api = FakeApi()
    one = attacker(api)

    one.stick()
    one.release()

    finalizers = [body["metadata"]["finalizers"] for _, _, body in api.writes if body]
    assert [method for method, _, _ in api.writes] == ["PATCH", "DELETE", "PATCH", "PATCH"]
    assert finalizers == [["chaos.example/stuck"], None, None]


def test_the_others_keep_their_namespaces_and_their_logins() -> None:
    world = World(FakeApi(), random.Random(1))  # noqa: S311 - nothing secret
    world.populate()
    homes: dict[str, str] = {}
    logins: set[str] = set()
    for _ in range(300):
        world.act()
        for (namespace, _), spec in world.specs.items():
            for host in spec.hosts:
                assert homes.setdefault(host, namespace) == namespace
                assert spec.login or host not in logins
                logins |= {host} if spec.login else set()

    assert set(homes.values()) == set(NAMESPACES)
    assert HOSTILE not in NAMESPACES


def test_the_manifest_of_an_ingress_has_what_it_asks_for() -> None:
    spec = IngressSpec(("x",), login=True, registered=True)

    assert manifest("web", spec)["metadata"]["annotations"] == {
        "pangolin.ingress.k8s.io/enabled": "true",
        "pangolin.ingress.k8s.io/sso": "true",
        "pangolin.ingress.k8s.io/block-access": "false",
        "pihole.io/register": "true",
    }


def test_the_world_knows_the_hosts_and_records_that_it_wants() -> None:
    specs = {
        ("chaos-a", "off"): IngressSpec(("x",), enabled=False, registered=True),
        ("chaos-a", "on"): IngressSpec(("y",)),
    }
    world = World(FakeApi(), random.Random(1), specs)  # noqa: S311 - nothing secret

    assert (world.wanted, world.wanted_records) == ({"y"}, {"x"})
