"""Tests the snapshot of a real cluster."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.controlplane import ControlPlane
from pic.cli import main
from pic.cluster import listing
from pic.cluster.listing import ApiTransport, Listing
from pic.core.errors import ClusterError
from pic.core.operator_objects import Schema
from pic.settings.kinds import BY_NAME
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.snapshot.assemble import snapshot

SECONDS = 20.0
DEFAULT = Settings()
HINT = "install the CRDs of the Pangolin operator, or check that this is the right cluster"

INGRESS = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: NAME}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""
OTHERS = """
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinOrganization
metadata: {name: acme}
spec: {apiEndpoint: "https://pangolin", apiKeyRef: {name: key, key: token}}
---
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinTunnel
metadata: {name: home}
spec: {organizationRef: {name: acme}, siteName: home}
---
apiVersion: tunnel.pangolin.io/v1alpha1
kind: PangolinResource
metadata: {name: pic-web}
spec: {httpConfig: {domainName: example.com, subdomain: app}}
"""


def create(plane: ControlPlane, namespace: str, text: str) -> None:
    plane.kubectl("create", "--namespace", namespace, "--filename=-", input=text)


def connect(
    plane: ControlPlane, settings: Settings = DEFAULT, kubeconfig: Path | None = None
) -> ApiTransport:
    environment = {"KUBECONFIG": str(kubeconfig or plane.kubeconfig)}
    return listing.connect(settings, environment, listing.Timeouts(backoff=0.0))


def uid(plane: ControlPlane) -> str:
    return plane.kubectl("get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}")


def test_a_snapshot_has_all_objects_of_every_kind(
    control_plane: ControlPlane, namespace: str
) -> None:
    create(control_plane, namespace, INGRESS.replace("NAME", "web"))
    create(control_plane, namespace, OTHERS)
    settings = Settings(
        namespaces=(namespace,), tunnel_namespace=namespace, ingress_classes=("pangolin", "")
    )

    result = snapshot(listing.read_snapshot(connect(control_plane), settings))

    assert result.cluster_id == uid(control_plane)
    assert result.classes == ()
    assert result.unreadable == ()
    assert result.schema == Schema(
        single_target=False, subdomain_optional=False, tunnel_namespace=True, protection=True
    )
    for objects in (result.ingresses, result.services, result.tunnels, result.organizations):
        assert [item.namespace for item in objects or ()] == [namespace]
    assert [live.host for live in result.live if live.namespace == namespace] == ["app.example.com"]


class SmallPages:
    """Requests pages of two objects through another transport."""

    def __init__(self, transport: ApiTransport) -> None:
        self.transport = transport
        self.gets = 0

    def get(self, path: str) -> object:
        self.gets += 1
        return self.transport.get(path.replace(f"limit={listing.PAGE_SIZE}", "limit=2"))

    def now(self) -> str:
        return "2026-11-28T12:00:00Z"

    def request(self, method: str, path: str, body: object) -> object:
        raise NotImplementedError


def test_a_listing_with_several_pages_is_complete(
    control_plane: ControlPlane, namespace: str
) -> None:
    names = [f"web-{number}" for number in range(5)]
    create(control_plane, namespace, "---".join(INGRESS.replace("NAME", name) for name in names))
    transport = SmallPages(connect(control_plane))

    objects = listing.list_objects(transport, Listing(BY_NAME["Ingress"], namespace))

    metadata: list[Any] = [raw["metadata"] for raw in objects]
    assert [item["name"] for item in metadata] == names
    assert transport.gets == 3


def test_the_older_generation_of_the_crd_is_recognized(older_control_plane: ControlPlane) -> None:
    schema = listing.read_schema(connect(older_control_plane), DEFAULT)

    assert schema == Schema(
        single_target=True, subdomain_optional=False, tunnel_namespace=False, protection=False
    )


def read_error(
    plane: ControlPlane, settings: Settings = DEFAULT, kubeconfig: Path | None = None
) -> str:
    with pytest.raises(ClusterError) as raised:
        listing.read_snapshot(connect(plane, settings, kubeconfig), settings)
    return str(raised.value)


def test_a_wrong_token_is_an_error_that_says_so(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    config["users"][0]["user"]["token"] += "-of-old"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))

    assert read_error(control_plane, kubeconfig=path) == (
        "cannot get namespace kube-system: Unauthorized (HTTP 401); the API server rejects"
        " the credentials: renew them"
    )


def test_an_untrusted_authority_is_an_error_that_says_so(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))

    message = read_error(control_plane, kubeconfig=path)

    assert message.startswith(f"no answer from {control_plane.server}: ")
    assert "certificate verify failed" in message


@pytest.fixture(scope="module")
def bare_control_plane() -> Iterator[ControlPlane]:
    """Provide a control plane without CustomResourceDefinitions."""
    with ControlPlane(crds=None) as plane:
        yield plane


def test_the_error_about_a_missing_crd_says_what_to_install(
    bare_control_plane: ControlPlane,
) -> None:
    assert read_error(bare_control_plane) == f"the cluster has no CRD for PangolinResource: {HINT}"


def test_a_schema_setting_does_not_replace_a_missing_crd(
    bare_control_plane: ControlPlane,
) -> None:
    settings = Settings(resource_schema=ResourceSchema.TARGETS)

    assert read_error(bare_control_plane, settings) == (
        "cannot list pangolintunnels in all namespaces: no reason given (HTTP 404); " + HINT
    )


def test_without_the_target_pangolin_pic_needs_no_crd(bare_control_plane: ControlPlane) -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    raw = listing.read_snapshot(connect(bare_control_plane), settings)

    assert (sorted(raw.objects), raw.objects["Ingress"]) == (["Ingress", "Namespace"], [])
    assert raw.cluster_id == uid(bare_control_plane)


def test_init_names_the_missing_crds(
    bare_control_plane: ControlPlane,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(bare_control_plane.kubeconfig))

    words = ["init", "--stack", "prod", "--tunnel-namespace", "tunnels"]
    assert main.main(words) == 5
    assert capsys.readouterr().out.splitlines()[5:] == [
        "",
        "The cluster lacks:",
        *(
            f"  CRD {plural}.tunnel.pangolin.io is missing: {HINT}"
            for plural in ("pangolinresources", "pangolintunnels", "pangolinorganizations")
        ),
    ]
