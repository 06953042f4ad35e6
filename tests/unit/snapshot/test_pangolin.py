from pathlib import Path

import pytest
import yaml

from pic.core.errors import ClusterError
from pic.core.json_values import Raw
from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Schema,
    Spec,
    Target,
    TunnelRef,
)
from pic.snapshot import pangolin

CRDS = Path(__file__).parents[3] / "dev" / "crds"


def crd(folder: str) -> Raw:
    text = (CRDS / folder / "pangolinresources.yaml").read_text(encoding="utf-8")
    found: Raw = yaml.safe_load(text)
    return found


def with_spec(spec: object, **metadata: object) -> Raw:
    return {"metadata": {"name": "x", "namespace": "prod", **metadata}, "spec": spec}


def test_a_whole_resource_is_read() -> None:
    raw = {
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

    assert pangolin.resource(raw) == LiveResource(
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


def test_the_older_generation_has_one_target() -> None:
    found = pangolin.resource(with_spec({"target": {"ip": "a", "port": "80"}}))

    assert found.spec == Spec(targets=(Target("a", 0),), single=True)
    assert (found.owned, found.managed, found.host) == (None, False, "")


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
def test_the_host_is_what_the_spec_asks_for_or_what_the_operator_made_of_it(
    http: object, full_domain: str, host: str
) -> None:
    raw = {**with_spec({"httpConfig": http}), "status": {"fullDomain": full_domain}}

    assert pangolin.resource(raw).host == host


def test_fields_of_odd_types_are_absent() -> None:
    found = pangolin.resource(with_spec({"enabled": "yes", "targets": None}, generation=True))

    assert (found.spec, found.generation) == (Spec(), 0)


def test_the_crds_of_both_generations_are_told_apart() -> None:
    assert pangolin.schema(crd("targets")) == pangolin.SCHEMA_TARGETS
    assert pangolin.schema(crd("target")) == pangolin.SCHEMA_TARGET


def test_a_crd_that_does_not_require_a_subdomain_can_hold_an_apex() -> None:
    fields: Raw = {"httpConfig": {"properties": {}}, "targets": {}}
    schema = {"openAPIV3Schema": {"properties": {"spec": {"properties": fields}}}}
    version = {"name": "v1alpha1", "served": True, "schema": schema}

    assert pangolin.schema({"spec": {"versions": [{"name": "v1"}, version]}}) == Schema(
        subdomain_optional=True, tunnel_namespace=False, protection=False
    )


@pytest.mark.parametrize(
    "versions", [[], [{"name": "v1alpha1", "served": False}], [{"name": "v2"}]]
)
def test_a_crd_without_our_version_is_an_error(versions: list[Raw]) -> None:
    with pytest.raises(ClusterError, match="does not serve v1alpha1: install"):
        pangolin.schema({"spec": {"versions": versions}})
