"""Tests `pic init` in a real cluster."""

from pathlib import Path

import pytest
import yaml

from dev.controlplane import ControlPlane
from pic.cli import main

TUNNEL = """
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinTunnel
metadata: {name: home}
spec: {organizationRef: {name: acme}, siteName: home}
"""
NEXT = """
The cluster has all CRDs and permissions that pic needs. Next:
  pulumi stack init prod
  pulumi preview --stack prod
"""

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def cluster_id(control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Let pic run in an empty folder with the kubeconfig of the cluster; return its id."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(control_plane.kubeconfig))
    command = ("get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}")
    return control_plane.kubectl(*command)


def read_stack_file(root: Path) -> object:
    return yaml.safe_load((root / "stacks" / "Pulumi.prod.yaml").read_text())


def test_init_binds_a_stack_to_the_cluster_and_can_be_repeated(
    cluster_id: str, tmp_path: Path, capsys: Capture
) -> None:
    words = ["init", "--stack", "prod", "--tunnel-namespace", "tunnels"]
    assert main.main(words) == 0
    first = capsys.readouterr().out
    written = read_stack_file(tmp_path)
    assert main.main(words) == 0

    assert isinstance(written, dict)
    stack_id = written["config"]["pic:stackId"]
    head = (
        "wrote stacks/Pulumi.prod.yaml\n"
        "  pic:tunnelNamespace: tunnels\n"
        f"  pic:clusterId: {cluster_id}\n"
    )
    more = f"  pic:stackId: {stack_id}\n  pic:registerNamespace: tunnels\n"
    assert (first, capsys.readouterr().out) == (head + more + NEXT, head + NEXT)
    assert read_stack_file(tmp_path) == {
        "config": {
            "pic:tunnelNamespace": "tunnels",
            "pic:clusterId": cluster_id,
            "pic:stackId": stack_id,
            "pic:registerNamespace": "tunnels",
        }
    }
    assert written == read_stack_file(tmp_path)


@pytest.mark.usefixtures("cluster_id")
def test_init_finds_the_only_namespace_with_the_tunnels_of_one_team(
    control_plane: ControlPlane, namespace: str, tmp_path: Path
) -> None:
    # The tunnels of other tests are deleted with their namespaces.
    control_plane.kubectl("wait", "--for=delete", "pangolintunnels", "--all", "-A")
    control_plane.kubectl("create", "-n", namespace, "-f", "-", input=TUNNEL)

    main.main(["init", "--stack", "prod", "--tenants", "one"])

    config = read_stack_file(tmp_path)
    control_plane.kubectl("delete", "-n", namespace, "pangolintunnel/home")
    assert isinstance(config, dict)
    assert config["config"]["pic:tunnelNamespace"] == namespace


@pytest.mark.usefixtures("cluster_id")
def test_a_stack_of_another_cluster_is_refused(
    older_control_plane: ControlPlane,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    main.main(["init", "--stack", "prod"])
    before = read_stack_file(tmp_path)
    capsys.readouterr()
    monkeypatch.setenv("KUBECONFIG", str(older_control_plane.kubeconfig))

    assert main.main(["init", "--stack", "prod"]) == 2
    assert capsys.readouterr().err.startswith("pic: stack prod belongs to cluster ")
    assert read_stack_file(tmp_path) == before
