"""Tests how the API server applies the definitions in `dev/crds`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.controlplane import ControlPlane, ControlPlaneError

EXAMPLES = sorted((Path(__file__).parents[2] / "dev" / "examples").glob("*/"))
BACKEND = {"ip": "web.prod.svc.cluster.local", "port": 80}


def to_json(kind: str, spec: object, namespace: str = "default") -> str:
    head = {"apiVersion": "tunnel.pangolin.io/v1alpha1", "kind": kind}
    return json.dumps({**head, "metadata": {"name": "web", "namespace": namespace}, "spec": spec})


def stored_spec(plane: ControlPlane, kind: str, spec: object, *flags: str) -> Any:
    """Return the spec that the API server would store, with defaults and without unknown fields."""
    answer = plane.kubectl(
        *("create", "--dry-run=server", "--output=json", "--filename=-", *flags),
        input=to_json(kind, spec),
    )
    return json.loads(answer)["spec"]


def validation_error(plane: ControlPlane, kind: str, spec: object) -> str:
    """Return the validation error of the API server."""
    with pytest.raises(ControlPlaneError) as raised:
        stored_spec(plane, kind, spec)
    return str(raised.value).partition(f'The {kind} "web" is invalid: ')[2]


def test_the_current_generation_fills_in_defaults(control_plane: ControlPlane) -> None:
    spec = {
        "httpConfig": {"domainName": "example.com", "subdomain": "app"},
        "proxyConfig": {"proxyPort": 8080},
        "targets": [BACKEND],
        "tunnelRef": {"name": "default", "namespace": "tunnels"},
    }

    assert stored_spec(control_plane, "PangolinResource", spec) == {
        "enabled": True,
        "httpConfig": {"domainName": "example.com", "subdomain": "app"},
        "proxyConfig": {"enableProxy": True, "proxyPort": 8080},
        "targets": [{**BACKEND, "method": "http", "priority": 100}],
        "tunnelRef": {"name": "default", "namespace": "tunnels"},
    }


def test_the_older_generation_prunes_unknown_fields(
    older_control_plane: ControlPlane,
) -> None:
    spec = {
        "httpConfig": {"subdomain": "app", "sso": True, "blockAccess": True},
        "target": BACKEND,
        "targets": [BACKEND],
        "tunnelRef": {"name": "default", "namespace": "tunnels"},
    }

    assert stored_spec(older_control_plane, "PangolinResource", spec, "--validate=ignore") == {
        "enabled": True,
        "httpConfig": {"subdomain": "app"},
        "target": {**BACKEND, "method": "http"},
        "tunnelRef": {"name": "default"},
    }


@pytest.fixture
def upgraded(older_control_plane: ControlPlane) -> Iterator[ControlPlane]:
    older_control_plane.install_crds("targets")
    yield older_control_plane
    older_control_plane.install_crds("target")


def test_a_generation_can_replace_the_other_in_a_running_cluster(upgraded: ControlPlane) -> None:
    spec = {"target": BACKEND, "targets": [BACKEND]}

    assert stored_spec(upgraded, "PangolinResource", spec, "--validate=ignore") == {
        "enabled": True,
        "targets": [{**BACKEND, "method": "http", "priority": 100}],
    }


def test_an_organization_fills_in_defaults(control_plane: ControlPlane) -> None:
    spec = {"apiEndpoint": "https://pangolin", "apiKeyRef": {"key": "token"}, "defaults": {}}

    assert stored_spec(control_plane, "PangolinOrganization", spec) == {
        "apiEndpoint": "https://pangolin",
        "apiKeyRef": {"key": "token", "name": ""},
        "defaults": {"siteType": "newt"},
    }


def with_target(**fields: object) -> dict[str, object]:
    return {"targets": [{**BACKEND, **fields}]}


@pytest.mark.parametrize(
    ("spec", "field", "complaint"),
    [
        (with_target(port=0), "targets[0].port", "should be greater than or equal to 1"),
        (with_target(port=65536), "targets[0].port", "should be less than or equal to 65535"),
        (with_target(priority=0), "targets[0].priority", "should be greater than or equal to 1"),
        (with_target(priority=1001), "targets[0].priority", "should be less than or equal to 1000"),
        (
            {"httpConfig": {"subdomain": ""}},
            "httpConfig.subdomain",
            "should be at least 1 chars long",
        ),
        ({"siteRef": {"siteId": "7"}}, "siteRef.siteId", 'must be of type integer: "string"'),
    ],
)
def test_a_value_out_of_bounds_is_refused(
    control_plane: ControlPlane, spec: object, field: str, complaint: str
) -> None:
    message = validation_error(control_plane, "PangolinResource", spec)

    assert re.sub("Invalid value: [^:]+", "Invalid value", message) == (
        f"spec.{field}: Invalid value: spec.{field} in body {complaint}"
    )


@pytest.mark.parametrize(
    ("field", "allowed"),
    [("method", '"http", "https", "tcp", "udp"'), ("pathMatchType", '"exact", "prefix", "regex"')],
)
def test_a_value_that_is_not_allowed_is_refused(
    control_plane: ControlPlane, field: str, allowed: str
) -> None:
    assert validation_error(control_plane, "PangolinResource", with_target(**{field: "odd"})) == (
        f'spec.targets[0].{field}: Unsupported value: "odd": supported values: {allowed}'
    )


@pytest.mark.parametrize(
    ("kind", "spec", "field"),
    [
        ("PangolinResource", {"targets": [{"port": 80}]}, "targets[0].ip"),
        ("PangolinResource", {"targets": [{"ip": "web"}]}, "targets[0].port"),
        ("PangolinResource", {"httpConfig": {"domainName": "a.org"}}, "httpConfig.subdomain"),
        ("PangolinResource", {"tunnelRef": {"namespace": "tunnels"}}, "tunnelRef.name"),
        ("PangolinResource", {"proxyConfig": {"enableProxy": True}}, "proxyConfig.proxyPort"),
        ("PangolinTunnel", {"siteName": "home"}, "organizationRef"),
        ("PangolinTunnel", {"organizationRef": {"namespace": "a"}}, "organizationRef.name"),
        ("PangolinOrganization", {"apiEndpoint": "https://pangolin"}, "apiKeyRef"),
        ("PangolinOrganization", {"apiKeyRef": {"key": "token"}}, "apiEndpoint"),
    ],
)
def test_a_missing_value_is_refused(
    control_plane: ControlPlane, kind: str, spec: object, field: str
) -> None:
    assert validation_error(control_plane, kind, spec) == f"spec.{field}: Required value"


def test_only_the_status_subresource_writes_the_status(
    control_plane: ControlPlane, namespace: str
) -> None:
    spec = {"organizationRef": {"name": "home"}}
    tunnel = json.loads(to_json("PangolinTunnel", spec, namespace))
    created = control_plane.kubectl(
        *("create", "--output=jsonpath={.status}", "--filename=-"),
        input=json.dumps({**tunnel, "status": {"status": "Ready"}}),
    )

    patched = control_plane.kubectl(
        *("patch", "pangolintunnel/web", f"--namespace={namespace}", "--subresource=status"),
        *("--type=merge", '--patch={"status":{"status":"Ready"}}', "--output=jsonpath={.status}"),
    )

    assert (created, patched) == ("", '{"status":"Ready"}')


@pytest.mark.parametrize(
    ("kind", "columns"),
    [
        (
            "PangolinResource",
            "NAME|RESOURCE ID|PROTOCOL|SUBDOMAIN|FULL DOMAIN|URL|STATUS|BINDING MODE|AGE",
        ),
        ("PangolinTunnel", "NAME|SITE ID|NICE ID|STATUS|BINDING MODE|ONLINE|AGE"),
        (
            "PangolinOrganization",
            "NAME|ORG ID|ORG NAME|DOMAINS|DEFAULT DOMAIN|STATUS|BINDING MODE|AGE",
        ),
        ("PangolinBinding", "NAME|SERVICE|PROTOCOL|URL|STATUS|AGE"),
    ],
)
def test_a_listing_shows_the_columns_of_the_operator(
    control_plane: ControlPlane, namespace: str, kind: str, columns: str
) -> None:
    spec = {
        "apiEndpoint": "https://pangolin",
        "apiKeyRef": {"key": "token"},
        "organizationRef": {"name": "home"},
        "protocol": "http",
        "servicePort": 80,
        "serviceRef": {"name": "web", "namespace": "default"},
    }
    control_plane.kubectl(
        *("create", f"--namespace={namespace}", "--validate=ignore", "--filename=-"),
        input=to_json(kind, spec, namespace),
    )

    header = control_plane.kubectl("get", kind, "--namespace", namespace).splitlines()[0]

    assert re.split(r"\s{2,}", header.strip()) == columns.split("|")


@pytest.mark.parametrize(
    ("short", "kind"),
    [
        ("presource", "pangolinresources"),
        ("ptunnel", "pangolintunnels"),
        ("porg", "pangolinorganizations"),
        ("pbinding", "pangolinbindings"),
    ],
)
def test_a_kind_has_the_short_name_of_the_operator(
    control_plane: ControlPlane, short: str, kind: str
) -> None:
    printed = control_plane.kubectl("get", short, "--namespace=default", "--ignore-not-found")
    described = control_plane.kubectl("explain", short)

    assert printed == ""
    assert kind.removesuffix("s") in described.lower()


def test_the_examples_name_the_integration_host_alone() -> None:
    # The operator adds the path of the API itself.
    text = "\n".join(file.read_text() for path in EXAMPLES for file in path.glob("*.yaml"))

    hosts = re.findall(r"apiEndpoint: (\S+)", text)

    assert {host for host in hosts if not re.fullmatch(r"https://api\.[a-z.]+", host)} == set()
    assert hosts


@pytest.mark.parametrize("example", [pytest.param(path, id=path.name) for path in EXAMPLES])
def test_every_example_is_accepted(control_plane: ControlPlane, example: Path) -> None:
    documents = [
        document
        for path in sorted(example.glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text())
    ]

    printed = control_plane.apply(example)
    control_plane.kubectl("delete", "--wait=false", "--filename", str(example))

    assert [re.split("[/ ]", line)[1:] for line in printed.splitlines()] == [
        [document["metadata"]["name"], "serverside-applied"] for document in documents
    ]
