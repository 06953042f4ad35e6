"""`pic snapshot`, and planning from what it wrote."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.cli import main
from pic.cluster.listing import NETWORKING
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    serving,
)

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one stack, and no way to any cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    for name in [each for each in os.environ if each.startswith(("PIC_", "KUBE"))]:
        monkeypatch.delenv(name)
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER})
    return tmp_path


@pytest.fixture
def api(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    with serving() as api:
        fill_cluster(api, [ingress("web", "a.example.org"), ingress("other", "b.example.org")])
        monkeypatch.setenv("KUBECONFIG", api.kubeconfig(root / "config"))
        yield api


def output(capsys: Capture, *words: str) -> str:
    assert main.main(words) == 0
    said = capsys.readouterr()
    assert said.err == ""
    return said.out


def test_what_is_planned_from_a_snapshot_is_what_is_planned_live(
    api: Api, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = output(capsys, "plan", "--output", "json")
    assert output(capsys, "snapshot", "--out", "snap.json") == ""
    asked = len(api.requests)
    monkeypatch.delenv("KUBECONFIG")

    assert output(capsys, "plan", "--snapshot", "snap.json", "--output", "json") == live
    assert [each["host"] for each in json.loads(live)["resources"]] == [
        "a.example.org",
        "b.example.org",
    ]
    assert len(api.requests) == asked
    # Without a snapshot there is no way on.
    assert main.main(["plan"]) == 5


@pytest.mark.usefixtures("api")
def test_a_snapshot_goes_to_standard_output_and_comes_from_standard_input(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = output(capsys, "snapshot")
    output(capsys, "snapshot", "--out", "snap.json")
    assert (root / "snap.json").read_text() == text == output(capsys, "snapshot", "--out", "-")
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    assert "b.example.org" in output(capsys, "plan", "--snapshot", "-")


def test_a_cluster_that_cannot_be_read_whole_writes_nothing(
    root: Path, api: Api, capsys: Capture
) -> None:
    (root / "snap.json").write_text("the last one")
    api.refuse(f"{NETWORKING}/ingresses", 403, "no")

    assert main.main(["snapshot", "--out", "snap.json"]) == 5
    assert capsys.readouterr() == (
        "",
        "pic: cannot list ingresses in all namespaces: no (HTTP 403); grant the verb list to who"
        " runs pic, or narrow pic:namespaces\n",
    )
    assert (root / "snap.json").read_text() == "the last one"


@pytest.mark.usefixtures("api")
def test_a_snapshot_of_other_settings_is_no_snapshot_for_these(capsys: Capture) -> None:
    output(capsys, "snapshot", "--out", "snap.json")

    assert main.main(["plan", "--snapshot", "snap.json", "--config", "tunnelNamespace=net"]) == 2
    assert capsys.readouterr().err == (
        "pic: snap.json: the file was written for other settings: it lacks"
        " pangolinorganizations.tunnel.pangolin.io in net, lacks"
        " pangolintunnels.tunnel.pangolin.io in net, also has"
        " pangolinorganizations.tunnel.pangolin.io, also has pangolintunnels.tunnel.pangolin.io;"
        " run pic snapshot --out FILE to write a new one\n"
    )


def test_of_several_stacks_one_must_be_named(root: Path, capsys: Capture) -> None:
    StackFile(root, "dev").merge({"clusterId": CLUSTER})

    for words in (["snapshot"], ["plan", "--snapshot", "snap.json"]):
        assert main.main(words) == 2
        assert capsys.readouterr().err == "pic: name the stack with --stack: dev, prod\n"
