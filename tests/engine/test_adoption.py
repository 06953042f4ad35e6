"""Objects of others that become ours: of the Go controller, and of an earlier stack."""

import json

from dev.controlplane.api import JSON
from pic.cluster import managed_fields
from pic.core.names import STACK_LABEL, object_name
from pic.settings.stack_file import StackFile
from tests.engine.answers import Answer, failed, succeeded
from tests.engine.stage import APIS, Object, Stage
from tests.engine.managed_fields import MANAGED_FIELDS

NOTE = "example.com/note"
LABELS = ("name", "namespace", "stack", "uid")
FINALIZER = "resource.pangolin.io/finalizer"
# The process of the Go controller is called manager, and so is that of the operator.
MANAGER = "fieldManager=manager"
OWNERS = {
    ("pic", "Apply", ""),
    ("manager", "Update", ""),
    ("manager", "Update", "status"),
    ("person", "Update", ""),
}


def go_object(stage: Stage, uid: str) -> None:
    """Make the object that the Go controller makes for host www of an Ingress, as it does.

    Then come the operator with its finalizer and its status, and a person with an annotation.
    """
    name, host = object_name(stage.name, "web", stage.host("www")), stage.host("www")
    where = APIS["PangolinResource"].format(stage.name)
    made = stage.cluster.api.request("POST", f"{where}?{MANAGER}", _as_made(stage, name, uid))
    made["metadata"]["finalizers"] = [FINALIZER]
    stage.cluster.api.request("PUT", f"{where}/{name}?{MANAGER}", json.dumps(made), JSON)
    status = {"status": {"status": "Ready", "fullDomain": host}}
    stage.cluster.patch("PangolinResource", stage.name, name, status, f"/status?{MANAGER}")
    note = {"metadata": {"annotations": {NOTE: "mine"}}}
    stage.cluster.patch("PangolinResource", stage.name, name, note, "?fieldManager=person")


def _as_made(stage: Stage, name: str, uid: str) -> Object:
    owner = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "name": "web",
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = {
        "pic.ingress.k8s.io/name": "web",
        "pic.ingress.k8s.io/namespace": stage.name,
        "pic.ingress.k8s.io/uid": uid,
        "example.com/left": "behind",
    }
    backend = {"ip": f"app.{stage.name}.svc.cluster.local", "port": 80, "method": "http"}
    return {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "enabled": True,
            "name": f"{stage.name}/web/{stage.host('www')}",
            "protocol": "http",
            "tunnelRef": {"name": "default", "namespace": stage.name},
            "httpConfig": {
                "domainName": f"{stage.name}.example",
                "subdomain": "www",
                "sso": False,
                "blockAccess": False,
            },
            "siteRef": {"siteId": 3},
            "targets": [{**backend, "path": "/", "pathMatchType": "prefix", "priority": 110}],
        },
    }


def managers(live: Object) -> dict[tuple[str, str, str], Object]:
    """Return who owns what, by name, operation and subresource."""
    return {
        (it["manager"], it["operation"], it.get("subresource", "")): it["fieldsV1"]
        for it in live["metadata"]["managedFields"]
    }


def owners_of_fields(live: Object) -> dict[tuple[str, str, str], Object]:
    """Return who owns what, by name, operation and subresource."""
    return {
        (it["manager"], it["operation"], it.get("subresource", "")): it["fieldsV1"]
        for it in live["metadata"]["managedFields"]
    }


def test_an_object_of_the_go_controller_becomes_ours_with_every_field(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    go_object(stage, uid)
    stage.settings(adopt=True)
    before = stage.objects()

    preview = stage.preview()
    previewed = stage.objects()
    answer = stage.up()
    [live] = stage.objects()
    again = stage.up()

    host, [made] = stage.host("www"), before
    steps = (("create", "cluster"), ("import", host), ("update", host))
    assert (preview.code, preview.steps, previewed) == (0, steps, before)
    assert answer == succeeded(*steps)
    assert (again, stage.objects()) == (succeeded(), [live])
    ours: Object = {
        "f:metadata": {
            **MANAGED_FIELDS["f:metadata"],
            "f:ownerReferences": {f'k:{{"uid":"{uid}"}}': {}},
        },
        "f:spec": MANAGED_FIELDS["f:spec"],
    }
    assert owners_of_fields(live) == {
        ("pic", "Apply", ""): ours,
        ("manager", "Update", ""): {
            "f:metadata": {"f:finalizers": {".": {}, f'v:"{FINALIZER}"': {}}}
        },
        ("manager", "Update", "status"): {
            "f:status": {".": {}, "f:fullDomain": {}, "f:status": {}}
        },
        ("person", "Update", ""): {"f:metadata": {"f:annotations": {".": {}, f"f:{NOTE}": {}}}},
    }
    spec = {key: value for key, value in made["spec"].items() if key != "siteRef"}
    backend = {"ip": f"app.{stage.name}.svc.cluster.local", "port": 80, "method": "http"}
    metadata = live["metadata"]
    assert live["spec"] == {**spec, "targets": [{**backend, "priority": 100}]}
    assert live["status"] == made["status"]
    assert (metadata["uid"], metadata["generation"]) == (made["metadata"]["uid"], 2)
    assert set(metadata["labels"]) == {f"pic.ingress.k8s.io/{word}" for word in LABELS}
    assert metadata["annotations"][NOTE] == "mine"
    assert metadata["finalizers"] == [FINALIZER]


def test_an_adoption_that_was_killed_before_the_apply_is_finished(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    go_object(stage, uid)
    [made] = stage.objects()
    name = made["metadata"]["name"]
    stage.cluster.patch("PangolinResource", stage.name, name, managed_fields.takeover_patch(made))

    answer = stage.up()

    [live], host = stage.objects(), stage.host("www")
    assert answer.steps == (("create", "cluster"), ("import", host), ("update", host))
    assert set(owners_of_fields(live)) == OWNERS
    assert (live["metadata"]["uid"], "siteRef" in live["spec"]) == (made["metadata"]["uid"], False)


def moved_on(stage: Stage, word: str) -> str:
    """Write the settings of a new stack that takes over what this one has, and return its name."""
    name = f"{stage.name}-{word}"
    settings = {**StackFile(stage.workspace.path, stage.name).settings(), "adoptFrom": stage.name}
    StackFile(stage.workspace.path, name).merge(settings)
    return name


def up(stage: Stage, stack: str) -> Answer:
    return stage.up(PULUMI_STACK=stack)


def labelled(before: list[Object], stack: str) -> list[Object]:
    """Return objects as they are when nothing but the stack's label has changed."""
    return [
        {
            **each,
            "metadata": {
                **_lasting(each)["metadata"],
                "labels": {**each["metadata"]["labels"], STACK_LABEL: f"pic.{stack}"},
            },
        }
        for each in before
    ]


def _lasting(live: Object) -> Object:
    passing = ("managedFields", "resourceVersion")
    metadata = {key: value for key, value in live["metadata"].items() if key not in passing}
    return {**live, "metadata": metadata}


def test_a_new_stack_takes_over_what_an_earlier_one_has(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stack = moved_on(stage, "new")
    stage.workspace.pulumi("stack", "init", stack, "--no-select")

    answer = up(stage, stack)
    taken = stage.objects()
    again = up(stage, stack)
    late = stage.up()

    www, key = stage.host("www"), f"{stage.name}/{before[0]['metadata']['name']}"
    assert answer == succeeded(("create", "cluster"), ("import", www), ("update", www))
    assert [_lasting(each) for each in taken] == labelled(before, stack)
    assert again == succeeded()
    assert late == failed(
        f'before hook "pic:before-delete" failed: PangolinResource {key} is no longer ours'
        " (other stack): not deleted. Run `pulumi state delete` on its URN to forget it",
        "update failed",
        warnings=[
            f"HostConflict: Ingress {stage.name}/web: PangolinResource {key} already exposes {www},"
            " and this stack does not own it: delete it, or use another host"
        ],
    )
    assert stage.objects() == taken


def test_a_renamed_stack_keeps_its_objects_and_deletes_none_it_has_not_taken(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.up()
    left, kept = stage.object("old"), stage.object("www")
    stack = f"{stage.name}-new"
    stage.workspace.pulumi("stack", "rename", stack)
    StackFile(stage.workspace.path, stack).merge({"adoptFrom": stage.name})
    stage.ingress("old", "old", class_name="nginx")

    answer = up(stage, stack)

    key = f"{stage.name}/{left['metadata']['name']}"
    steps = (("update", stage.host("www")),)
    assert (answer.steps, answer.warnings, answer.complaints) == (
        steps,
        (
            f"LeftBehind: PangolinResource {key}: it belongs to the stack in pic:adoptFrom, and no"
            " Ingress of this stack asks for it: pic leaves it unchanged",
        ),
        (
            f'before hook "pic:before-delete" failed: PangolinResource {key} is no longer ours'
            " (earlier stack): not deleted. Run `pulumi state delete` on its URN to forget it",
            "update failed",
        ),
    )
    assert stage.object("old") == left
    stage.cluster.delete("PangolinResource", stage.name, left["metadata"]["name"])
    later = up(stage, stack)
    assert (later.code, later.complaints, later.warnings) == (0, (), ())
    assert [_lasting(stage.object("www"))] == labelled([kept], stack)
