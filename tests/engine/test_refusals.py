"""What a run refuses, or cannot do: a clear message, and nothing has changed."""

import re
import time
from pathlib import Path

from dev.controlplane import ControlPlane
from pic.core.names import object_name
from tests.engine.answers import Answer, done, failed
from tests.engine.stage import Cluster, Stage, api_of

MANY = [f"h{at}" for at in range(6)]
HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"


def digest(answer: Answer) -> str:
    """The digest that a refusal prints."""
    found = re.search(r"PIC_ACKNOWLEDGE=([0-9a-f]+) pulumi up", answer.complaints[0])
    assert found, answer
    return found[1]


def many_lose_their_class(stage: Stage) -> str:
    """Expose seven hosts, and take six away by one mistaken change; return the refusal's start."""
    stage.ingress("many", *MANY)
    stage.ingress("one", "one")
    assert stage.up().code == 0
    stage.ingress("many", *MANY, class_name="nginx")
    hosts = ", ".join(stage.host(word) for word in MANY)
    return (
        "6 of 7 hosts would be removed, but at most 5 may go in one run (pic:maxRemovals 5,"
        f" pic:maxRemovalRatio 0.2): {hosts}.\n"
    )


def way_out(digest: str) -> str:
    return (
        "Nothing was changed. If this is intended, acknowledge exactly these changes:"
        f" PIC_ACKNOWLEDGE={digest} pulumi up"
    )


def test_a_preview_shows_what_would_be_refused_and_ends_well(stage: Stage) -> None:
    refusal = many_lose_their_class(stage)

    answer = stage.preview()

    assert answer == done(
        *(("delete", stage.host(word)) for word in MANY), warnings=answer.warnings
    )
    assert [text.partition("Nothing")[0] for text in answer.warnings] == [
        f"`pulumi up` would refuse this:\n{refusal}"
    ]


def test_more_removals_than_the_limit_change_nothing_until_they_are_acknowledged(
    stage: Stage,
) -> None:
    refusal = many_lose_their_class(stage)
    before = stage.objects()

    refused = stage.up()
    unchanged = stage.objects()
    let_through = stage.up(PIC_ACKNOWLEDGE=digest(refused))

    assert refused == failed(refusal + way_out(digest(refused)))
    assert unchanged == before
    assert let_through == done(*(("delete", stage.host(word)) for word in MANY))
    assert set(stage.identities()) == {stage.host("one")}


def test_an_acknowledgement_does_not_cover_what_came_later(stage: Stage) -> None:
    many_lose_their_class(stage)
    seen = digest(stage.up())
    before = stage.objects()
    stage.ingress("one", "one", class_name="nginx")

    answer = stage.up(PIC_ACKNOWLEDGE=seen)

    assert (answer.code, answer.steps) == (1, ())
    assert f"The acknowledgement {seen} is for other changes." in answer.complaints[0]
    assert digest(answer) != seen
    assert stage.objects() == before


def test_an_empty_plan_is_refused_however_few_hosts_there_are(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()
    stage.ingress("web", "www", class_name="nginx")

    answer = stage.up()

    assert answer == failed(
        f"The plan is empty, and 1 of 1 hosts would be removed: {stage.host('www')}.\n"
        + way_out(digest(answer))
    )
    assert stage.objects() == before


def test_an_object_that_pic_did_not_make_is_never_overwritten(stage: Stage) -> None:
    stage.ingress("web", "www")
    name = object_name(stage.name, "web", stage.host("www"))
    spec = {"name": "theirs", "httpConfig": {"subdomain": "theirs", "domainName": "example.net"}}
    stage.cluster.apply("PangolinResource", stage.name, name, spec)
    before = stage.objects()

    assert stage.up() == failed(
        f"PangolinResource {stage.name}/{name} would be overwritten, and pic did not make it."
        " Delete or rename what is there.\nNothing was changed."
    )
    assert stage.objects() == before


def test_a_broken_setting_deletes_nothing(stage: Stage) -> None:
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
        f" {stage.cluster.id} (pic:clusterId). Check pic:context and KUBECONFIG; after a deliberate"
        " move to a new cluster, set pic:clusterId anew.\nNothing was changed."
    )


def test_another_cluster_is_refused_and_the_right_one_is_found_again(
    stage: Stage, other_plane: ControlPlane
) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()

    refused = stage.up(KUBECONFIG=str(other_plane.kubeconfig))
    # The refresh came first, found nothing in the other cluster, and forgot everything.
    forgotten = stage.remembered
    again = stage.up()

    www = stage.host("www")
    assert refused == failed(wrong_cluster(stage, other_plane))
    assert (forgotten, stage.remembered) == ([], [www])
    assert again == done(("import", www), ("update", www))
    assert stage.objects() == before


def test_another_cluster_is_refused_before_the_refresh_where_that_runs_the_program(
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


def test_a_stack_without_a_cluster_is_told_of_pic_init(stage: Stage) -> None:
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
    assert stage.up() == done(("create", "cluster"), ("create", stage.host("www")))


def test_a_user_without_rights_is_told_so_and_nothing_changes(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)
    nobody = str(stage.plane.kubeconfig_for("nobody"))

    answer = stage.up(KUBECONFIG=nobody)

    # The engine refreshes before the program runs, so these are the words of its plugin.
    name = before[0][0]["metadata"]["name"]
    assert answer == failed(
        f'pangolinresources.tunnel.pangolin.io "{name}" is forbidden: User "nobody" cannot get'
        ' resource "pangolinresources" in API group "tunnel.pangolin.io" in the namespace'
        f' "{stage.name}"',
        "update failed",
    )
    assert (stage.objects(), stage.remembered) == before


def test_a_first_run_without_rights_names_the_verb(stage: Stage) -> None:
    nobody = str(stage.plane.kubeconfig_for("nobody"))

    assert stage.up(KUBECONFIG=nobody) == failed(
        "cannot get the CRD of PangolinResource: customresourcedefinitions.apiextensions.k8s.io"
        ' "pangolinresources.tunnel.pangolin.io" is forbidden: User "nobody" cannot get resource'
        ' "customresourcedefinitions" in API group "apiextensions.k8s.io" at the cluster scope'
        " (HTTP 403); grant the verb get to the account that runs pic, or set pic:resourceSchema"
    )


def test_an_api_server_that_is_down_changes_nothing(other_stage: Stage) -> None:
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

    # The engine refreshes before the program runs, so these are the words of its plugin.
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


def test_a_missing_crd_is_told_at_once(other_stage: Stage, other_plane: ControlPlane) -> None:
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
