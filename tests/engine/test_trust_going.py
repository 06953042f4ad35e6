"""Tests what runs do about objects, Ingresses and namespaces that Kubernetes is deleting."""

from collections.abc import Iterator

import pytest

from dev.controlplane import crds
from dev.controlplane.crds import DEFINITIONS
from dev.controlplane.processes import Deadline
from pic.core.names import STACK_LABEL
from tests.engine.answers import succeeded
from tests.engine.stage import Object, PicRun, Stage
from tests.support.waiting import until

FINALIZER = "tunnel.pangolin.io/finalizer"
NOTHING = "Nothing to do: everything is as it was deployed.\n"


def set_finalizers(stage: Stage, word: str, *finalizers: str, namespace: str = "") -> None:
    place = namespace or stage.name
    name = stage.object(word, place)["metadata"]["name"]
    body = {"metadata": {"finalizers": list(finalizers)}}
    stage.cluster.patch("PangolinResource", place, name, body)


def is_going(stage: Stage, word: str, namespace: str = "") -> bool:
    return "deletionTimestamp" in stage.object(word, namespace)["metadata"]


def strand(stage: Stage, word: str, ingress: str) -> Object:
    """Delete the Ingress of a host; a finalizer keeps its object. Return the object."""
    set_finalizers(stage, word, FINALIZER)
    stage.cluster.delete("Ingress", stage.name, ingress)
    until(lambda: is_going(stage, word), "the garbage collector deletes the object")
    return stage.object(word)


def release(stage: Stage, word: str) -> None:
    set_finalizers(stage, word)
    until(lambda: stage.host(word) not in stage.identities(), "the object is gone")


def held(live: Object) -> str:
    """Return the notice about an object that nothing asks for and that its finalizer keeps."""
    metadata = live["metadata"]
    since = metadata["deletionTimestamp"].replace("Z", "+00:00")
    return (
        f"HeldByFinalizer: PangolinResource {metadata['namespace']}/{metadata['name']}:"
        f" {live['spec']['name']}: Kubernetes is deleting it (since {since}, finalizer"
        f" {FINALIZER}): pic forgets it once it is gone\n"
    )


def test_09_a_tenant_who_takes_over_his_object_fails_no_run_of_others(stage: Stage) -> None:
    tenant = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("own", "own", namespace=tenant)
    assert stage.pic("up").code == 0
    name = stage.object("own", tenant)["metadata"]["name"]
    taken = {"labels": {STACK_LABEL: "pic.another"}, "ownerReferences": None}
    stage.cluster.patch("PangolinResource", tenant, name, {"metadata": taken})
    stage.cluster.delete("Ingress", tenant, "own")

    first, second = stage.pic("up"), stage.pic("up")

    assert (first.code, second) == (0, PicRun(0, NOTHING, ""))
    assert (
        f"NoLongerOurs: PangolinResource {tenant}/{name}: {stage.host('own')}: someone gave it"
        " other labels, so pic neither changes nor deletes it, and no Ingress asks for its host:"
        " delete it with kubectl"
    ) in first.err
    assert [stage.object("own", tenant)["metadata"]["name"]] == [name]
    stage.cluster.delete("PangolinResource", tenant, name)
    # The next run that starts the engine forgets it.
    stage.ingress("web", "www", paths=["/", "/api"])
    assert (stage.pic("up").code, stage.remembered) == (0, [stage.host("www")])


def test_20_a_stuck_finalizer_costs_nothing_after_the_first_run(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("gone", "old")
    assert stage.pic("up").code == 0
    live = strand(stage, "old", "gone")

    first, second = stage.pic("up"), stage.pic("up")

    assert (first.code, first.out) == (0, "Done: nothing changed.\n")
    assert second == PicRun(0, f"{NOTHING}{held(live)}", "")
    assert stage.object("old") == live
    assert stage.remembered == [stage.host("old"), stage.host("www")]

    release(stage, "old")

    assert stage.pic("up") == PicRun(0, "Done: 1 deleted.\n", "")
    assert stage.remembered == [stage.host("www")]
    assert stage.pic("up") == PicRun(0, NOTHING, "")


def test_20_a_plain_pulumi_up_does_not_wait_for_a_stuck_finalizer(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("gone", "old")
    stage.up()
    live = strand(stage, "old", "gone")

    answer = stage.up()

    assert (answer.code, answer.steps, answer.warnings, answer.complaints) == (0, (), (), ())
    assert stage.object("old") == live
    release(stage, "old")
    assert stage.up() == succeeded()
    assert stage.remembered == [stage.host("www")]


def test_20_an_object_that_only_the_cluster_has_is_left_to_go(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("gone", "old")
    stage.up()
    live = strand(stage, "old", "gone")
    stage.lose_state()

    assert stage.pic("up").code == 0
    assert stage.remembered == [stage.host("www")]
    assert stage.object("old") == live
    release(stage, "old")


def test_23_a_recreated_ingress_gets_its_object_once_the_old_one_is_gone(stage: Stage) -> None:
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    live = strand(stage, "www", "web")
    uid = stage.ingress("web", "www")["metadata"]["uid"]

    stuck = stage.pic("up")

    assert stuck.code == 6
    assert "HeldByFinalizer" in stuck.err
    assert FINALIZER in stuck.err
    assert stage.object("www") == live, "nothing is written to an object that is going"
    assert stage.remembered == [stage.host("www")]

    release(stage, "www")

    assert stage.pic("up").code == 0
    assert stage.object("www")["metadata"]["ownerReferences"][0]["uid"] == uid
    assert stage.pic("up") == PicRun(0, NOTHING, "")


def test_23_a_run_waits_for_an_object_that_is_about_to_go(stage: Stage) -> None:
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    strand(stage, "www", "web")
    uid = stage.ingress("web", "www")["metadata"]["uid"]
    command = (str(stage.workspace.python), "-m", "pic", "up", "--stack", stage.name)

    with stage.workspace.start(*command, "--log-format", "text", stderr=-1) as process:
        lines = iter(process.stderr or ())
        assert any("waiting for 1 object" in line for line in lines)
        release(stage, "www")
        rest = list(lines)

    assert process.returncode == 0, rest
    assert stage.object("www")["metadata"]["ownerReferences"][0]["uid"] == uid


def test_23_nothing_is_made_for_an_ingress_that_is_going(stage: Stage) -> None:
    stage.ingress("web", "www")
    guard = {"metadata": {"finalizers": ["example.org/guard"]}}
    stage.cluster.patch("Ingress", stage.name, "web", guard)
    stage.cluster.delete("Ingress", stage.name, "web")

    answer = stage.up()

    assert (answer.code, answer.hosts("create")) == (0, {"cluster"})
    assert any("BeingDeleted" in remark for remark in answer.remarks)
    stage.cluster.patch("Ingress", stage.name, "web", {"metadata": {"finalizers": []}})


@pytest.fixture
def doomed(other_stage: Stage) -> Iterator[Stage]:
    """Provide a stage whose CRD Kubernetes is deleting, and repair the cluster."""
    stage, path = other_stage, f"{DEFINITIONS}/pangolinresources.tunnel.pangolin.io"
    stage.ingress("web", "www")
    assert stage.pic("up").code == 0
    set_finalizers(stage, "www", FINALIZER)
    stage.cluster.api.request("DELETE", path)
    until(lambda: is_going(stage, "www"), "the objects of the CRD are being deleted")
    try:
        yield stage
    finally:
        set_finalizers(stage, "www")
        until(lambda: not stage.cluster.api.has(path), "the CRD is gone")
        crds.install(stage.cluster.api, "target", Deadline(60))


def test_23_a_crd_that_is_being_deleted_is_refused(doomed: Stage) -> None:
    run = doomed.pic("up")

    assert (run.code, run.out) == (5, "")
    assert "Kubernetes is deleting the CRD of PangolinResource" in run.err
    assert doomed.remembered == [doomed.host("www")]


def not_found(namespace: str) -> str:
    return (
        f"pic: NamespaceNotFound: Namespace {namespace}: pic:namespaces lists it, but the cluster"
        " does not have it\n"
    )


def terminating(stage: Stage) -> str:
    """Return a namespace that Kubernetes is deleting, with a live host and a new Ingress."""
    namespace = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("preview", "preview", namespace=namespace)
    assert stage.pic("up").code == 0
    stage.ingress("late", "late", namespace=namespace)
    guard = {"metadata": {"finalizers": ["example.org/guard"]}}
    stage.cluster.patch("Ingress", namespace, "late", guard)
    set_finalizers(stage, "preview", FINALIZER, namespace=namespace)
    stage.cluster.delete("Namespace", "", namespace)
    until(lambda: is_going(stage, "preview", namespace), "the namespace is being emptied")
    return namespace


def test_26_a_namespace_that_is_being_deleted_disturbs_nothing(stage: Stage) -> None:
    namespace = terminating(stage)

    answer = stage.up()

    assert answer == succeeded(remarks=answer.remarks)
    set_finalizers(stage, "preview", namespace=namespace)
    stage.cluster.patch("Ingress", namespace, "late", {"metadata": {"finalizers": []}})
    until(lambda: not stage.cluster.has("Namespace", "", namespace), "the namespace is gone")

    run = stage.pic("up")

    assert (run.code, run.out) == (0, "Done: 1 deleted.\n")
    assert run.err == not_found(namespace)
    assert stage.remembered == [stage.host("www")]


def test_26_an_event_that_no_namespace_takes_is_dropped_in_silence(stage: Stage) -> None:
    namespace = stage.add_namespace()
    stage.ingress("web", "www")
    stage.ingress("preview", "preview", namespace=namespace)
    assert stage.pic("up").code == 0
    stage.cluster.delete("Namespace", "", namespace)
    until(lambda: not stage.cluster.has("Namespace", "", namespace), "the namespace is gone")

    assert stage.pic("up") == PicRun(0, "Done: 1 deleted.\n", not_found(namespace))


def test_a_run_without_any_of_its_namespaces_is_an_error(stage: Stage) -> None:
    stage.settings(namespaces=["no-such-namespace"])

    run = stage.pic("up")

    assert (run.code, run.out) == (5, "")
    assert "the cluster has no namespace no-such-namespace" in run.err
