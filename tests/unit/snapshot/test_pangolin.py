"""Tests how live PangolinResources and their CRD are parsed."""

from pathlib import Path

import pytest
import yaml

from pic.core.errors import ClusterError
from pic.core.json_values import Raw
from pic.core.model import HttpConfig, LiveResource, Owner, Spec, Target, TunnelRef
from pic.core.operator_objects import Schema
from pic.snapshot import pangolin

CRDS = Path(__file__).parents[3] / "dev" / "crds"


def crd(folder: str) -> Raw:
    text = (CRDS / folder / "pangolinresources.yaml").read_text(encoding="utf-8")
    body: Raw = yaml.safe_load(text)
    return body


def with_spec(spec: object, **metadata: object) -> Raw:
    return {"metadata": {"name": "x", "namespace": "prod", **metadata}, "spec": spec}


def test_every_field_of_a_resource_is_parsed() -> None:
    body = {
        "metadata": {
            "name": "pic-x",
            "namespace": "prod",
            "uid": "uid-9",
            "generation": 4,
            "labels": {"a": "b"},
            "ownerReferences": [
                {"kind": "Ingress", "name": "second", "uid": "uid-2"},
                {"kind": "Secret", "name": "no", "uid": "uid-3"},
                {"kind": "Ingress", "name": "first", "uid": "uid-1", "controller": True},
            ],
            "managedFields": [
                {
                    "manager": "pic",
                    "fieldsV1": {
                        "f:metadata": {"f:labels": {}},
                        "f:spec": {"f:httpConfig": {"f:sso": {}}, "f:targets": {}},
                    },
                },
                {"manager": "operator", "fieldsV1": {"f:spec": {"f:enabled": {}}}},
                {"manager": "pic", "subresource": "status"},
            ],
        },
        "spec": {
            "enabled": True,
            "name": "n",
            "protocol": "http",
            "tunnelRef": {"name": "t", "namespace": "net"},
            "httpConfig": {
                "domainName": "Example.com",
                "subdomain": "app",
                "sso": False,
                "blockAccess": True,
            },
            "targets": [
                {
                    "ip": "a",
                    "port": 80,
                    "method": "http",
                    "path": "/x",
                    "pathMatchType": "exact",
                    "priority": 107,
                }
            ],
        },
        "status": {"status": "Ready", "fullDomain": "other.example.com"},
    }

    assert pangolin.live_resource(body) == LiveResource(
        namespace="prod",
        name="pic-x",
        uid="uid-9",
        host="app.example.com",
        labels={"a": "b"},
        owners=(Owner("prod", "first", "uid-1"), Owner("prod", "second", "uid-2")),
        spec=Spec(
            enabled=True,
            name="n",
            protocol="http",
            tunnel=TunnelRef("t", "net"),
            http=HttpConfig("Example.com", "app", sso=False, block_access=True),
            targets=(Target("a", 80, "http", "/x", "exact", 107),),
        ),
        owned=frozenset({"httpConfig", "httpConfig.sso", "targets"}),
        managed=True,
        generation=4,
        status="Ready",
    )


def test_an_object_of_the_older_generation_has_a_single_target() -> None:
    live = pangolin.live_resource(with_spec({"target": {"ip": "a", "port": "80"}}))

    assert live.spec == Spec(targets=(Target("a", 0),), single=True)
    assert (live.owned, live.managed, live.host) == (None, False, "")


@pytest.mark.parametrize(
    ("http", "full_domain", "host"),
    [
        ({"domainName": "example.com", "subdomain": "a"}, "", "a.example.com"),
        ({"domainName": "example.com"}, "", "example.com"),
        ({"subdomain": "a"}, "A.example.com.", "a.example.com"),
        ({}, "", ""),
        ({"domainName": "example.com", "subdomain": "*"}, "a.example.com", ""),
    ],
)
def test_the_host_comes_from_the_spec_or_else_from_the_operator(
    http: object, full_domain: str, host: str
) -> None:
    body = {**with_spec({"httpConfig": http}), "status": {"fullDomain": full_domain}}

    assert pangolin.live_resource(body).host == host


def managed(manager: str, fields: Raw, **more: str) -> Raw:
    return {"manager": manager, "fieldsV1": fields, **more}


def test_the_fields_that_a_user_wrote_with_kubectl_are_known() -> None:
    http: Raw = {".": {}, "f:sso": {}}
    body = with_spec(
        {},
        managedFields=[
            managed("operator", {"f:spec": {"f:name": {}}}),
            managed("kubectl-edit", {"f:spec": {"f:httpConfig": http, "f:enabled": {}}}),
            managed("kubectl-edit", {"f:spec": {"f:targets": {}}}),
            managed("kubectl-annotate", {"f:metadata": {"f:annotations": {}}}),
            managed("kubectl", {"f:spec": {"f:siteRef": {}}}),
        ],
    )

    assert pangolin.live_resource(body).edits == {
        "kubectl": ("siteRef",),
        "kubectl-edit": ("enabled", "httpConfig.sso", "targets"),
    }


def test_fields_of_the_wrong_type_count_as_absent() -> None:
    live = pangolin.live_resource(with_spec({"enabled": "yes", "targets": None}, generation=True))

    assert (live.spec, live.generation) == (Spec(), 0)


def test_the_schema_tells_the_crds_of_both_generations_apart() -> None:
    assert pangolin.crd_schema(crd("targets")) == pangolin.SCHEMA_TARGETS
    assert pangolin.crd_schema(crd("target")) == pangolin.SCHEMA_TARGET


def test_without_a_required_subdomain_the_crd_allows_apex_hosts() -> None:
    fields: Raw = {"httpConfig": {"properties": {}}, "targets": {}}
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": fields}}}}
    version = {"name": "v1alpha1", "served": True, "schema": schema}

    assert pangolin.crd_schema({"spec": {"versions": [{"name": "v1"}, version]}}) == Schema(
        subdomain_optional=True, tunnel_namespace=False, protection=False, domain_id=False
    )


@pytest.mark.parametrize(
    "versions", [[], [{"name": "v1alpha1", "served": False}], [{"name": "v2"}]]
)
def test_a_crd_without_our_version_is_an_error(versions: list[Raw]) -> None:
    with pytest.raises(ClusterError, match="does not serve v1alpha1: install"):
        pangolin.crd_schema({"spec": {"versions": versions}})
