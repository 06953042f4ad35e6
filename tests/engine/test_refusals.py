"""Tests runs that are refused or that fail: each has a clear message and changes nothing."""

import re
import time
from dataclasses import replace
from pathlib import Path

from dev.controlplane import ControlPlane
from pic.core.names import object_name, register_name
from pic.core.register import bucket_of
from tests.engine.answers import failed, succeeded
from tests.engine.stage import Cluster, Stage
from tests.support.admin_api import api_of

MANY = [f"h{number}" for number in range(6)]
HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"


def digest(message: str) -> str:
    """Return the digest that a refusal or a last warning prints."""
    match = re.search(r"PIC_ACKNOWLEDGE=([0-9a-f]+) pulumi up", message)
    assert match, message
    return match[1]


def many_lose_their_class(stage: Stage) -> None:
    """Expose seven hosts, and take the class of six away by mistake."""
    stage.ingress("many", *MANY)
    stage.ingress("one", "one")
    assert stage.up().code == 0
    stage.ingress("many", *MANY, class_name="nginx")


def all_lose_their_class(stage: Stage) -> str:
    """Expose one host, take its class away, and return the start of the refusal."""
    stage.ingress("web", "www")
    assert stage.up().code == 0
    stage.ingress("web", "www", class_name="nginx")
    return f"The only live host would be removed: {stage.host('www')}.\n"


def next_step(digest: str) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={digest} pulumi up"
    )


def test_a_preview_of_a_refused_run_succeeds_with_a_warning(stage: Stage) -> None:
    refusal = all_lose_their_class(stage)

    answer = stage.preview()

    assert answer == succeeded(("delete", stage.host("www")), warnings=answer.warnings)
    assert [text.partition("Nothing")[0] for text in answer.warnings] == [
        f"`pulumi up` would refuse this:\n{refusal}"
    ]


def test_removals_above_the_limit_need_an_acknowledgement(stage: Stage) -> None:
    many_lose_their_class(stage)
    before = stage.objects()

    held = stage.up()
    unchanged = stage.objects()
    acknowledged = stage.up(PIC_ACKNOWLEDGE=digest(held.warnings[-1]))

    assert held == succeeded(warnings=held.warnings)
    assert held.warnings[-1].startswith("6 changes held. Everything else is not affected:\n")
    assert unchanged == before
    assert acknowledged == succeeded(*(("delete", stage.host(word)) for word in MANY))
    assert set(stage.identities()) == {stage.host("one")}


def test_an_acknowledgement_does_not_cover_later_changes(stage: Stage) -> None:
    many_lose_their_class(stage)
    earlier = digest(stage.up().warnings[-1])
    before = stage.objects()
    stage.ingress("many", *MANY[:1], class_name="nginx")
    stage.ingress("more", *MANY[1:])

    answer = stage.up(PIC_ACKNOWLEDGE=earlier)

    assert answer.code == 0
    assert (
        f"AcknowledgementUnused: Setting acknowledge: {earlier} fits nothing that waits: it was"
        " used, or something has changed"
    ) in answer.warnings
    assert {live["spec"]["name"] for live in before} - set(stage.identities()) == {
        stage.host(MANY[0])
    }


def test_an_empty_plan_is_refused_even_for_one_host(stage: Stage) -> None:
    refusal = all_lose_their_class(stage)
    before = stage.objects()

    answer = stage.up()

    assert answer == failed(refusal + next_step(digest(answer.complaints[0])))
    assert stage.objects() == before
    allowed = stage.up(PIC_ACKNOWLEDGE=digest(answer.complaints[0]))
    assert (allowed.code, stage.objects()) == (0, [])


def test_an_object_that_pic_did_not_create_is_not_overwritten(stage: Stage) -> None:
    stage.ingress("web", "www", "free")
    name = object_name(stage.name, "web", stage.host("www"))
    spec = {"name": "theirs", "httpConfig": {"subdomain": "theirs", "domainName": "example.net"}}
    stage.cluster.apply("PangolinResource", stage.name, name, spec)
    before = stage.object_named(name)

    assert stage.up() == succeeded(
        ("create", "cluster"),
        ("create", stage.host("free")),
        warnings=[
            f"HostConflict: Ingress {stage.name}/web: PangolinResource {stage.name}/{name} has the"
            f" name that {stage.host('www')} needs, and pic did not make it: delete it, or use"
            " another host"
        ],
    )
    assert stage.object_named(name) == before


def test_a_wrong_setting_deletes_nothing(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.settings(ingressClasses="!!", maxRemovals="few")

    answer = stage.up()

    assert answer == failed(*answer.complaints)
    assert [line.partition(";")[0] for line in answer.complaints[0].splitlines()] == [
        "pic:ingressClasses is '!!' ('!!' is not allowed)",
        "pic:maxRemovals is 'few'",
    ]
    assert "Traceback" not in answer.printed
    assert stage.objects() == before


def wrong_cluster(stage: Stage, other: ControlPlane) -> str:
    return (
        f"This is cluster {Cluster(api_of(other)).id}, and the stack belongs to"
        f" {stage.cluster.id} (pic:clusterId). Check pic:context and KUBECONFIG. If you moved the"
        " stack to a new cluster, set pic:clusterId to its id.\nNothing was changed."
    )


def test_a_run_against_another_cluster_is_refused_and_the_next_one_recovers(
    stage: Stage, other_plane: ControlPlane
) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()

    refused = stage.up(KUBECONFIG=str(other_plane.kubeconfig))
    # The engine refreshed first. It found nothing in the other cluster and emptied the state.
    state = stage.remembered
    again = stage.up()

    www = stage.host("www")
    assert refused == failed(wrong_cluster(stage, other_plane))
    assert (state, stage.remembered) == ([], [www])
    assert again == succeeded(("import", www), ("update", www))
    assert stage.objects() == before


def test_another_cluster_is_refused_before_a_refresh_that_runs_the_program(
    stage: Stage, other_plane: ControlPlane
) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)

    refused = stage.up(KUBECONFIG=str(other_plane.kubeconfig), PULUMI_RUN_PROGRAM="true")

    assert refused == failed(wrong_cluster(stage, other_plane))
    assert (stage.objects(), stage.remembered) == before


def test_a_destroy_on_another_cluster_is_refused(stage: Stage, other_plane: ControlPlane) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)
    # A destroy refreshes before it runs the program, whatever PULUMI_RUN_PROGRAM says.
    command = ("destroy", "--yes", "--skip-preview", "--run-program", "--refresh=false")

    refused = stage.pulumi(*command, PIC_RELEASE="1", KUBECONFIG=str(other_plane.kubeconfig))

    assert refused == failed(wrong_cluster(stage, other_plane))
    assert (stage.objects(), stage.remembered) == before


def test_the_error_about_a_missing_cluster_id_names_pic_init(stage: Stage) -> None:
    stage.settings(clusterId="")
    stage.ingress("web", "www")

    without = stage.up()
    init = stage.workspace.pic("init", "--stack", stage.name)

    assert without == failed(
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run pic init"
        f" --stack {stage.name}"
    )
    assert init.splitlines()[:2] == [
        f"wrote stacks/Pulumi.{stage.name}.yaml",
        f"  pic:clusterId: {stage.cluster.id}",
    ]
    assert stage.up() == succeeded(("create", "cluster"), ("create", stage.host("www")))


def test_a_user_without_permissions_changes_nothing(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)
    kubeconfig = str(stage.plane.kubeconfig_for("nobody"))

    answer = stage.up(KUBECONFIG=kubeconfig)

    # The engine refreshes before the program runs, so the plugin reports the errors.
    name, bucket = before[0][0]["metadata"]["name"], bucket_of(stage.host("www"))
    assert replace(answer, complaints=tuple(sorted(answer.complaints))) == failed(
        f'configmaps "{register_name(stage.name, bucket)}" is forbidden: User "nobody" cannot get'
        f' resource "configmaps" in API group "" in the namespace "{stage.name}"',
        f'pangolinresources.tunnel.pangolin.io "{name}" is forbidden: User "nobody" cannot get'
        ' resource "pangolinresources" in API group "tunnel.pangolin.io" in the namespace'
        f' "{stage.name}"',
        "update failed",
    )
    assert (stage.objects(), stage.remembered) == before


def test_a_first_run_without_permissions_names_the_missing_verb(stage: Stage) -> None:
    kubeconfig = str(stage.plane.kubeconfig_for("nobody"))

    assert stage.up(KUBECONFIG=kubeconfig) == failed(
        "cannot get the CRD of PangolinResource: customresourcedefinitions.apiextensions.k8s.io"
        ' "pangolinresources.tunnel.pangolin.io" is forbidden: User "nobody" cannot get resource'
        ' "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope'
        " (HTTP 403); grant the verb get to the account that runs pic, or set pic:resourceSchema"
    )


def test_a_run_without_an_api_server_changes_nothing(other_stage: Stage) -> None:
    stage = other_stage
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)

    stage.plane.stop_apiserver()
    try:
        answer = stage.up()
    finally:
        stage.plane.start_apiserver()
        stage.await_service()

    # The engine refreshes before the program runs, so the plugin reports the error.
    address = stage.plane.server.removeprefix("https://")
    assert answer == failed(
        "failed to read resource state due to unreachable cluster. If the cluster was deleted, you"
        " can remove this resource from Pulumi state by rerunning the operation with the"
        ' PULUMI_K8S_DELETE_UNREACHABLE environment variable set to "true"',
        "update failed",
        warnings=[
            "configured Kubernetes cluster is unreachable: unable to load schema information from"
            f' the API server: Get "{stage.plane.server}/openapi/v2?timeout=32s": dial tcp'
            f" {address}: connect: connection refused"
        ],
    )
    assert (stage.objects(), stage.remembered) == before
    again = stage.up()
    assert (again.code, again.steps) == (0, ())


def test_a_first_run_without_an_api_server_says_where_there_was_no_answer(
    stage: Stage, tmp_path: Path
) -> None:
    unreachable = tmp_path / "kubeconfig"
    text = stage.plane.kubeconfig.read_text()
    unreachable.write_text(text.replace(stage.plane.server, "https://127.0.0.1:9"))

    answer = stage.up(KUBECONFIG=str(unreachable))

    assert answer == failed(
        "no answer from https://127.0.0.1:9: HTTPSConnection(host='127.0.0.1', port=9): Failed to"
        " establish a new connection: [Errno 111] Connection refused. Check the network, KUBECONFIG"
        " and pic:context"
    )


def test_a_missing_crd_is_reported_at_once(other_stage: Stage, other_plane: ControlPlane) -> None:
    stage = other_stage
    stage.ingress("web", "www")
    stage.up()
    other_plane.kubectl("delete", "crd", "pangolinresources.tunnel.pangolin.io")
    began = time.monotonic()
    try:
        answer = stage.up()
        seconds = time.monotonic() - began
    finally:
        other_plane.install_crds("target")
        stage.await_service()

    assert answer == failed(f"the cluster has no CRD for PangolinResource: {HINT}")
    assert seconds < 20
    again = stage.up()
    assert (again.code, again.steps) == (0, (("create", stage.host("www")),))
