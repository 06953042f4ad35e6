"""The doctor on a cluster that is made up."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from pic.cli.doctor import cluster
from pic.cli.doctor.project import Stack
from pic.cluster.listing import (
    CRD,
    IDENTITY,
    PANGOLIN,
    Timeouts,
)
from pic.cluster.review_access import REVIEW
from pic.core.findings import (
    Finding,
    failed,
    passed,
    skipped,
)
from pic.settings.parse import ResourceSchema, Settings, TargetName
from tests.support.api import (
    CLUSTER,
    Answer,
    Api,
    serving,
)
from tests.support.doctor_contexts import Clinic

HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"
KINDS = ("pangolinresources", "pangolintunnels", "pangolinorganizations")
BOUND = Settings(cluster_id=CLUSTER)
WELL = [
    passed("cluster", "Kubernetes v1.36.3"),
    passed("cluster id", CLUSTER),
    passed("CRDs", "current generation, without hosts without a subdomain"),
    passed("permissions", "all 13 are granted"),
]


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as made:
        made.set_answers("/version", Answer({"gitVersion": "v1.36.3"}))
        made.set_answers(PANGOLIN, Answer({"resources": [{"name": name} for name in KINDS]}))
        made.set_answers(REVIEW, Answer({"status": {"allowed": True}}))
        yield made


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    monkeypatch.setattr("pic.cli.doctor.cluster.Timeouts", partial(Timeouts, backoff=0.0))
    return Clinic(tmp_path)


def found(clinic: Clinic, api: Api, settings: Settings = BOUND) -> list[Finding]:
    context = clinic.context({"KUBECONFIG": api.kubeconfig(clinic.root / "config")})
    return list(cluster.examine(context, Stack("prod", settings)))


def test_a_cluster_in_which_all_is_well(clinic: Clinic, api: Api) -> None:
    assert found(clinic, api) == WELL


def test_without_settings_no_cluster_is_asked(clinic: Clinic) -> None:
    assert list(cluster.examine(clinic.context(), Stack("prod"))) == [
        skipped(name, "the settings of the stack are not known")
        for name in ("cluster", "cluster id", "CRDs", "permissions")
    ]


def test_a_cluster_that_is_away_is_asked_once(clinic: Clinic) -> None:
    nowhere = clinic.context({"KUBECONFIG": str(clinic.root / "none")})

    first, *others = cluster.examine(nowhere, Stack("prod", BOUND))

    assert (first.name, first.verdict, first.exit_code) == ("cluster", "fail", 5)
    assert first.message.startswith("cannot connect to the cluster: ")
    assert others == [
        skipped(name, "the cluster does not answer")
        for name in ("cluster id", "CRDs", "permissions")
    ]


def test_credentials_that_are_not_accepted_open_nothing(clinic: Clinic, api: Api) -> None:
    api.refuse("/version", 401, "who are you")

    assert found(clinic, api)[0] == failed(
        "cluster", "the API server rejects the credentials: renew them"
    )


def test_a_version_that_may_not_be_read_hides_nothing(clinic: Clinic, api: Api) -> None:
    api.refuse("/version", 403, "no")

    answers = passed("cluster", "it answers, but not with its version (HTTP 403)")
    assert found(clinic, api) == [answers, *WELL[1:]]


def test_a_stack_that_belongs_to_no_cluster(clinic: Clinic, api: Api) -> None:
    message = f"pic:clusterId is not set, and this is {CLUSTER}"

    unbound = failed("cluster id", message, "pic init --stack prod", 2)
    assert found(clinic, api, Settings()) == [WELL[0], unbound, *WELL[2:]]


def test_a_stack_of_another_cluster(clinic: Clinic, api: Api) -> None:
    message = f"this is {CLUSTER}, and the stack belongs to elsewhere"

    assert found(clinic, api, Settings(cluster_id="elsewhere"))[1] == failed(
        "cluster id", message, "check pic:context and KUBECONFIG", 2
    )


def test_each_part_that_cannot_be_asked_leaves_the_others(clinic: Clinic, api: Api) -> None:
    api.refuse(IDENTITY, 404, "gone")
    api.refuse(PANGOLIN, 500, "ill")
    api.refuse(REVIEW, 403, "no")

    assert [(each.name, each.verdict.value) for each in found(clinic, api)] == [
        ("cluster", "pass"),
        ("cluster id", "fail"),
        ("CRDs", "fail"),
        ("permissions", "fail"),
    ]


def test_each_crd_that_is_missing_is_named(clinic: Clinic, api: Api) -> None:
    api.set_answers(PANGOLIN, Answer({"resources": [{"name": "pangolintunnels"}]}))

    assert found(clinic, api)[2:4] == [
        failed("CRDs", f"{plural}.tunnel.pangolin.io is missing", HINT)
        for plural in ("pangolinresources", "pangolinorganizations")
    ]


def test_the_older_generation_is_told_with_what_it_lacks(clinic: Clinic, api: Api) -> None:
    fields: dict[str, Any] = {
        "target": {},
        "httpConfig": {"properties": {}},
        "tunnelRef": {"properties": {}},
    }
    spec = {"properties": {"spec": {"properties": fields}}}
    version = {"name": "v1alpha1", "served": True, "schema": {"openAPIV3Schema": spec}}
    api.set_answers(CRD, Answer({"spec": {"versions": [version]}}))

    assert found(clinic, api)[2] == passed(
        "CRDs",
        "older generation, one target, without tunnels of other namespaces, login and block",
    )


def test_a_generation_that_is_set_is_said_to_be(clinic: Clinic, api: Api) -> None:
    settings = Settings(cluster_id=CLUSTER, resource_schema=ResourceSchema.TARGETS)

    assert found(clinic, api, settings)[2] == passed(
        "CRDs",
        "current generation, without hosts without a subdomain (so says pic:resourceSchema)",
    )


def test_a_stack_without_pangolin_needs_no_crds(clinic: Clinic, api: Api) -> None:
    settings = Settings(cluster_id=CLUSTER, targets=(TargetName.PIHOLE,))

    assert found(clinic, api, settings)[2:] == [
        skipped("CRDs", "pic:targets does without Pangolin"),
        passed("permissions", "all 4 are granted"),
    ]


def test_each_permission_that_is_not_granted_is_named(clinic: Clinic, api: Api) -> None:
    denied, granted = (Answer({"status": {"allowed": allowed}}) for allowed in (False, True))
    api.set_answers(REVIEW, denied, granted, denied, granted)

    assert found(clinic, api)[3:] == [
        failed("permissions", f"not allowed: {what}", "grant it: docs/permissions.md")
        for what in (
            "list ingresses.networking.k8s.io (to find the hosts to expose)",
            "list pangolintunnels.tunnel.pangolin.io (to find the tunnels)",
        )
    ]
