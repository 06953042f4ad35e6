"""Tests how runs recover from a lost state, a killed run and a changed owner."""

import base64
import os
import shutil
import signal
from pathlib import Path

import yaml

from tests.engine.answers import failed, succeeded
from tests.engine.stage import Stage
from tests.support.waiting import until_moment


def test_a_lost_state_is_recovered_without_changing_live_objects(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.up()
    before = stage.identities()
    stage.lose_state()

    answer = stage.up()

    shop, www = stage.host("shop"), stage.host("www")
    assert answer == succeeded(
        *(("create", "cluster"), ("import", shop), ("update", shop)),
        *(("import", www), ("update", www)),
    )
    assert stage.identities() == before
    assert stage.up() == succeeded()


def test_a_plain_up_warns_about_an_orphan_and_pic_up_deletes_it(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.up()
    stage.lose_state()
    stage.ingress("old", "old", class_name="nginx")
    name = stage.object("old")["metadata"]["name"]
    warning = (
        f"UntrackedOrphan: PangolinResource {stage.name}/{name}: {stage.host('old')}: an"
        " interrupted run left it and no Ingress asks for it; the state does not have it, so this"
        " run leaves it: pic up deletes it"
    )

    preview, plain = stage.preview(), stage.up()

    assert (preview.warnings, plain.warnings) == ((warning,), (warning,))
    assert set(stage.identities()) == {stage.host("www"), stage.host("old")}
    assert stage.pic("up").code == 0
    assert set(stage.identities()) == {stage.host("www")}
    assert stage.up().warnings == ()


def test_the_next_run_repairs_what_a_killed_run_leaves(stage: Stage) -> None:
    words = [f"h{number}" for number in range(60)]
    for start in range(0, 60, 6):
        stage.ingress(f"web-{start}", *words[start : start + 6])
    command = stage.workspace.pulumi_command("up", "--yes", "--skip-preview")
    with stage.workspace.start(*command, env={"PULUMI_SKIP_CHECKPOINTS": "true"}) as process:
        until_moment(lambda: len(stage.objects()) >= 5, "a few objects exist")
        os.killpg(process.pid, signal.SIGKILL)
    stage.workspace.end()  # the Kubernetes plugin may outlive its engine
    before = stage.settled()

    locked = stage.up()
    stage.workspace.pulumi("cancel", "--yes")
    answer = stage.up()

    live, wanted = set(before), {stage.host(word) for word in words}
    assert "the stack is currently locked by 1 lock(s)" in locked.printed
    assert stage.remembered == sorted(wanted)
    assert (answer.code, answer.hosts("import"), answer.hosts("create")) == (
        *(0, live),
        {*(wanted - live), "cluster"},
    )
    after = stage.identities()
    assert set(after) == wanted
    assert {host: after[host] for host in live} == before


def test_the_state_contains_no_path_and_no_credential(stage: Stage, tmp_path: Path) -> None:
    stage.ingress("web", "www")
    first, second = tmp_path / "first", tmp_path / "second"
    for path in (first, second):
        shutil.copy(stage.plane.kubeconfig, path)
    config = yaml.safe_load(first.read_text())
    authority = config["clusters"][0]["cluster"]["certificate-authority-data"]

    assert stage.up(KUBECONFIG=str(first)).code == 0
    assert stage.up(KUBECONFIG=str(second)) == succeeded()

    secrets = (
        *(str(first), str(second), config["users"][0]["user"]["token"], stage.plane.server),
        *(authority, base64.b64decode(authority).decode().splitlines()[1]),
    )
    files = [path for path in stage.workspace.state.rglob("*") if path.is_file()]
    assert {secret for secret in secrets for path in files if secret in path.read_text()} == set()


def test_an_object_that_another_stack_has_taken_over_is_not_deleted(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.ingress("other", "other")
    stage.up()
    name = stage.object("www")["metadata"]["name"]
    patch = {"metadata": {"labels": {"pic.ingress.k8s.io/stack": "pic.another"}}}
    stage.cluster.patch("PangolinResource", stage.name, name, patch)
    before = stage.objects()
    stage.ingress("web", "www", class_name="nginx")

    assert stage.up() == failed(
        f'before hook "pic:before-delete" failed: PangolinResource {stage.name}/{name} is no longer'
        " ours (other stack): not deleted. Run `pulumi state delete` on its URN to forget it",
        "update failed",
    )
    assert stage.objects() == before


def test_a_refresh_that_runs_the_program_changes_nothing(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = (stage.objects(), stage.remembered)

    assert stage.pulumi("refresh", "--yes", "--skip-preview", "--run-program") == succeeded()
    assert (stage.objects(), stage.remembered) == before


def test_a_destroy_without_the_program_is_refused(stage: Stage) -> None:
    stage.ingress("web", "www")
    stage.up()
    before = stage.objects()

    answer = stage.pulumi("destroy", "--yes", "--skip-preview")

    assert answer.complaints == (
        "Resource has delete hooks registered, but the program is not running. Hooks:"
        " pic:before-delete, pic:after-delete",
    )
    assert answer.printed.endswith(
        "error: You must run with the `--run-program` flag to use delete hooks during destroy.\n"
    )
    assert stage.objects() == before


def test_a_destroy_with_release_removes_everything(stage: Stage) -> None:
    stage.ingress("web", "www", "shop")
    stage.up()
    command = ("destroy", "--yes", "--skip-preview", "--run-program")

    answer = stage.pulumi(*command, PIC_RELEASE="1")

    assert answer == succeeded(
        *(("delete", name) for name in ("cluster", stage.host("shop"), stage.host("www")))
    )
    assert (stage.objects(), stage.remembered) == ([], [])
    assert [reason for _, reason, _ in stage.events()] == ["Created"] * 2 + ["Deleted"] * 2
