"""Tests how `pic diff` and `pic plan` treat what the files of a branch could hide."""

from pathlib import Path

import pytest

from pic.core.names import STACK_LABEL
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from pic.snapshot import snapshot_file
from pic.snapshot.assemble import RawSnapshot
from tests.support.fakes import run_pic
from tests.support.manifests import ingress_manifest, write_manifests

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a checkout with one stack and the snapshot of an empty cluster."""
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": "cluster-1"})
    raw = RawSnapshot({"Ingress": [], "PangolinResource": []}, "cluster-1")
    (tmp_path / "prod.json").write_text(snapshot_file.render(raw, Settings()))
    return tmp_path


def resource(**metadata: object) -> dict[str, object]:
    return {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": "raw", "namespace": "prod", **metadata},
        "spec": {"httpConfig": {"domainName": "example.com", "subdomain": "raw"}},
    }


def diff(capsys: Capture, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, "diff", "--snapshot", "prod.json", *words)


def test_15_an_exposure_outside_pic_is_a_change(root: Path, capsys: Capture) -> None:
    path = write_manifests(root, resource())

    code, out, err = diff(capsys, "--manifests", path, "--expect-no-changes")

    counts = "1 exposure outside pic (0 live, 0 planned)"
    assert (code, out.splitlines()[0], err) == (7, counts, f"pic: there are changes: {counts}\n")


def test_15_an_object_without_a_namespace_needs_the_flag_with_removed_files(
    root: Path, capsys: Capture
) -> None:
    path = write_manifests(root, {**ingress_manifest("web"), "metadata": {"name": "web"}})
    words = ("--removed", path)

    assert diff(capsys, *words) == (
        2,
        "",
        f"pic: {path}:1: Ingress web has no namespace; write metadata.namespace, or pass"
        " --namespace NAME\n",
    )
    assert diff(capsys, *words, "--namespace", "prod")[0] == 0
    assert diff(capsys, *words, "--namespace", "Prod")[0] == 2


def test_15_a_plan_places_objects_in_the_namespace_given(root: Path, capsys: Capture) -> None:
    spec = {"ingressClassName": "pangolin"}
    manifest = {**ingress_manifest("web"), "metadata": {"name": "web"}, "spec": spec}
    words = ("--manifests", write_manifests(root, manifest), "--namespace", "team")

    offline = run_pic(capsys, "plan", "--offline", *words)
    on_snapshot = run_pic(capsys, "plan", "--snapshot", "prod.json", *words)

    assert "Ingress team/web" in offline[1]
    assert "Ingress team/web" in on_snapshot[1]


def test_15_an_offline_plan_says_which_objects_of_the_files_count_as_live(
    root: Path, capsys: Capture
) -> None:
    labels = {STACK_LABEL: "pic.prod"}
    words = ("plan", "--offline", "--manifests")

    saved = run_pic(capsys, *words, write_manifests(root, resource(labels=labels, uid="u")))
    written = run_pic(capsys, *words, write_manifests(root, resource(labels=labels)))

    assert saved[2] == (
        "pic: PangolinResources in the files that count as live, by stack label and uid: 1\n"
    )
    assert written[2] == ""


def test_22_a_snapshot_has_to_be_a_regular_file(capsys: Capture) -> None:
    assert run_pic(capsys, "diff", "--snapshot", "/dev/zero") == (
        2,
        "",
        "pic: /dev/zero: cannot be read: it is not a regular file; pass the content as standard"
        " input; run pic snapshot --out FILE to write a new one\n",
    )
