"""Tests the review of a branch: what it plans, and which notices it hides."""

from pathlib import Path

from pic.core.notices import Reason
from pic.planning.ownership import Ownership
from pic.run import comparison
from pic.run.comparison import Comparison
from pic.run.stack_config import StackConfig
from pic.settings.parse import Settings
from pic.snapshot.branch import Branch
from tests.support.api import (
    CLUSTER,
    REGISTER_NAMESPACE,
    STACK_ID,
    fill_cluster,
    ingress,
    live_object,
    serving,
)
from tests.support.manifests import write_manifests

SETTINGS = Settings(
    cluster_id=CLUSTER,
    stack_id=STACK_ID,
    register_namespace=REGISTER_NAMESPACE,
    tunnel_namespaces=(".",),
)
OURS = Ownership("pic.prod", stack_id=STACK_ID)
A, B = "a.example.com", "b.example.com"


def compare(tmp_path: Path, *manifests: dict[str, object]) -> Comparison:
    """Compare a cluster with one host and one warning with a branch of these manifests."""
    config = StackConfig(SETTINGS, "pic.prod", OURS, ())
    paths = [write_manifests(tmp_path, *manifests)] if manifests else []
    with serving() as api:
        fill_cluster(api, [ingress("web", A), ingress("odd", "")], live_object(A))
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        return comparison.compare("prod", config, environment, Branch(paths))


def test_a_branch_is_planned_together_with_the_cluster(tmp_path: Path) -> None:
    compared = compare(tmp_path, ingress("new", B))

    assert [resource.host for resource in compared.plan.resources] == [A, B]
    assert [resource.host for resource in compared.changes.created] == [B]


def test_a_review_hides_the_notices_that_the_cluster_already_has(tmp_path: Path) -> None:
    compared = compare(tmp_path, ingress("new", "*"))

    assert [notice.reason for notice in compared.plan.notices] == [
        Reason.INVALID_HOST,
        Reason.EMPTY_HOST,
    ]
    assert [notice.reason for notice in compared.review.notices] == [Reason.INVALID_HOST]


def test_a_review_without_a_branch_shows_all_notices(tmp_path: Path) -> None:
    compared = compare(tmp_path)

    assert compared.notices_before is None
    assert [notice.reason for notice in compared.review.notices] == [Reason.EMPTY_HOST]
