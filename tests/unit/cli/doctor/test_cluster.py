"""Tests what the doctor finds in a cluster, with a fake API server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pic.cli.doctor import cluster, operator
from pic.cli.doctor.project import Stack
from pic.cluster.listing import CRD, IDENTITY, PANGOLIN, Timeouts
from pic.cluster.review_access import REVIEWS_PATH
from pic.core.findings import Finding, failed, passed, skipped
from pic.settings.parse import ResourceSchema, Settings, TargetName
from tests.support.api import CLUSTER, Answer, Api, serving
from tests.support.doctor_contexts import FakeCheckout

HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"
KINDS = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
BOUND = Settings(cluster_id=CLUSTER)
HEALTHY = [
    passed("cluster", "Kubernetes v1.36.3"),
    passed("cluster id", CLUSTER),
    passed("CRDs", "current generation, without hosts without a subdomain"),
    passed("permissions", "all 14 are granted"),
]


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        server.set_answers("/version", Answer({"gitVersion": "v1.36.3"}))
        server.set_answers(PANGOLIN, Answer({"resources": [{"name": name} for name in KINDS]}))
        server.set_answers(REVIEWS_PATH, Answer({"status": {"allowed": True}}))
        yield server


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    return FakeCheckout(tmp_path)


def findings(checkout: FakeCheckout, api: Api, settings: Settings = BOUND) -> list[Finding]:
    context = checkout.context({"KUBECONFIG": api.kubeconfig(checkout.root / "config")})
    # The server answers at once, so a retry need not wait.
    found = cluster.examine(context, Stack("prod", settings), Timeouts(backoff=0.0))
    return [finding for finding in found if finding.name != operator.NAME]


def test_a_healthy_cluster_passes_every_check(checkout: FakeCheckout, api: Api) -> None:
    assert findings(checkout, api) == HEALTHY


def test_without_settings_every_check_is_skipped(checkout: FakeCheckout) -> None:
    assert list(cluster.examine(checkout.context(), Stack("prod"))) == [
        skipped(name, "the settings of the stack are unknown")
        for name in ("cluster", "cluster id", "CRDs", "operator", "permissions")
    ]


def test_an_unreachable_cluster_fails_one_check_and_skips_the_others(
    checkout: FakeCheckout,
) -> None:
    nowhere = checkout.context({"KUBECONFIG": str(checkout.root / "none")})

    first, *others = cluster.examine(nowhere, Stack("prod", BOUND))

    assert (first.name, first.verdict, first.exit_code) == ("cluster", "fail", 5)
    assert first.message.startswith("cannot connect to the cluster: ")
    assert others == [
        skipped(name, "the cluster does not answer")
        for name in ("cluster id", "CRDs", "operator", "permissions")
    ]


def test_rejected_credentials_are_a_failure(checkout: FakeCheckout, api: Api) -> None:
    api.refuse("/version", 401, "who are you")

    assert findings(checkout, api)[0] == failed(
        "cluster", "the API server rejects the credentials: renew them"
    )


def test_a_hidden_version_does_not_stop_the_other_checks(checkout: FakeCheckout, api: Api) -> None:
    api.refuse("/version", 403, "no")

    hidden = passed("cluster", "it answers, but hides its version (HTTP 403)")
    assert findings(checkout, api) == [hidden, *HEALTHY[1:]]


def test_a_stack_without_a_cluster_id_is_a_failure(checkout: FakeCheckout, api: Api) -> None:
    message = f"pic:clusterId is not set, and this is cluster {CLUSTER}"

    unbound = failed("cluster id", message, "pic init --stack prod", 2)
    assert findings(checkout, api, Settings()) == [HEALTHY[0], unbound, *HEALTHY[2:]]


def test_a_stack_of_another_cluster_is_a_failure(checkout: FakeCheckout, api: Api) -> None:
    message = f"this is cluster {CLUSTER}, but the stack belongs to elsewhere"

    assert findings(checkout, api, Settings(cluster_id="elsewhere"))[1] == failed(
        "cluster id", message, "check pic:context and KUBECONFIG", 2
    )


def test_a_failed_check_does_not_stop_the_others(checkout: FakeCheckout, api: Api) -> None:
    api.refuse(IDENTITY, 404, "gone")
    api.refuse(PANGOLIN, 500, "ill")
    api.refuse(REVIEWS_PATH, 403, "no")

    assert [(finding.name, finding.verdict.value) for finding in findings(checkout, api)] == [
        ("cluster", "pass"),
        ("cluster id", "fail"),
        ("CRDs", "fail"),
        ("permissions", "fail"),
    ]


def test_each_missing_crd_is_named(checkout: FakeCheckout, api: Api) -> None:
    api.set_answers(PANGOLIN, Answer({"resources": [{"name": "pangolintunnels"}]}))

    assert findings(checkout, api)[2:4] == [
        failed("CRDs", f"{plural}.tunnel.pangolin.io is missing", HINT)
        for plural in ("pangolinresources", "pangolinorganizations")
    ]


def test_the_older_generation_is_described_with_what_it_lacks(
    checkout: FakeCheckout, api: Api
) -> None:
    fields: dict[str, Any] = {
        "target": {},
        "httpConfig": {"properties": {}},
        "tunnelRef": {"properties": {}},
    }
    spec = {"properties": {"spec": {"properties": fields}}}
    version = {"name": "v1alpha1", "served": True, "schema": {"openAPIV3Schema": spec}}
    api.set_answers(CRD, Answer({"spec": {"versions": [version]}}))

    assert findings(checkout, api)[2] == passed(
        "CRDs",
        "older generation, one target, without tunnels of other namespaces, login and block",
    )


def test_the_finding_says_if_the_settings_select_the_generation(
    checkout: FakeCheckout, api: Api
) -> None:
    settings = Settings(cluster_id=CLUSTER, resource_schema=ResourceSchema.TARGETS)

    assert findings(checkout, api, settings)[2] == passed(
        "CRDs",
        "current generation, without hosts without a subdomain (set in pic:resourceSchema)",
    )


def test_a_stack_without_pangolin_needs_no_crds(checkout: FakeCheckout, api: Api) -> None:
    settings = Settings(cluster_id=CLUSTER, targets=(TargetName.PIHOLE,))

    assert findings(checkout, api, settings)[2:] == [
        skipped("CRDs", "pic:targets does not contain pangolin"),
        passed("permissions", "all 5 are granted"),
    ]


def test_each_missing_permission_is_named(checkout: FakeCheckout, api: Api) -> None:
    denied, granted = (Answer({"status": {"allowed": allowed}}) for allowed in (False, True))
    api.set_answers(REVIEWS_PATH, denied, granted, denied, granted)

    assert findings(checkout, api)[3:] == [
        failed("permissions", f"not allowed: {permission}", "grant it, see docs/permissions.md")
        for permission in (
            "list ingresses.networking.k8s.io (to find the hosts to expose)",
            "list pangolintunnels.tunnel.pangolin.io (to find the tunnels)",
        )
    ]


def test_a_missing_optional_permission_fails_nothing(checkout: FakeCheckout, api: Api) -> None:
    denied, granted = (Answer({"status": {"allowed": allowed}}) for allowed in (False, True))
    api.set_answers(REVIEWS_PATH, *[granted] * 5, denied, granted)

    assert findings(checkout, api)[3:] == [
        skipped(
            "permissions",
            "not allowed: list namespaces (optional, to see which namespaces are being deleted)",
        )
    ]
