"""Tests the adoption of objects of the Go controller and of an earlier stack."""

from pic.cluster import managed_fields
from pic.core.names import STACK_LABEL
from pic.settings.stack_file import StackFile
from tests.engine.answers import Answer, failed, succeeded
from tests.engine.go_controller import FINALIZER, NOTE, create_go_object
from tests.engine.managed_fields import MANAGED_FIELDS
from tests.engine.stage import Object, Stage

LABELS = ("name", "namespace", "stack", "stack-id", "uid")
OWNERS = {
    ("pic", "Apply", ""),
    ("manager", "Update", ""),
    ("manager", "Update", "status"),
    ("user", "Update", ""),
}


def managers(live: Object) -> dict[tuple[str, str, str], Object]:
    """Return the managed fields by manager, operation and subresource."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in live["metadata"]["managedFields"]
    }


def owners_of_fields(live: Object) -> dict[tuple[str, str, str], Object]:
    """Return the managed fields by manager, operation and subresource."""
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in live["metadata"]["managedFields"]
    }


def test_pic_owns_every_field_of_an_adopted_object_of_the_go_controller(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    create_go_object(stage, uid)
    stage.settings(adopt=True)
    before = stage.objects()

    preview = stage.preview()
    previewed = stage.objects()
    answer = stage.up()
    [live] = stage.objects()
    again = stage.up()

    host, [original] = stage.host("www"), before
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
        ("user", "Update", ""): {"f:metadata": {"f:annotations": {".": {}, f"f:{NOTE}": {}}}},
    }
    spec = {key: value for key, value in original["spec"].items() if key != "siteRef"}
    spec["httpConfig"] = {**spec["httpConfig"], "domainId": "d1"}
    backend = {"ip": f"app.{stage.name}.svc.cluster.local", "port": 80, "method": "http"}
    metadata = live["metadata"]
    assert live["spec"] == {**spec, "targets": [{**backend, "priority": 100}]}
    assert live["status"] == original["status"]
    assert (metadata["uid"], metadata["generation"]) == (original["metadata"]["uid"], 2)
    assert set(metadata["labels"]) == {f"pic.ingress.k8s.io/{word}" for word in LABELS}
    assert metadata["annotations"][NOTE] == "mine"
    assert metadata["finalizers"] == [FINALIZER]


def test_the_next_run_finishes_an_adoption_that_was_killed_before_the_apply(stage: Stage) -> None:
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    create_go_object(stage, uid)
    [original] = stage.objects()
    name = original["metadata"]["name"]
    patch = managed_fields.takeover_patch(original)
    stage.cluster.patch("PangolinResource", stage.name, name, patch)
    stage.settings(adopt=True)

    answer = stage.up()

    [live], host = stage.objects(), stage.host("www")
    assert answer.steps == (("create", "cluster"), ("import", host), ("update", host))
    assert set(owners_of_fields(live)) == OWNERS
    assert (live["metadata"]["uid"], "siteRef" in live["spec"]) == (
        original["metadata"]["uid"],
        False,
    )


def write_successor(stage: Stage, word: str) -> str:
    """Write the settings of a stack that adopts from this one, and return its name."""
    name = f"{stage.name}-{word}"
    settings = {**StackFile(stage.workspace.path, stage.name).settings(), "adoptFrom": stage.name}
    StackFile(stage.workspace.path, name).merge(settings)
    return name


def up(stage: Stage, stack: str) -> Answer:
    return stage.up(PULUMI_STACK=stack)


def labelled(before: list[Object], stack: str) -> list[Object]:
    """Return the objects with another stack label and no other change."""
    return [
        {
            **live,
            "metadata": {
                **_without_volatile(live)["metadata"],
                "labels": {**live["metadata"]["labels"], STACK_LABEL: f"pic.{stack}"},
            },
        }
        for live in before
    ]


def _without_volatile(live: Object) -> Object:
    volatile = ("managedFields", "resourceVersion")
    metadata = {key: value for key, value in live["metadata"].items() if key not in volatile}
    return {**live, "metadata": metadata}


def test_a_new_stack_takes_over_the_objects_of_an_earlier_one(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stack = write_successor(stage, "new")
    stage.workspace.pulumi("stack", "init", stack, "--no-select")

    answer = up(stage, stack)
    taken = stage.objects()
    again = up(stage, stack)
    late = stage.up()

    www, key = stage.host("www"), f"{stage.name}/{before[0]['metadata']['name']}"
    assert answer == succeeded(("create", "cluster"), ("import", www), ("update", www))
    assert [_without_volatile(live) for live in taken] == labelled(before, stack)
    assert again == succeeded()
    assert late == failed(
        f'before hook "pic:before-delete" failed: PangolinResource {key} is no longer ours'
        " (other stack): not deleted. Run `pulumi state delete` on its URN to forget it",
        "update failed",
        warnings=[
            f"HostConflict: Ingress {stage.name}/web: PangolinResource {key} already exposes {www},"
            " and it belongs to another stack: remove the host there"
        ],
    )
    assert stage.objects() == taken


def test_a_renamed_stack_keeps_its_objects_and_deletes_only_adopted_ones(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.up()
    old, www = stage.object("old"), stage.object("www")
    stack = f"{stage.name}-new"
    stage.workspace.pulumi("stack", "rename", stack)
    StackFile(stage.workspace.path, stack).merge({"adoptFrom": stage.name})
    stage.ingress("old", "old", class_name="nginx")

    answer = up(stage, stack)

    key = f"{stage.name}/{old['metadata']['name']}"
    steps = (("update", stage.host("www")),)
    assert (answer.steps, answer.warnings, answer.complaints) == (
        steps,
        (
            f"LeftBehind: PangolinResource {key}: {stage.host('old')}: it belongs to the stack in"
            " pic:adoptFrom, and no Ingress of this stack asks for it: pic leaves it unchanged",
        ),
        (
            f'before hook "pic:before-delete" failed: PangolinResource {key} is no longer ours'
            " (earlier stack): not deleted. Run `pulumi state delete` on its URN to forget it",
            "update failed",
        ),
    )
    assert stage.object("old") == old
    stage.cluster.delete("PangolinResource", stage.name, old["metadata"]["name"])
    later = up(stage, stack)
    assert (later.code, later.complaints, later.warnings) == (0, (), ())
    assert [_without_volatile(stage.object("www"))] == labelled([www], stack)
