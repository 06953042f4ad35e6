"""The snapshot of a real cluster, and what who may not read all of it is told."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from dev.controlplane import ControlPlane
from pic.cli import main
from pic.cluster import listing
from pic.cluster.listing import ApiTransport, Listing
from pic.core.errors import ClusterError
from pic.core.model import Schema
from pic.run.targets import needed
from pic.settings.kinds import BY_NAME
from pic.settings.parse import ResourceSchema, Settings, TargetName
from pic.settings.permissions import Permission
from pic.settings.stack_file import StackFile
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


def connected(
    plane: ControlPlane, settings: Settings = DEFAULT, kubeconfig: Path | None = None
) -> ApiTransport:
    environment = {"KUBECONFIG": str(kubeconfig or plane.kubeconfig)}
    return listing.connect(settings, environment, listing.Timeouts(backoff=0.0))


def uid(plane: ControlPlane) -> str:
    return plane.kubectl("get", "namespace", "kube-system", "--output=jsonpath={.metadata.uid}")


def test_a_snapshot_is_all_there_is_of_every_kind(
    control_plane: ControlPlane, namespace: str
) -> None:
    create(control_plane, namespace, INGRESS.replace("NAME", "web"))
    create(control_plane, namespace, OTHERS)
    settings = Settings(
        namespaces=(namespace,), tunnel_namespace=namespace, ingress_classes=("pangolin", "")
    )

    found = snapshot(listing.read_snapshot(connected(control_plane), settings))

    assert found.cluster_id == uid(control_plane)
    assert found.classes == ()
    assert found.unreadable == ()
    assert found.schema == Schema(
        single_target=False, subdomain_optional=False, tunnel_namespace=True, protection=True
    )
    for objects in (found.ingresses, found.services, found.tunnels, found.organizations):
        assert [each.namespace for each in objects or ()] == [namespace]
    assert [each.host for each in found.live if each.namespace == namespace] == ["app.example.com"]


class TwoAPage:
    """The same connection with small pages."""

    def __init__(self, transport: ApiTransport) -> None:
        self.transport = transport
        self.asked = 0

    def get(self, path: str) -> object:
        self.asked += 1
        return self.transport.get(path.replace(f"limit={listing.PAGE}", "limit=2"))

    def request(self, method: str, path: str, body: object) -> object:
        raise NotImplementedError


def test_a_listing_of_several_pages_is_whole(control_plane: ControlPlane, namespace: str) -> None:
    names = [f"web-{at}" for at in range(5)]
    create(control_plane, namespace, "---".join(INGRESS.replace("NAME", name) for name in names))
    transport = TwoAPage(connected(control_plane))

    found = listing.list_objects(transport, Listing(BY_NAME["Ingress"], namespace))

    metadata: list[Any] = [each["metadata"] for each in found]
    assert [each["name"] for each in metadata] == names
    assert transport.asked == 3


def test_the_older_generation_of_the_crd_is_recognised(older_control_plane: ControlPlane) -> None:
    found = listing.read_schema(connected(older_control_plane), DEFAULT)

    assert found == Schema(
        single_target=True, subdomain_optional=False, tunnel_namespace=False, protection=False
    )


def problem(
    plane: ControlPlane, settings: Settings = DEFAULT, kubeconfig: Path | None = None
) -> str:
    with pytest.raises(ClusterError) as caught:
        listing.read_snapshot(connected(plane, settings, kubeconfig), settings)
    return str(caught.value)


def test_a_token_that_nobody_has_is_told(control_plane: ControlPlane, tmp_path: Path) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    config["users"][0]["user"]["token"] += "-of-old"
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))

    assert problem(control_plane, kubeconfig=path) == (
        "cannot get namespace kube-system: Unauthorized (HTTP 401); the credentials are not"
        " accepted: renew them"
    )


def test_an_authority_that_is_not_trusted_is_told(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    config = yaml.safe_load(control_plane.kubeconfig.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority-data"]
    path = tmp_path / "config"
    path.write_text(yaml.safe_dump(config))

    said = problem(control_plane, kubeconfig=path)

    assert said.startswith(f"no answer from {control_plane.server}: ")
    assert "certificate verify failed" in said


@pytest.fixture(scope="module")
def bare_control_plane() -> Iterator[ControlPlane]:
    """A third one, without any definition."""
    with ControlPlane(crds=None) as plane:
        yield plane


def test_without_the_crd_the_install_hint_is_told(bare_control_plane: ControlPlane) -> None:
    assert problem(bare_control_plane) == f"the cluster has no CRD for PangolinResource: {HINT}"


def test_without_the_crd_a_schema_that_is_set_does_not_help(
    bare_control_plane: ControlPlane,
) -> None:
    settings = Settings(resource_schema=ResourceSchema.TARGETS)

    assert problem(bare_control_plane, settings) == (
        "cannot list pangolintunnels in all namespaces: no reason given (HTTP 404); " + HINT
    )


def test_without_the_target_pangolin_no_crd_is_needed(bare_control_plane: ControlPlane) -> None:
    settings = Settings(targets=(TargetName.PIHOLE,))

    seen = listing.read_snapshot(connected(bare_control_plane), settings)

    assert (seen.objects, seen.cluster_id) == ({"Ingress": []}, uid(bare_control_plane))


def test_init_names_the_crds_that_are_missing(
    bare_control_plane: ControlPlane,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(bare_control_plane.kubeconfig))

    assert main.main(["init", "--stack", "prod"]) == 5
    assert capsys.readouterr().out.splitlines()[3:] == [
        "The cluster lacks:",
        *(
            f"  CRD {plural}.tunnel.pangolin.io is missing: {HINT}"
            for plural in ("pangolinresources", "pangolintunnels", "pangolinorganizations")
        ),
    ]


# Permissions.

# With these everything is read that can be; the engine needs more than a plan does.
MOST = Settings(ingress_classes=("pangolin", ""))
FLAGS = ("--config", 'ingressClasses=["pangolin", ""]')
BEYOND = {"get pangolinresources.tunnel.pangolin.io", "list events"}
PLANNING = [
    each for each in needed(MOST) if each.verb in {"get", "list"} and str(each) not in BEYOND
]


@dataclass(frozen=True)
class Person:
    """A service account, which may do what a cluster role says."""

    plane: ControlPlane
    namespace: str

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{self.namespace}:pic"

    @property
    def kubeconfig(self) -> Path:
        return self.plane.kubeconfig_for(self.user)

    def may(self, permissions: Iterable[Permission]) -> None:
        rbac = "rbac.authorization.k8s.io"
        role: Mapping[str, object] = {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": self.namespace},
            "rules": [_rule(each) for each in permissions],
        }
        binding: Mapping[str, object] = {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": self.namespace},
            "roleRef": {"apiGroup": rbac, "kind": "ClusterRole", "name": self.namespace},
            "subjects": [{"kind": "ServiceAccount", "name": "pic", "namespace": self.namespace}],
        }
        listed = {"apiVersion": "v1", "kind": "List", "items": [role, binding]}
        self.plane.kubectl("create", "--filename=-", input=json.dumps(listed))


def _rule(permission: Permission) -> dict[str, object]:
    rule: dict[str, object] = {
        "apiGroups": [permission.group],
        "resources": [permission.resource],
        "verbs": [permission.verb],
    }
    return {**rule, "resourceNames": [permission.name]} if permission.name else rule


@pytest.fixture
def person(control_plane: ControlPlane, namespace: str) -> Iterator[Person]:
    yield Person(control_plane, namespace)
    control_plane.kubectl(
        "delete", f"clusterrole/{namespace}", f"clusterrolebinding/{namespace}", "--wait=false"
    )


@pytest.fixture
def pic(
    person: Person,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, str]]:
    """Run pic as this person, and return its exit code and everything that it printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(person.kubeconfig))

    def run(*words: str) -> tuple[int, str]:
        code = main.main(words)
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def eventually(call: Callable[[], tuple[int, str]], wanted: tuple[int, str]) -> tuple[int, str]:
    """Call until the answer is the wanted one: the API server learns of a role a moment later."""
    deadline = time.monotonic() + SECONDS
    while (found := call()) != wanted and time.monotonic() < deadline:
        pass
    return found


def test_who_may_do_what_is_needed_and_no_more_gets_a_plan(
    person: Person, pic: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    person.may(needed(MOST))
    StackFile(tmp_path, "prod").merge({"maxRemovals": 5})
    wanted = (0, "0 resources, 0 warnings, 0 remarks\n")

    assert eventually(lambda: pic("plan", *FLAGS), wanted) == wanted


def test_who_may_do_what_is_needed_and_no_more_can_init(
    person: Person, pic: Callable[..., tuple[int, str]]
) -> None:
    person.may(needed(MOST))
    wanted = (
        0,
        "wrote stacks/Pulumi.prod.yaml\n"
        '  pic:ingressClasses: ["pangolin", ""]\n'
        f"  pic:clusterId: {uid(person.plane)}\n"
        "\n"
        "CRDs and permissions are there. Next:\n"
        "  pulumi stack init prod\n"
        "  pulumi preview --stack prod\n",
    )

    assert eventually(lambda: pic("init", "--stack", "prod", *FLAGS), wanted) == wanted


def forbidden(user: str, permission: Permission) -> tuple[str, str]:
    """What cannot be done, and the API server's words."""
    resource, group = permission.resource, permission.group
    full = f"{resource}.{group}" if group else resource
    named = f'{full} "{permission.name}"' if permission.name else full
    inside = (
        ' in the namespace "kube-system"' if resource == "namespaces" else " at the cluster scope"
    )
    what = {
        "namespaces": "namespace kube-system",
        "customresourcedefinitions": "the CRD of PangolinResource",
        "ingressclasses": "ingressclasses in all namespaces",
    }
    return what.get(resource, f"{resource} in all namespaces"), (
        f'{named} is forbidden: User "{user}" cannot {permission.verb} resource "{resource}" in'
        f' API group "{group}"{inside}'
    )


REMEDIES = {
    "ingresses": ", or narrow pic:namespaces",
    "services": ", or narrow pic:namespaces",
    "namespaces": ", or set pic:clusterId",
    "ingressclasses": ', or remove "" from pic:ingressClasses',
    "pangolintunnels": ", or set pic:tunnelNamespace",
    "pangolinorganizations": ", or set pic:tunnelNamespace",
    "customresourcedefinitions": ", or set pic:resourceSchema",
    "pangolinresources": "",
}


@pytest.mark.parametrize("lacking", PLANNING, ids=str)
def test_who_lacks_one_permission_is_told_which_and_what_to_do(
    person: Person, pic: Callable[..., tuple[int, str]], tmp_path: Path, lacking: Permission
) -> None:
    person.may(each for each in needed(MOST) if each != lacking)
    StackFile(tmp_path, "prod").merge({"maxRemovals": 5})
    what, reason = forbidden(person.user, lacking)
    wanted = (
        5,
        f"pic: cannot {lacking.verb} {what}: {reason} (HTTP 403); grant the verb {lacking.verb} to"
        f" who runs pic{REMEDIES[lacking.resource]}\n",
    )

    assert eventually(lambda: pic("plan", *FLAGS), wanted) == wanted


def test_settings_stand_in_for_what_is_cluster_wide(
    person: Person, pic: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    settings = Settings(resource_schema=ResourceSchema.TARGETS)
    person.may(each for each in needed(settings) if each.resource != "namespaces")
    StackFile(tmp_path, "prod").merge({"resourceSchema": "targets", "clusterId": uid(person.plane)})
    wanted = (0, "0 resources, 0 warnings, 0 remarks\n")

    assert eventually(lambda: pic("plan"), wanted) == wanted
