"""From an Ingress to its objects and back: what one `pulumi up` after another does."""

import pytest

from pic.core.names import object_name
from tests.engine.answers import done
from tests.engine.stage import Object, Stage

MANAGED: Object = {
    "f:metadata": {
        "f:annotations": {
            "f:pulumi.com/deletionPropagationPolicy": {},
            "f:pulumi.com/patchFieldManager": {},
            "f:pulumi.com/patchForce": {},
        },
        "f:labels": {
            "f:pic.ingress.k8s.io/name": {},
            "f:pic.ingress.k8s.io/namespace": {},
            "f:pic.ingress.k8s.io/stack": {},
            "f:pic.ingress.k8s.io/uid": {},
        },
    },
    "f:spec": {
        "f:enabled": {},
        "f:httpConfig": {"f:blockAccess": {}, "f:domainName": {}, "f:sso": {}, "f:subdomain": {}},
        "f:name": {},
        "f:protocol": {},
        "f:targets": {},
        "f:tunnelRef": {"f:name": {}, "f:namespace": {}},
    },
}


def test_an_ingress_becomes_an_object_of_which_pic_owns_every_field(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]

    answer = stage.up()

    name, host = stage.name, stage.host("www")
    assert answer == done(("create", "cluster"), ("create", host))
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
    owned = {**MANAGED["f:metadata"], "f:ownerReferences": {f'k:{{"uid":"{uid}"}}': {}}}
    assert [(it["manager"], it["operation"], it["fieldsV1"]) for it in managed] == [
        ("pic", "Apply", {**MANAGED, "f:metadata": owned})
    ]


@pytest.mark.parametrize("generation", ["targets", "target"])
def test_a_second_run_does_nothing_with_either_generation_of_the_crd(
    generation: str, request: pytest.FixtureRequest
) -> None:
    stage: Stage = request.getfixturevalue("stage" if generation == "targets" else "other_stage")
    stage.ingress("web", "www", "shop", paths=["/", "/api"])
    assert stage.up().code == 0
    before = stage.objects()

    answer = stage.up()

    assert [generation in it["spec"] for it in before] == [True, True]
    assert (answer.code, answer.steps, answer.complaints) == (0, (), ())
    assert stage.objects() == before


def test_a_new_path_changes_the_object_in_place(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    uid = stage.object("www")["metadata"]["uid"]

    stage.ingress("web", "www", paths=["/", "/api"])
    answer = stage.up()

    live = stage.object("www")
    assert answer == done(("update", stage.host("www")))
    assert (live["metadata"]["uid"], live["metadata"]["generation"]) == (uid, 2)
    assert [it.get("path") for it in live["spec"]["targets"]] == ["^/api(/|$)", None]


def test_a_host_that_leaves_its_ingress_is_deleted(stage: Stage) -> None:
    stage.ingress("web", "www", "old")
    stage.up()

    stage.ingress("web", "www")

    assert stage.up() == done(("delete", stage.host("old")))
    assert set(stage.identities()) == {stage.host("www")}


def test_an_ingress_that_was_made_again_gets_a_new_object_in_one_clean_run(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    stage.delete_ingress("web")
    uid = stage.ingress("web", "www")["metadata"]["uid"]

    answer = stage.up()

    assert answer == done(("create", stage.host("www")))
    assert stage.object("www")["metadata"]["ownerReferences"][0]["uid"] == uid


def test_a_deleted_ingress_leaves_nothing_to_do(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("other", "other")
    stage.up()
    stage.delete_ingress("web")

    assert stage.up() == done()
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
    assert answer == done(("update", stage.host("www")))
    assert (after["name"], after["uid"]) == (before["name"], before["uid"])
    assert [(it["name"], it["uid"]) for it in after["ownerReferences"]] == [("renamed", new)]


def test_an_object_deleted_by_hand_comes_back(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.up()
    stage.cluster.delete("PangolinResource", stage.name, stage.object("shop")["metadata"]["name"])

    assert stage.up() == done(("create", stage.host("shop")))
    assert set(stage.identities()) == {stage.host("shop"), stage.host("www")}


def test_an_object_changed_by_hand_is_put_back(stage: Stage) -> None:
    stage.ingress("web", "www", annotations={"pangolin.ingress.k8s.io/sso": "true"})
    stage.up()
    before = stage.object("www")
    open_to_all = {"spec": {"httpConfig": {"sso": False}}}
    name = before["metadata"]["name"]
    stage.cluster.patch("PangolinResource", stage.name, name, open_to_all)

    answer = stage.up()

    after = stage.object("www")
    assert answer == done(("update", stage.host("www")))
    assert after["spec"] == before["spec"]
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_labels_stripped_by_hand_are_put_back(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.object("www")["metadata"]
    stripped = {"metadata": {"labels": dict.fromkeys(before["labels"])}}
    stage.cluster.patch("PangolinResource", stage.name, before["name"], stripped)

    answer = stage.up()

    after = stage.object("www")["metadata"]
    assert answer == done(
        ("update", stage.host("www")),
        remarks=[
            f"LabelsRepaired: PangolinResource {stage.name}/{before['name']}: its labels were taken"
            " off by somebody; they are put back"
        ],
    )
    assert (after["labels"], after["uid"]) == (before["labels"], before["uid"])


def test_a_host_moves_to_another_namespace_without_two_objects_at_a_time(stage: Stage) -> None:
    other = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("stays", "stays")
    stage.ingress("web", "www", namespace=other)
    stage.up()
    stage.ingress("web", "www", class_name="nginx")
    stage.settings(maxRemovals=0, maxRemovalRatio=0)

    refused = stage.up()
    stage.settings(maxRemovals=1)
    answer = stage.up()

    host = stage.host("www")
    assert (refused.code, refused.steps) == (1, ())
    assert refused.complaints[0].startswith(
        "1 of 2 hosts would be removed or moved to another namespace, but at most 0 may go in one"
        f" run (pic:maxRemovals 0, pic:maxRemovalRatio 0): {host}.\nNothing was changed."
    )
    assert answer == done(
        ("delete-replaced", host), ("replace", host), ("create-replacement", host)
    )
    assert (set(stage.identities()), set(stage.identities(other))) == (
        {stage.host("stays")},
        {host},
    )


def test_three_hundred_hosts_are_made_in_one_run(stage: Stage) -> None:
    for group in range(30):
        stage.ingress(f"web-{group}", *(f"h{group}-{at}" for at in range(10)))

    answer = stage.up(PULUMI_SKIP_CHECKPOINTS="true")

    wanted = {stage.host(f"h{group}-{at}") for group in range(30) for at in range(10)}
    assert (answer.code, answer.hosts("create") - {"cluster"}) == (0, wanted)
    assert set(stage.identities()) == wanted
