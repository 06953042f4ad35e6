"""Tests the flags about manifest files, and what pic says about the files on standard error."""

import json
import shlex
from pathlib import Path

import pytest

from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from pic.snapshot import snapshot_file
from pic.snapshot.assemble import RawSnapshot
from tests.support.fakes import run_pic
from tests.support.manifests import ingress_manifest

Capture = pytest.CaptureFixture[str]
OFFLINE = ("plan", "--offline", "--manifests", "deploy")
BROKEN = "kind: Ingress\napiVersion: networking.k8s.io/v1\nmetadata: [\n"


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a checkout with one stack and the snapshot of an empty cluster."""
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": "cluster-1"})
    raw = RawSnapshot({"Ingress": [], "Service": [], "PangolinResource": []}, "cluster-1")
    (tmp_path / "prod.json").write_text(snapshot_file.render(raw, Settings()))
    return tmp_path


def ingress(host: str, class_name: str = "pangolin", **metadata: object) -> dict[str, object]:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    paths = {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}
    spec = {"ingressClassName": class_name} if class_name else {}
    return {
        **ingress_manifest(host),
        "metadata": {"name": host, "namespace": "prod", **metadata},
        "spec": {**spec, "rules": [{"host": f"{host}.example.com", "http": paths}]},
    }


def write(path: str, *objects: object) -> None:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    texts = (it if isinstance(it, str) else json.dumps(it) for it in objects)
    file.write_text("\n---\n".join(texts))


def diff(capsys: Capture, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, "diff", "--snapshot", "prod.json", "--manifests", "deploy", *words)


def test_files_that_are_left_out_are_counted_and_listed(capsys: Capture) -> None:
    write("deploy/web.yaml", ingress("web"))
    write("deploy/charts/a.yaml", "{{ x }}: y")
    write("deploy/charts/b.yaml", "{{ x }}: y")
    write("deploy/bad.yaml", BROKEN)

    code, out, err = run_pic(capsys, *OFFLINE, "--skip-broken", "--exclude", "charts/*")

    assert (code, err) == (
        0,
        "pic: read 1 file; --skip-broken left out 1, --exclude left out 2\n",
    )
    assert "web.example.com" in out
    assert (
        "Warning: FileSkipped: Flag --skip-broken: deploy/bad.yaml:4: did not find expected node"
        " content"
    ) in out.splitlines()


def test_only_the_flag_that_left_files_out_is_named(capsys: Capture) -> None:
    write("deploy/web.yaml", ingress("web"))
    write("deploy/x.yaml", BROKEN)

    _, _, skipped = run_pic(capsys, *OFFLINE, "--skip-broken")
    _, _, err = run_pic(capsys, *OFFLINE, "--exclude", "x.yaml")

    assert skipped == "pic: read 1 file; --skip-broken left out 1\n"
    assert err == "pic: read 1 file; --exclude left out 1\n"


def test_a_review_without_a_base_lists_what_was_left_out(capsys: Capture) -> None:
    write("deploy/web.yaml", ingress("web"))
    write("deploy/bad.yaml", BROKEN)
    write("deploy/x.yaml", ingress("x"))

    code, out, err = diff(capsys, "--skip-broken", "--exclude", "x.yaml")

    assert (code, err) == (
        0,
        "pic: read 1 file; --skip-broken left out 1, --exclude left out 1\n",
    )
    assert "FileSkipped: Flag --skip-broken: deploy/bad.yaml:4: " in out
    assert "FilesExcluded: Flag --exclude: 1 file is left out: " in out


@pytest.mark.parametrize("flag", ["--base", "--removed"])
def test_a_review_of_deletions_skips_nothing(capsys: Capture, flag: str) -> None:
    write("deploy/web.yaml", ingress("web"))

    assert diff(capsys, flag, "deploy", "--skip-broken") == (
        2,
        "",
        "pic: --skip-broken cannot be used with --base or --removed: an object in a skipped file"
        " would count as deleted, or its deletion would be missed\n",
    )


def test_what_a_review_could_not_show_is_there_although_the_base_is_the_same(
    capsys: Capture,
) -> None:
    write("deploy/kustomization.yaml", "resources: [web.yaml]\n")
    write("deploy/web.yaml", ingress("web"))
    write("deploy/x.yaml", ingress("x"))

    _, out, _ = diff(capsys, "--base", "deploy", "--exclude", "x.yaml")

    assert "Warning: NotRendered: Kustomization deploy: " in out
    assert "Normal: FilesExcluded: Flag --exclude: " in out


def test_an_assumed_namespace_is_in_the_review_of_a_branch_without_a_base(capsys: Capture) -> None:
    write("deploy/web.yaml", ingress("web", namespace=None))

    assert "Normal: NamespaceAssumed: Namespace default: 1 object" in diff(capsys)[1]
    assert "NamespaceAssumed" not in diff(capsys, "--namespace", "default")[1]


def test_ingresses_of_other_classes_are_counted_with_the_way_to_try_them(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a", "nginx"), ingress("b", "${CLASS}"), ingress("c", "nginx"))
    write("deploy/b.yaml", ingress("d", ""))

    code, _, err = run_pic(capsys, *OFFLINE)

    flag = """--config ingressClasses='["", "??CLASS?", "nginx"]'"""
    assert (code, err) == (
        0,
        "pic: read 2 files, 4 objects, 4 Ingresses; of our classes none (nginx 2, ${CLASS} 1,"
        f" without a class 1)\npic: to try them, add {flag}\n",
    )
    _, out, err = run_pic(capsys, *OFFLINE, *shlex.split(flag))
    assert [line.split()[0] for line in out.splitlines()[1:5]] == [
        f"{host}.example.com" for host in "abcd"
    ]
    assert err == ""


def test_many_classes_are_not_all_listed(capsys: Capture) -> None:
    write("deploy/a.yaml", *(ingress(f"i{number}", f"c{number:02}") for number in range(12)))

    assert "c09 1, 2 more classes)" in run_pic(capsys, *OFFLINE)[2]


def test_ingresses_outside_the_namespaces_are_not_blamed_on_their_class(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a"))

    _, _, err = run_pic(capsys, *OFFLINE, "--config", "namespaces=other")

    assert (
        err == "pic: read 1 file, 1 object, 1 Ingress; none is in a namespace of pic:namespaces\n"
    )


@pytest.mark.parametrize(
    "manifest",
    [
        ingress("a"),
        {**ingress("a"), "spec": {"ingressClassName": "pangolin", "rules": 3}},
        ingress("a", annotations={"pangolin.ingress.k8s.io/enabled": "false"}),
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "prod"}},
    ],
)
def test_nothing_is_said_where_a_class_is_ours_or_there_are_no_ingresses(
    capsys: Capture, manifest: object
) -> None:
    write("deploy/a.yaml", manifest)

    assert run_pic(capsys, *OFFLINE)[2] == ""


def test_with_pihole_alone_no_class_is_missing(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a", "nginx"))

    words = ("--config", "targets=pihole")
    assert run_pic(capsys, *OFFLINE, *words)[2] == ""


def test_what_the_files_lack_does_not_exist_with_complete(capsys: Capture) -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "namespace": "x"}}
    write("deploy/a.yaml", ingress("a"), service)

    partial, complete = run_pic(capsys, *OFFLINE), run_pic(capsys, *OFFLINE, "--complete")

    assert "NotInFiles: Service prod/web: 1 Service that an Ingress needs" in partial[1]
    assert "Service web does not exist in namespace prod" in complete[1]


def test_complete_is_for_a_plan_of_files(capsys: Capture) -> None:
    assert run_pic(capsys, "plan", "--complete") == (
        2,
        "",
        "pic: --complete needs --offline: a cluster is always read as a whole\n",
    )


def test_nameless_objects_are_listed_with_their_lines(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a"), ingress("b", name=None), ingress("c", name=""))

    _, out, _ = run_pic(capsys, *OFFLINE)

    assert [line for line in out.splitlines() if "InvalidObject" in line] == [
        "Warning: InvalidObject: Ingress prod/: metadata.name is missing (deploy/a.yaml:3)",
        "Warning: InvalidObject: Ingress prod/: metadata.name is missing (deploy/a.yaml:5)",
    ]
    assert "a.example.com" in out


def test_a_folder_is_rendered_with_the_tool_of_the_user(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("deploy/kustomization.yaml", "resources: []\n")
    write("rendered.json", ingress("web"))
    tool = root / "kustomize"
    tool.write_text(f"#!/bin/sh\ncat {root}/rendered.json\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{root}:/usr/bin:/bin")

    code, out, _ = run_pic(capsys, *OFFLINE, "--render", "kustomize")

    assert code == 0
    assert "web.example.com" in out
    assert "NotRendered" not in out
    assert run_pic(capsys, *OFFLINE, "--render", "make")[0] == 2


def test_a_variable_in_a_path_is_named(capsys: Capture) -> None:
    manifest = json.loads(json.dumps(ingress("a")).replace('"path": "/"', '"path": "/${APP}"'))
    write("deploy/a.yaml", manifest)

    assert (
        "path /${APP} (spec.rules[0].http.paths[0]) matches only this very text: variable not"
        " filled in: ${APP}\n"
    ) in run_pic(capsys, *OFFLINE)[1]


def test_a_review_of_ingresses_of_other_classes_says_so(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a", "nginx"))

    assert diff(capsys)[2] == (
        "pic: read 1 file, 1 object, 1 Ingress; of our classes none (nginx 1)\n"
        "pic: to try them, add --config ingressClasses='[\"nginx\"]'\n"
    )
    assert diff(capsys, "--quiet")[2] == ""


def test_a_review_says_nothing_where_an_ingress_may_count(capsys: Capture) -> None:
    write("deploy/a.yaml", ingress("a", ""))
    StackFile(Path.cwd(), "prod").merge({"ingressClasses": ["pangolin", ""]})
    raw = RawSnapshot({"Ingress": [], "Service": [], "IngressClass": []}, "cluster-1")
    settings = Settings(ingress_classes=("pangolin", ""))
    Path("prod.json").write_text(snapshot_file.render(raw, settings))

    assert diff(capsys)[2] == ""
