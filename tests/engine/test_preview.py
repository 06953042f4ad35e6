"""Tests the report of `pic preview` for the pull request in tests/unit/data."""

import re
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
from tests.engine.stage import Cluster
from tests.support.admin_api import api_of

DATA = Path(__file__).parent.parent / "unit" / "data" / "pull-request"
BRANCH = ("--manifests", str(DATA / "branch"), "--base", str(DATA / "main"))
STACK = "prod"
# The cluster id in the report files.
CLUSTER = "cluster-1"
# The fields that the CRDs require. The organization has the domain of the hosts, so pic splits them
# in the same way as with the public suffix list.
REQUIRED: dict[str, dict[str, Any]] = {
    "PangolinTunnel": {"organizationRef": {"name": "home"}},
    "PangolinOrganization": {
        "apiEndpoint": "https://api.pangolin.example",
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
    """Holds the deployed stack of the pull request."""

    cluster: Cluster
    workspace: Workspace

    def report(self, verb: str, form: str, code: int = 0) -> str:
        """Return the report that a verb writes to a file; it must print nothing else."""
        command = (str(self.workspace.python), "-m", "pic", verb, "--stack", STACK, *BRANCH)
        out = self.workspace.path / f"{verb}.{form}"
        flags = ("--output", form, "--out", str(out), "--quiet")
        with self.workspace.start(*command, *flags, stderr=-1) as process:
            printed = process.communicate()
        assert (process.returncode, *printed) == (code, "", "")
        # Only a run on a cluster has a register, and its number of parts depends on the hosts.
        return comparable(re.sub(r", \d+ parts? of the register", "", out.read_text()))

    def expected(self, name: str) -> str:
        """Return the expected report with the id of this cluster.

        Other tests have tunnels of the same name, so this stack looks in only one namespace.
        """
        text = (DATA / name).read_text().replace("shop or elsewhere", "pangolin")
        return comparable(text.replace(CLUSTER, self.cluster.id))


def comparable(report: str) -> str:
    """Return a report without its digests, which the id of the cluster changes."""
    return re.sub(r"(?<!-)\b([0-9a-f]{16}|[0-9a-f]{12})\b", "digest", report)


@pytest.fixture(scope="module")
def project(plane: ControlPlane, tools: Toolchain) -> Iterator[Project]:
    with workspace(tools, plane.kubeconfig, PULUMI_STACK=STACK) as project:
        cluster = Cluster(api_of(plane))
        for name in ("shop", "team", "pangolin"):
            cluster.apply("Namespace", "", name)
        for raw in live_objects():
            create(cluster, raw)
        settings = {"clusterId": cluster.id, "namespaces": ["shop", "team"], "stackId": "0" * 16}
        StackFile(project.path, STACK).merge({**settings, "tunnelNamespace": "pangolin"})
        project.pic("up", "--stack", STACK)
        yield Project(cluster, project)


def live_objects() -> list[dict[str, Any]]:
    """Return the live objects before the branch, without those that pic creates."""
    documents = yaml.safe_load_all((DATA / "live.yaml").read_text())
    return [raw for raw in documents if raw["kind"] != "PangolinResource"]


def create(cluster: Cluster, raw: dict[str, Any]) -> None:
    metadata = raw["metadata"]
    key = (raw["kind"], metadata["namespace"], metadata["name"])
    spec = {**REQUIRED.get(raw["kind"], {}), **raw.get("spec", {})}
    cluster.apply(*key, spec, metadata.get("annotations"))
    if status := STATUS.get(raw["kind"]):
        cluster.patch(*key, {"status": status}, "/status")


@pytest.mark.parametrize(
    ("form", "name"), [("markdown", "review.md"), ("text", "review.txt"), ("html", "review.html")]
)
def test_a_preview_writes_the_whole_report_of_a_pull_request(
    project: Project, form: str, name: str
) -> None:
    assert project.report("preview", form) == project.expected(name)
