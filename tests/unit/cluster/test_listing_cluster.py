"""Tests what pic reads of the cluster itself: its namespaces, its id and its schema."""

from typing import Any

import pytest

from pic.cluster import listing
from pic.cluster.listing import CORE, CRD, IDENTITY, StatusError
from pic.core.errors import ClusterError
from pic.core.json_values import Raw
from pic.core.operator_objects import Schema
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.snapshot import pangolin
from tests.support.canned import Canned, named, page

DEFAULT = Settings()


# Namespaces.

LISTED = Settings(namespaces=("a", "b"))
GONE = {"metadata": {"name": "a"}, "status": {"phase": "NotFound"}}


def namespaces(a: object, b: object, settings: Settings = LISTED) -> list[Raw] | None:
    transport = Canned({f"{CORE}/namespaces/a": a, f"{CORE}/namespaces/b": b})
    return listing.read_namespaces(transport, settings)


def namespace_error(a: object, b: object) -> str:
    with pytest.raises(ClusterError) as caught:
        namespaces(a, b)
    return str(caught.value)


def test_a_namespace_that_pic_may_not_read_is_left_out() -> None:
    forbidden, (there,) = StatusError(403, "no"), named("b")

    assert namespaces(forbidden, there) == [there]
    assert namespaces(forbidden, forbidden) is None
    answers = {f"{CORE}/namespaces#": forbidden}
    assert listing.read_namespaces(Canned(answers), Settings()) is None


def test_a_listed_namespace_that_does_not_exist_has_a_phase_that_says_so() -> None:
    missing, (there,) = StatusError(404, "not found"), named("b")

    assert namespaces(missing, there) == [GONE, there]
    assert namespaces(missing, StatusError(403, "no")) == [GONE]


def test_a_run_needs_one_of_the_listed_namespaces() -> None:
    missing = StatusError(404, "not found")

    assert namespace_error(missing, missing) == (
        "the cluster has no namespace a, b: correct pic:namespaces, or check that this is the right"
        " cluster"
    )


def test_a_namespace_that_cannot_be_read_is_an_error() -> None:
    assert namespace_error(StatusError(500, "away"), {}) == (
        "cannot get namespace a: away (HTTP 500); try again when the API server is healthy"
    )
    assert namespace_error(3, {}) == (
        "namespace a cannot be understood: namespace is a number, not a map"
    )


# The cluster id and the schema.


def cluster_id_error(answer: object, settings: Settings = DEFAULT) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.read_cluster_id(Canned({IDENTITY: answer}), settings)
    return str(caught.value)


def test_the_uid_of_kube_system_identifies_the_cluster() -> None:
    transport = Canned({IDENTITY: {"metadata": {"uid": "cluster-1"}}})

    assert listing.read_cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-1"


def test_the_setting_replaces_a_forbidden_kube_system() -> None:
    transport = Canned({IDENTITY: StatusError(403, "no")})

    assert listing.read_cluster_id(transport, Settings(cluster_id="cluster-2")) == "cluster-2"


def test_the_setting_does_not_hide_any_other_error() -> None:
    assert cluster_id_error(StatusError(500, "no"), Settings(cluster_id="cluster-2")) == (
        "cannot get namespace kube-system: no (HTTP 500); try again when the API server is healthy"
    )


def test_without_the_setting_a_forbidden_kube_system_is_an_error() -> None:
    assert cluster_id_error(StatusError(403, "no")) == (
        "cannot get namespace kube-system: no (HTTP 403); grant the verb get to the account"
        " that runs pic, or set pic:clusterId"
    )


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"metadata": {}}, "it has no uid"),
        ({"metadata": []}, "metadata is a list, not a map"),
        ("hello", "it is text, not a map"),
    ],
)
def test_a_cluster_without_a_uid_is_an_error(answer: object, reason: str) -> None:
    assert cluster_id_error(answer) == f"namespace kube-system cannot be understood: {reason}"


def crd(**spec: object) -> dict[str, Any]:
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": spec}}}}
    return {"spec": {"versions": [{"name": "v1alpha1", "served": True, "schema": schema}]}}


def schema_error(answer: object) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.read_schema(Canned({CRD: answer}), DEFAULT)
    return str(caught.value)


def test_the_installed_crd_decides_the_schema() -> None:
    transport = Canned({CRD: crd(target={}, httpConfig={"required": ["subdomain"]})})

    assert listing.read_schema(transport, DEFAULT) == Schema(
        single_target=True,
        subdomain_optional=False,
        tunnel_namespace=False,
        protection=False,
        domain_id=False,
    )


@pytest.mark.parametrize(
    ("setting", "schema"),
    [
        (ResourceSchema.TARGETS, pangolin.SCHEMA_TARGETS),
        (ResourceSchema.TARGET, pangolin.SCHEMA_TARGET),
    ],
)
def test_a_schema_in_the_settings_is_not_looked_up(setting: ResourceSchema, schema: Schema) -> None:
    assert listing.read_schema(Canned({}), Settings(resource_schema=setting)) == schema


def test_without_the_target_pangolin_the_crd_is_not_looked_up() -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    assert listing.read_schema(Canned({}), settings) == pangolin.SCHEMA_TARGETS


def test_a_missing_crd_is_an_error_with_an_install_hint() -> None:
    assert schema_error(StatusError(404, "no")) == (
        "the cluster has no CRD for PangolinResource: install the CRDs of the Pangolin operator,"
        " or check that this is the right cluster"
    )


def test_a_forbidden_crd_is_an_error_that_names_the_setting() -> None:
    assert schema_error(StatusError(403, "no")) == (
        "cannot get the CRD of PangolinResource: no (HTTP 403); grant the verb get to the account"
        " that runs pic, or set pic:resourceSchema"
    )


def test_a_malformed_crd_is_an_error() -> None:
    assert schema_error({"spec": []}) == (
        "the CRD of PangolinResource cannot be understood: spec is a list, not a map"
    )


@pytest.mark.parametrize(
    "part",
    [
        {"metadata": {"deletionTimestamp": "2025-01-01T00:00:00Z"}},
        {"status": {"conditions": [{"type": "Terminating", "status": "True"}]}},
    ],
)
def test_23_a_crd_that_is_being_deleted_is_an_error(part: dict[str, object]) -> None:
    with pytest.raises(ClusterError) as caught:
        listing.read_schema(Canned({CRD: part}), DEFAULT)

    assert str(caught.value) == (
        "Kubernetes is deleting the CRD of PangolinResource, and every object of it: wait until it"
        " is gone, then install the CRDs of the Pangolin operator, or check that this is the right"
        " cluster"
    )


def test_a_crd_in_any_other_condition_is_read() -> None:
    conditions = [{"type": "Established", "status": "True"}, {"type": "Terminating"}]
    version = {"name": "v1alpha1", "served": True}
    crd = {"status": {"conditions": conditions}, "spec": {"versions": [version]}}

    assert listing.read_schema(Canned({CRD: crd}), DEFAULT).subdomain_optional


def test_in_another_cluster_the_listed_namespaces_need_not_exist() -> None:
    settings = Settings(cluster_id="another", namespaces=("a",), targets=(TargetName.PIHOLE,))
    transport = Canned(
        {
            listing.IDENTITY: {"metadata": {"uid": "cluster-1"}},
            "/apis/networking.k8s.io/v1/namespaces/a/ingresses#": page("IngressList"),
            f"{CORE}/namespaces/a": StatusError(404, "not found"),
        }
    )

    raw = listing.read_snapshot(transport, settings)

    assert (raw.cluster_id, raw.objects) == ("cluster-1", {"Ingress": []})
