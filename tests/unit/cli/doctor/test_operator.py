"""Tests that the doctor names the Pangolin operator of a cluster, and its limits."""

from typing import Any

import pytest

from pic.cli.doctor import operator
from pic.cluster.listing import CRD, StatusError
from pic.core.errors import ClusterError
from pic.core.findings import Finding, failed, passed, skipped
from pic.settings.parse import ResourceSchema, Settings, TargetName, Unpublish
from tests.support.canned import Canned

STEFB69 = (
    "it leaves the route of a deleted object in Pangolin, it finds at most 20 resources in"
    " Pangolin, it does not send paths to Pangolin, it does not remove targets from Pangolin"
)
BOVF = (
    "it leaves the route of a deleted object in Pangolin, it finds at most 20 resources in"
    " Pangolin, it has one target for each host, it has neither login nor block, it takes another"
    " domain without domainId"
)
ADVICE = (
    "set pic:ownerReferences to false and pic:unpublish to block, so that a host which is no longer"
    " declared is not public (docs/limits.md)"
)
BY_HAND = (
    "remove the resource in the dashboard of Pangolin when a host is no longer declared"
    " (docs/limits.md)"
)
CURRENT = Settings(resource_schema=ResourceSchema.TARGETS)
OLDER = Settings(resource_schema=ResourceSchema.TARGET)


def deployment(
    image: str, *, replicas: int = 1, containers: list[dict[str, str]] | None = None
) -> dict[str, Any]:
    pod = {"containers": [{"image": image}] if containers is None else containers}
    return {
        "metadata": {"namespace": "pangolin-operator-system", "name": "manager"},
        "spec": {"replicas": replicas, "template": {"spec": pod}},
    }


def findings(answer: object, settings: Settings = CURRENT) -> list[Finding]:
    transport = Canned({"/apis/apps/v1/deployments#": answer})
    return list(operator.examine(transport, settings))


def found(image: str, **more: Any) -> list[Finding]:
    return findings({"items": [deployment(image, **more)]})


def at(image: str) -> str:
    return f"(Deployment pangolin-operator-system/manager, image {image})"


@pytest.mark.parametrize(
    ("image", "name", "limits"),
    [
        ("ghcr.io/stefb69/op:1", "stefb69/pangolin-operator", STEFB69),
        ("ghcr.io/bovf/op:1", "bovf/pangolin-operator", BOVF),
        (
            "ghcr.io/niki-on-github/op:1",
            "niki-on-github/pangolin-operator",
            f"{STEFB69}, it writes the API key to its log: use another image",
        ),
        # An image without a known name is judged by the CRD.
        ("registry.example/op:1", "stefb69/pangolin-operator", STEFB69),
    ],
)
def test_the_doctor_names_the_operator_by_its_deployment_with_its_limits(
    image: str, name: str, limits: str
) -> None:
    assert found(image) == [passed("operator", f"{name} {at(image)}: {limits}", ADVICE)]


def test_the_container_of_the_operator_counts_not_one_beside_it() -> None:
    containers = [
        {"name": "proxy", "image": "ghcr.io/bovf/proxy"},
        {"name": "manager", "image": "ghcr.io/stefb69/op:1"},
    ]

    assert found("", containers=containers)[0].message.startswith("stefb69/pangolin-operator")
    assert found("", containers=[])[0].message.startswith("stefb69/pangolin-operator")


def test_an_operator_without_replicas_is_a_failure() -> None:
    assert found("op", replicas=0) == [
        failed(
            "operator",
            "Deployment pangolin-operator-system/manager, image op has 0 replicas",
            "scale it up: without it nothing changes in Pangolin",
        )
    ]


def test_without_a_deployment_the_crd_tells_the_operator() -> None:
    where = "(by its CRD, since no Deployment has the usual label)"

    assert findings({"items": []}) == [
        passed("operator", f"stefb69/pangolin-operator {where}: {STEFB69}", ADVICE)
    ]
    assert findings({"items": []}, OLDER) == [
        passed("operator", f"bovf/pangolin-operator {where}: {BOVF}", BY_HAND)
    ]


def test_without_the_permission_to_list_deployments_the_crd_tells_the_operator() -> None:
    where = "(by its CRD, since pic may not list Deployments)"

    assert findings(StatusError(403, "forbidden")) == [
        passed("operator", f"stefb69/pangolin-operator {where}: {STEFB69}", ADVICE)
    ]


def test_a_stack_that_blocks_hosts_first_gets_no_advice() -> None:
    settings = Settings(
        resource_schema=ResourceSchema.TARGETS,
        owner_references=False,
        unpublish=Unpublish.BLOCK,
    )

    assert [finding.remedy for finding in findings({"items": [deployment("op")]}, settings)] == [""]


def test_an_error_of_the_api_server_is_reported() -> None:
    with pytest.raises(ClusterError, match=r"cannot list Deployments: broken \(HTTP 500\)"):
        findings(StatusError(500, "broken"))
    with pytest.raises(ClusterError):
        list(operator.examine(Canned({CRD: StatusError(404, "no")}), Settings()))


def test_a_stack_without_pangolin_needs_no_operator() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    assert list(operator.examine(Canned({}), settings)) == [
        skipped("operator", "pic:targets does not contain pangolin")
    ]
