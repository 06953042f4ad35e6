"""Tests what `pulumi up` does when Ingresses are created, changed and deleted."""

import pytest

from pic.core.names import object_name
from tests.engine.answers import succeeded
from tests.engine.managed_fields import MANAGED_FIELDS
from tests.engine.stage import Stage


def test_an_ingress_becomes_an_object_whose_fields_pic_owns(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]

    answer = stage.up()

    name, host = stage.name, stage.host("www")
    assert answer == succeeded(("create", "cluster"), ("create", host))
    live = stage.object("www")
    managed = live["metadata"].pop("managedFields")
    for ephemeral in ("creationTimestamp", "resourceVersion", "uid"):
        del live["metadata"][ephemeral]
    assert live == {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {
            "name": object_name(name, "web", host),
            "namespace": name,
            "generation": 1,
            "labels": {
                "pic.ingress.k8s.io/name": "web",
                "pic.ingress.k8s.io/namespace": name,
                "pic.ingress.k8s.io/stack": f"pic.{name}",
                "pic.ingress.k8s.io/stack-id": stage.stack_id,
                "pic.ingress.k8s.io/uid": uid,
            },
            "annotations": {
                "pulumi.com/deletionPropagationPolicy": "background",
                "pulumi.com/patchFieldManager": "pic",
                "pulumi.com/patchForce": "true",
            },
            "ownerReferences": [
                {
                    "apiVersion": "networking.k8s.io/v1",
                    "kind": "Ingress",
                    "name": "web",
                    "uid": uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {
            "enabled": True,
            "name": host,
            "protocol": "http",
            "tunnelRef": {"name": "default", "namespace": name},
            "httpConfig": {
                "domainName": f"{name}.example",
                "domainId": "d1",
                "subdomain": "www",
                "sso": False,
                "blockAccess": False,
            },
            "targets": [
                {
                    "ip": f"app.{name}.svc.cluster.local",
                    "port": 80,
                    "method": "http",
                    "priority": 100,
                }
            ],
        },
    }
    metadata_fields = {
        **MANAGED_FIELDS["f:metadata"],
        "f:ownerReferences": {f'k:{{"uid":"{uid}"}}': {}},
    }
    assert [(entry["manager"], entry["operation"], entry["fieldsV1"]) for entry in managed] == [
        ("pic", "Apply", {**MANAGED_FIELDS, "f:metadata": metadata_fields})
    ]


@pytest.mark.parametrize("generation", ["targets", "target"])
def test_a_second_run_does_nothing(generation: str, request: pytest.FixtureRequest) -> None:
    stage: Stage = request.getfixturevalue("stage" if generation == "targets" else "other_stage")
    stage.ingress("web", "www", "shop", paths=["/", "/api"])
    assert stage.up().code == 0
    before = stage.objects()

    answer = stage.up()

    assert [generation in live["spec"] for live in before] == [True, True]
    assert (answer.code, answer.steps, answer.complaints) == (0, (), ())
    assert stage.objects() == before


def test_a_new_path_updates_the_object_in_place(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    uid = stage.object("www")["metadata"]["uid"]

    stage.ingress("web", "www", paths=["/", "/api"])
    answer = stage.up()

    live = stage.object("www")
    assert answer == succeeded(("update", stage.host("www")))
    assert (live["metadata"]["uid"], live["metadata"]["generation"]) == (uid, 2)
    assert [target.get("path") for target in live["spec"]["targets"]] == ["^/api(/|$)", None]


def test_a_host_that_its_ingress_drops_is_deleted(stage: Stage) -> None:
    stage.ingress("web", "www", "old")
    stage.up()

    stage.ingress("web", "www")

    assert stage.up() == succeeded(("delete", stage.host("old")))
    assert set(stage.identities()) == {stage.host("www")}


def test_a_recreated_ingress_gets_a_new_object_in_one_run(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    stage.delete_ingress("web")
    uid = stage.ingress("web", "www")["metadata"]["uid"]

    answer = stage.up()

    assert answer == succeeded(("create", stage.host("www")))
    assert stage.object("www")["metadata"]["ownerReferences"][0]["uid"] == uid


def test_after_the_deletion_of_an_ingress_nothing_is_left_to_do(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("other", "other")
    stage.up()
    stage.delete_ingress("web")

    assert stage.up() == succeeded()
    assert stage.remembered == [stage.host("other")]


def test_a_renamed_ingress_keeps_its_object(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.object("www")["metadata"]
    new = stage.ingress("renamed", "www")["metadata"]["uid"]

    stage.up()
    stage.delete_ingress("web", collected=False)
    answer = stage.up()

    after = stage.object("www")["metadata"]
    assert answer == succeeded(("update", stage.host("www")))
    assert (after["name"], after["uid"]) == (before["name"], before["uid"])
    assert [(owner["name"], owner["uid"]) for owner in after["ownerReferences"]] == [
        ("renamed", new)
    ]


def test_an_object_that_a_user_deletes_is_created_again(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.up()
    stage.cluster.delete("PangolinResource", stage.name, stage.object("shop")["metadata"]["name"])

    assert stage.up() == succeeded(("create", stage.host("shop")))
    assert set(stage.identities()) == {stage.host("shop"), stage.host("www")}


def test_an_object_that_a_user_changes_is_restored(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={"pangolin.ingress.k8s.io/sso": "true"})
    stage.up()
    before = stage.object("www")
    without_login = {"spec": {"httpConfig": {"sso": False}}}
    name = before["metadata"]["name"]
    stage.cluster.patch("PangolinResource", stage.name, name, without_login)

    answer = stage.up()

    after = stage.object("www")
    assert answer == succeeded(("update", stage.host("www")))
    assert after["spec"] == before["spec"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_labels_that_a_user_removes_are_restored(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.object("www")["metadata"]
    without_labels = {"metadata": {"labels": dict.fromkeys(before["labels"])}}
    stage.cluster.patch("PangolinResource", stage.name, before["name"], without_labels)

    answer = stage.up()

    after = stage.object("www")["metadata"]
    assert answer == succeeded(
        ("update", stage.host("www")),
        remarks=[
            f"LabelsRepaired: PangolinResource {stage.name}/{before['name']}: {stage.host('www')}:"
            " another client removed its labels: pic sets them again"
        ],
    )
    assert (after["labels"], after["uid"]) == (before["labels"], before["uid"])


def test_a_host_that_moves_to_another_namespace_never_has_two_objects(stage: Stage) -> None:
    other = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("stays", "stays")
    stage.ingress("web", "www", namespace=other)
    stage.up()
    stage.ingress("web", "www", class_name="nginx")
    stage.settings(maxRemovals=0, maxRemovalRatio=0)

    held = stage.up()
    stage.settings(maxMoves=1)
    answer = stage.up()

    host = stage.host("www")
    assert (held.code, held.steps) == (0, ())
    assert held.warnings[-1].startswith(
        f"2 changes held. Everything else is not affected:\n= {host} belongs to {stage.name}"
        f" (public), not {other} (public): Ingress {other}/web of another namespace claims it"
    )
    assert answer == succeeded(
        ("delete-replaced", host), ("replace", host), ("create-replacement", host)
    )
    assert (set(stage.identities()), set(stage.identities(other))) == (
        {stage.host("stays")},
        {host},
    )


def test_one_run_deploys_three_hundred_hosts(stage: Stage) -> None:
    for group in range(30):
        stage.ingress(f"web-{group}", *(f"h{group}-{number}" for number in range(10)))

    answer = stage.up(PULUMI_SKIP_CHECKPOINTS="true")

    wanted = {stage.host(f"h{group}-{number}") for group in range(30) for number in range(10)}
    assert (answer.code, answer.hosts("create") - {"cluster"}) == (0, wanted)
    assert set(stage.identities()) == wanted
