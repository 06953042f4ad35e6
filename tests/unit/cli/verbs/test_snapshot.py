"""Tests `pic snapshot`, and `pic plan` with its file."""

import io
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cluster.listing import NETWORKING
from pic.settings.stack_file import StackFile
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, serving
from tests.support.fakes import ENVIRONMENT, run_pic

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a project with one stack, but without a kubeconfig."""
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER, "tunnelNamespaces": "."})
    return tmp_path


@pytest.fixture
def api(root: Path) -> Iterator[Api]:
    with serving() as api:
        fill_cluster(api, [ingress("web", "a.example.org"), ingress("other", "b.example.org")])
        api.kubeconfig(root / ENVIRONMENT["KUBECONFIG"])
        yield api


def output(capsys: Capture, *words: str) -> str:
    """Return the standard output of a successful command line."""
    code, out, err = run_pic(capsys, *words)
    assert (code, err) == (0, "")
    return out


def delete_kubeconfig(root: Path) -> None:
    (root / ENVIRONMENT["KUBECONFIG"]).unlink()


def test_the_plan_from_a_snapshot_equals_the_plan_of_the_cluster(
    root: Path, api: Api, capsys: Capture
) -> None:
    live = output(capsys, "plan", "--output", "json")
    assert output(capsys, "snapshot", "--out", "snap.json") == ""
    requests = len(api.requests)
    delete_kubeconfig(root)

    assert output(capsys, "plan", "--snapshot", "snap.json", "--output", "json") == live
    assert [resource["host"] for resource in json.loads(live)["resources"]] == [
        "a.example.org",
        "b.example.org",
    ]
    assert len(api.requests) == requests
    # Without the snapshot, the plan would need the kubeconfig.
    assert run_pic(capsys, "plan")[0] == 5


@pytest.mark.usefixtures("api")
def test_a_snapshot_is_written_to_standard_output_and_read_from_standard_input(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = output(capsys, "snapshot")
    output(capsys, "snapshot", "--out", "snap.json")
    texts = [(root / "snap.json").read_text(), text, output(capsys, "snapshot", "--out", "-")]
    # Each has the time of its reading.
    assert len({re.sub(r'"now": "[^"]+"', "", written) for written in texts}) == 1
    delete_kubeconfig(root)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    assert "b.example.org" in output(capsys, "plan", "--snapshot", "-")


def test_if_pic_cannot_read_the_whole_cluster_it_writes_nothing(
    root: Path, api: Api, capsys: Capture
) -> None:
    (root / "snap.json").write_text("the last one")
    api.refuse(f"{NETWORKING}/ingresses", 403, "no")

    assert run_pic(capsys, "snapshot", "--out", "snap.json") == (
        5,
        "",
        "pic: cannot list ingresses in all namespaces: no (HTTP 403); grant the verb list to the"
        " account that runs pic, or narrow pic:namespaces\n",
    )
    assert (root / "snap.json").read_text() == "the last one"


@pytest.mark.usefixtures("api")
def test_a_snapshot_for_other_settings_is_refused(capsys: Capture) -> None:
    output(capsys, "snapshot", "--out", "snap.json")

    other = ("--config", "tunnelNamespace=net", "--config", "tunnelNamespaces=")
    code, _, err = run_pic(capsys, "plan", "--snapshot", "snap.json", *other)

    assert code == 2
    assert err == (
        "pic: snap.json: the file was written for other settings: it lacks"
        " configmaps in net, lacks pangolinorganizations.tunnel.pangolin.io in net, lacks"
        " pangolintunnels.tunnel.pangolin.io in net, also has"
        " pangolinorganizations.tunnel.pangolin.io, also has pangolintunnels.tunnel.pangolin.io;"
        " run pic snapshot --out FILE to write a new one\n"
    )


def test_with_several_stacks_the_user_has_to_name_one(root: Path, capsys: Capture) -> None:
    StackFile(root, "dev").merge({"clusterId": CLUSTER, "tunnelNamespaces": "."})

    for words in (["snapshot"], ["plan", "--snapshot", "snap.json"]):
        assert run_pic(capsys, *words) == (
            2,
            "",
            "pic: name the stack with --stack: dev, prod\n",
        )
