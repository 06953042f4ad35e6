"""Tests how the objects that planning reads are parsed."""

from collections.abc import Callable

import pytest

from pic.core.ingress import (
    Deletion,
    Ingress,
    IngressClass,
    IngressPath,
    PathType,
    ResourceBackend,
    Rule,
    Service,
    ServiceBackend,
    ServicePort,
    Slips,
)
from pic.core.json_values import MalformedError, Raw, RepeatedKeys, Unquoted
from pic.core.model import Namespace
from pic.core.names import derived_uid
from pic.core.operator_objects import Organization, Tunnel
from pic.snapshot import parse

NAMED = {"metadata": {"name": "web", "namespace": "prod"}}


def with_spec(spec: object) -> Raw:
    return {**NAMED, "spec": spec}


def with_path(path: object) -> Raw:
    return with_spec({"rules": [{"http": {"paths": [path]}}]})


def test_every_field_of_an_ingress_is_parsed() -> None:
    body = {
        "metadata": {
            "name": "web",
            "namespace": "prod",
            "uid": "uid-1",
            "creationTimestamp": "2025-01-01T01:00:00+01:00",
            "labels": {"app": "web", "empty": None},
            "annotations": {"a": "x", "b": None, "c": True, "d": 7},
            "deletionTimestamp": "2025-02-01T00:00:00Z",
            "finalizers": ["other", "foregroundDeletion"],
        },
        "spec": {
            "ingressClassName": "pangolin",
            "defaultBackend": {"service": {"name": "rest", "port": {"name": "http"}}},
            "rules": [
                {"host": "app.example.com"},
                {
                    "http": {
                        "paths": [
                            {
                                "path": "/a",
                                "pathType": "Exact",
                                "backend": {"service": {"name": "web", "port": {"number": 80}}},
                            },
                            {"backend": {"resource": {"kind": "Bucket", "name": "b"}}},
                        ]
                    }
                },
            ],
        },
    }

    assert parse.ingress(body) == Ingress(
        namespace="prod",
        name="web",
        uid="uid-1",
        created="2025-01-01T00:00:00+00:00",
        class_name="pangolin",
        labels={"app": "web", "empty": ""},
        annotations={"a": "x", "b": None, "c": "true", "d": "7"},
        rules=(
            Rule("app.example.com"),
            Rule(
                "",
                (
                    IngressPath("/a", PathType.EXACT, ServiceBackend("web", 80)),
                    IngressPath("", PathType.IMPLEMENTATION_SPECIFIC, ResourceBackend("Bucket/b")),
                ),
            ),
        ),
        default_backend=ServiceBackend("rest", "http"),
        going=Deletion("2025-02-01T00:00:00+00:00", ("other", "foregroundDeletion")),
        slips=Slips(not_text=("c", "d")),
    )


def test_an_ingress_with_only_a_name_gets_a_namespace_and_a_derived_uid() -> None:
    ingress = parse.ingress({"metadata": {"name": "web"}})

    assert ingress == Ingress("default", "web", derived_uid("Ingress", "default", "web"))


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ({"number": 80}, 80),
        ({"number": 80.0}, 80),
        ({"number": 80.5}, None),
        ({"number": "80"}, "80"),
        ({"number": "http"}, None),
        ({"number": "${PORT}"}, "${PORT}"),
        ({"number": True}, None),
        ({"name": "http"}, "http"),
        ({"name": 80}, "80"),
        ({"name": ""}, None),
        ({"number": 80, "name": "http"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_port_is_a_number_a_name_or_none(port: object, expected: int | str | None) -> None:
    backend = {"service": {"name": "web", "port": port}}
    (rule,) = parse.ingress(with_path({"backend": backend})).rules

    assert rule.paths[0].backend == ServiceBackend("web", expected)


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        ({"serviceName": "web", "servicePort": 80}, ServiceBackend("web", 80)),
        ({"serviceName": "web", "servicePort": "80"}, ServiceBackend("web", "80")),
        ({"serviceName": None, "servicePort": None}, ServiceBackend("", None)),
        ({"resource": {"kind": "B", "name": "b"}, "serviceName": "x"}, ResourceBackend("B/b")),
        ({"service": {}}, None),
        ({}, None),
        (None, None),
    ],
)
def test_a_backend_is_parsed_from_either_version(
    backend: object, expected: ServiceBackend | ResourceBackend | None
) -> None:
    (rule,) = parse.ingress(with_path({"backend": backend})).rules

    assert rule.paths[0].backend == expected


@pytest.mark.parametrize(
    ("reader", "body", "problem"),
    [
        (parse.ingress, {}, "metadata.name is missing"),
        (
            parse.ingress,
            {"metadata": {"name": "$(APP)"}},
            "metadata.name '$(APP)' is not a legal name: variable not filled in: $(APP)",
        ),
        (
            parse.ingress,
            {"metadata": {"name": "Web"}},
            "metadata.name 'Web' is not a legal name: it contains 'W'",
        ),
        (parse.ingress, {"metadata": {"name": "-a"}}, "metadata.name '-a' is not a legal name"),
        (parse.ingress, {"metadata": {"name": 7}}, "metadata.name '7' is not a legal name"),
        (parse.ingress, {"metadata": []}, "metadata is a list, not a map"),
        (
            parse.ingress,
            {"metadata": {"name": "web", "namespace": "a.b"}},
            "metadata.namespace 'a.b' is not a legal name: it contains '.'",
        ),
        (
            parse.ingress,
            {"metadata": {"name": "web", "namespace": ["a"]}},
            "metadata.namespace '(a list)' is not a legal name",
        ),
        (parse.ingress, with_spec("x"), "spec is text, not a map"),
        (parse.ingress, with_spec({"rules": {}}), "spec.rules is a map, not a list"),
        (parse.ingress, with_spec({"rules": [True]}), "spec.rules[0] is a boolean, not a map"),
        (
            parse.ingress,
            with_spec({"rules": [{"http": {"paths": 3}}]}),
            "spec.rules[0].http.paths is a number, not a list",
        ),
        (
            parse.ingress,
            with_path({"pathType": "prefix"}),
            "spec.rules[0].http.paths[0].pathType 'prefix' is not one of Exact,"
            " ImplementationSpecific, Prefix",
        ),
        (
            parse.ingress,
            with_path({"backend": {"service": {"name": "web", "port": 80}}}),
            "spec.rules[0].http.paths[0].backend.service.port is a number, not a map",
        ),
        (
            parse.service,
            with_spec({"ports": [{"port": None}]}),
            "spec.ports[0].port '' is not a number",
        ),
        (parse.tunnel, with_spec(7), "spec is a number, not a map"),
        (
            parse.organization,
            {**NAMED, "status": {"domains": ["x"]}},
            "status.domains[0] is text, not a map",
        ),
        (
            parse.ingress_class,
            {"metadata": {"name": "x", "annotations": 1}},
            "metadata.annotations is a number, not a map",
        ),
    ],
)
def test_the_error_for_a_wrong_type_names_the_field(
    reader: Callable[[Raw], object], body: Raw, problem: str
) -> None:
    with pytest.raises(MalformedError) as caught:
        reader(body)

    assert str(caught.value) == problem


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2025-01-01T00:00:00Z", "2025-01-01T00:00:00+00:00"),
        ("2025-01-01T00:00:00", "2025-01-01T00:00:00+00:00"),
        ("2025-01-01T01:30:00+01:30", "2025-01-01T00:00:00+00:00"),
        ("2025-01-01T00:00:00.5Z", "2025-01-01T00:00:00.500000+00:00"),
        ("yesterday", ""),
        (None, ""),
        ("0001-01-01T00:00:00+23:59", ""),
    ],
)
def test_a_timestamp_becomes_utc(value: object, expected: str) -> None:
    assert parse.timestamp(value) == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, False),
        ({"deletionTimestamp": "2025-01-01T00:00:00Z"}, False),
        ({"finalizers": ["foregroundDeletion"]}, False),
        ({"deletionTimestamp": "2025-01-01T00:00:00Z", "finalizers": ["orphan"]}, False),
        ({"deletionTimestamp": "2025-01-01T00:00:00Z", "finalizers": ["foregroundDeletion"]}, True),
    ],
)
def test_foreground_deletion_needs_a_timestamp_and_a_finalizer(
    metadata: dict[str, object], *, expected: bool
) -> None:
    body = {"metadata": {"name": "web", **metadata}}

    assert parse.ingress(body).foreground is expected


def test_an_object_is_going_once_it_has_a_deletion_timestamp() -> None:
    assert parse.deletion({"finalizers": ["example.org/x"]}) is None
    assert parse.deletion({"deletionTimestamp": "2025-01-01T01:00:00+01:00"}) == Deletion(
        "2025-01-01T00:00:00+00:00"
    )
    assert parse.deletion({"deletionTimestamp": "soon", "finalizers": ["a", 3]}) == Deletion(
        "", ("a", "3")
    )


def test_a_namespace_is_there_going_or_not_found() -> None:
    def namespace(phase: object, **metadata: object) -> Namespace:
        return parse.namespace({"metadata": {"name": "x", **metadata}, "status": {"phase": phase}})

    assert namespace("Active") == Namespace("x")
    assert namespace("Terminating", deletionTimestamp="2025-01-01T00:00:00Z") == Namespace(
        "x", going=Deletion("2025-01-01T00:00:00+00:00")
    )
    assert namespace(parse.NOT_FOUND) == Namespace("x", exists=False)
    assert parse.namespace({"metadata": {"name": "x"}}) == Namespace("x")


def test_only_the_text_true_makes_a_class_the_default() -> None:
    def ingress_class(value: object) -> IngressClass:
        annotations = {parse.DEFAULT_CLASS: value}
        return parse.ingress_class({"metadata": {"name": "x", "annotations": annotations}})

    assert [ingress_class(value).default for value in ("true", True, "True", "false", None)] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_the_fields_of_a_service_that_backends_need_are_parsed() -> None:
    ports = [
        {"port": 80},
        {"name": "http", "port": 81, "targetPort": 8080, "appProtocol": "https"},
        {"port": 82, "targetPort": "web"},
    ]
    body = with_spec(
        {"clusterIP": "None", "type": "ExternalName", "externalName": "x", "ports": ports}
    )

    assert parse.service(body) == Service(
        namespace="prod",
        name="web",
        ports=(
            ServicePort("", 80),
            ServicePort("http", 81, 8080, "https"),
            ServicePort("", 82, "web"),
        ),
        headless=True,
        external=True,
        external_name="x",
    )


def test_a_tunnel_refers_to_its_organization_with_or_without_a_namespace() -> None:
    def tunnel(ref: object) -> Tunnel:
        return parse.tunnel({**with_spec({"organizationRef": ref}), "status": {"status": "Ready"}})

    assert tunnel({"name": "acme"}) == Tunnel("prod", "web", ("prod", "acme"), "Ready")
    assert tunnel({"name": "acme", "namespace": "net"}).organization == ("net", "acme")
    assert [tunnel(ref).organization for ref in ({"name": ""}, {}, None)] == [None, None, None]


def test_a_verified_domain_may_have_an_id() -> None:
    domains = [
        {"baseDomain": "B.example", "domainId": "domain1", "verified": True},
        {"baseDomain": "a.example", "domainId": "", "verified": True},
        {"baseDomain": "c.example", "domainId": "domain2", "verified": False},
        {"domainId": "domain3", "verified": True},
    ]

    organization = parse.organization({**NAMED, "status": {"domains": domains}})

    assert organization == Organization(
        "prod", "web", ("a.example", "b.example"), {"b.example": "domain1"}
    )


def test_only_verified_domains_count() -> None:
    domains = [
        {"baseDomain": "B.example.", "verified": True},
        {"baseDomain": "a.example", "verified": True},
        {"baseDomain": "c.example", "verified": "true"},
        {"baseDomain": "d.example"},
        {"verified": True},
    ]

    organization = parse.organization({**NAMED, "status": {"domains": domains}})

    assert organization == Organization("prod", "web", ("a.example", "b.example"))


def test_a_path_knows_its_place() -> None:
    (rule,) = parse.ingress(with_path({})).rules

    assert rule.paths[0].where == "spec.rules[0].http.paths[0]"


def test_a_port_of_a_service_has_a_protocol() -> None:
    ports = [{"port": 53, "protocol": "udp"}, {"port": 80}]

    parsed = parse.service({**NAMED, "spec": {"ports": ports}}).ports

    assert [port.protocol for port in parsed] == ["UDP", "TCP"]


def test_the_slips_of_a_file_are_remembered() -> None:
    values: dict[str, object] = {"a": Unquoted("010"), "b": True, "c": 7, "d": None, "e": "x"}
    metadata = {"name": "web", "annotations": RepeatedKeys(values, ["e"])}

    ingress = parse.ingress({"metadata": metadata})

    assert ingress.slips == Slips(not_text=("a", "b", "c"), repeated=("e",))
    assert ingress.annotations == {"a": "010", "b": "true", "c": "7", "d": None, "e": "x"}
