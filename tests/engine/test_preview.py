"""`pic preview` of the pull request in tests/unit/data: its whole report, on a real cluster."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.controlplane import ControlPlane
from dev.pangolin import verified_domain
from dev.toolchain import Toolchain
from dev.workspace import Workspace, workspace
from pic.settings.stack_file import StackFile
from tests.engine.stage import Cluster, api_of

DATA = Path(__file__).parent.parent / "unit" / "data" / "pull-request"
BRANCH = ("--manifests", str(DATA / "branch"), "--base", str(DATA / "main"))
STACK = "prod"
# Those of the cluster and of the objects in the files.
CLUSTER, DIGEST = "cluster-1", "417b591cdea8"
# What the CRDs require, so that a tunnel has an organisation, whose domain splits hosts as the
# public suffixes do.
REQUIRED: dict[str, dict[str, Any]] = {
    "PangolinTunnel": {"organizationRef": {"name": "home"}},
    "PangolinOrganization": {
        "apiEndpoint": "https://pangolin.example/api/v1",
        "apiKeyRef": {"name": "api", "key": "token"},
    },
}
DOMAIN = verified_domain("example.com")
STATUS = {
    "PangolinTunnel": {"status": "Ready"},
    "PangolinOrganization": {"status": "Ready", "domains": [DOMAIN]},
}


@dataclass(frozen=True)
class Project:
    """The stack of the pull request, deployed on a real cluster."""

    cluster: Cluster
    workspace: Workspace

    def report(self, verb: str, form: str, code: int = 0) -> str:
        """Return the report of a verb, which it writes to a file and nowhere else."""
        command = (str(self.workspace.python), "-m", "pic", verb, "--stack", STACK, *BRANCH)
        out = self.workspace.path / f"{verb}.{form}"
        told = ("--output", form, "--out", str(out), "--quiet")
        with self.workspace.start(*command, *told, stderr=-1) as process:
            printed = process.communicate()
        assert (process.returncode, *printed) == (code, "", "")
        return out.read_text()

    def expected(self, name: str) -> str:
        """Return a report from the files, of this cluster; its uid is part of the digest.

        Other tests have tunnels of the same name, so this stack looks in one namespace only.
        """
        digest = json.loads(self.report("diff", "json"))["digest"]
        text = (DATA / name).read_text().replace("in shop or elsewhere", "in pangolin")
        return text.replace(CLUSTER, self.cluster.id).replace(DIGEST, digest)


@pytest.fixture(scope="module")
def project(plane: ControlPlane, tools: Toolchain) -> Iterator[Project]:
    with workspace(tools, plane.kubeconfig, PULUMI_STACK=STACK) as made:
        cluster = Cluster(api_of(plane))
        for name in ("shop", "team", "pangolin"):
            cluster.apply("Namespace", "", name)
        for each in live():
            furnish(cluster, each)
        settings = {"clusterId": cluster.id, "namespaces": ["shop", "team"]}
        StackFile(made.path, STACK).merge({**settings, "tunnelNamespace": "pangolin"})
        made.pic("up", "--stack", STACK)
        yield Project(cluster, made)


def live() -> list[dict[str, Any]]:
    """Return what is live before the branch, but not what pic makes of it."""
    every = yaml.safe_load_all((DATA / "live.yaml").read_text())
    return [each for each in every if each["kind"] != "PangolinResource"]


def furnish(cluster: Cluster, each: dict[str, Any]) -> None:
    metadata = each["metadata"]
    place = (each["kind"], metadata["namespace"], metadata["name"])
    spec = {**REQUIRED.get(each["kind"], {}), **each.get("spec", {})}
    cluster.apply(*place, spec, metadata.get("annotations"))
    if status := STATUS.get(each["kind"]):
        cluster.patch(*place, {"status": status}, "/status")


@pytest.mark.parametrize(
    ("form", "name"), [("markdown", "review.md"), ("text", "review.txt"), ("html", "review.html")]
)
def test_a_preview_gives_the_whole_report_of_a_pull_request(
    project: Project, form: str, name: str
) -> None:
    assert project.report("preview", form) == project.expected(name)
