"""Prepares the cluster and the project: namespaces, a tunnel that is ready, a tenant, a stack."""

import base64
import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from dev.chaos import records
from dev.chaos.judge import HOSTILE
from dev.chaos.world import DOMAIN, NAMESPACES
from dev.controlplane import ControlPlane
from dev.controlplane.api import APPLY, Api
from dev.pangolin import verified_domain
from dev.pihole import PiHole
from dev.workspace import Workspace
from pic.settings.stack_file import StackFile

STACK = "chaos"
HOME = NAMESPACES[0]
# Only pic and its watchers write here.
PLATFORM = "chaos-platform"
TENANT = f"system:serviceaccount:{HOSTILE}:tenant"
TENANT_RESOURCES = (
    *("configmaps", "events", "secrets", "services", "ingresses"),
    *("pangolinorganizations", "pangolinorganizations/status"),
    *("pangolintunnels", "pangolintunnels/status"),
    *("pangolinresources", "pangolinresources/status"),
)
MAX_REMOVALS, REMOVAL_WINDOW = 45, "20s"
MERGE = "application/merge-patch+json"
RBAC = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{HOSTILE}"
PANGOLIN = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{HOME}"
RESOURCES = "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources"
# What a tenant must not be able to write: objects of others, the register, a Lease, a namespace.
FORBIDDEN = (
    f"/apis/networking.k8s.io/v1/namespaces/{HOME}/ingresses/web-1",
    f"{PANGOLIN}/pangolinresources/pic-web",
    f"{PANGOLIN}/pangolintunnels/default",
    f"/api/v1/namespaces/{PLATFORM}/configmaps/pic-{STACK}-0",
    f"/apis/coordination.k8s.io/v1/namespaces/{PLATFORM}/leases/pic-{STACK}",
    f"/api/v1/namespaces/{HOSTILE}",
)


def authority(plane: ControlPlane) -> str:
    """Return the CA certificate of a control plane."""
    cluster = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    return base64.b64decode(cluster["certificate-authority-data"]).decode()


def port(plane: ControlPlane) -> int:
    """Return the port of a control plane."""
    return urlsplit(plane.server).port or 443


def admin_api(plane: ControlPlane) -> Api:
    """Return a client of a control plane, as its admin."""
    return Api(port(plane), plane.token("admin"), authority(plane))


def create_prerequisites(api: Api) -> None:
    """Create what the Ingresses need."""
    _apply(api, f"/api/v1/namespaces/{PLATFORM}", "v1", "Namespace", {})
    for name in (*NAMESPACES, HOSTILE):
        _apply(api, f"/api/v1/namespaces/{name}", "v1", "Namespace", {})
        ports = {"ports": [{"port": 80}]}
        _apply(api, f"/api/v1/namespaces/{name}/services/app", "v1", "Service", ports)
    domain = verified_domain(DOMAIN)
    spec = {"apiEndpoint": "https://pangolin.example", "apiKeyRef": {"name": "api", "key": "key"}}
    _pangolin(api, "PangolinOrganization", "home", spec, {"domains": [domain]})
    _pangolin(api, "PangolinTunnel", "default", {"organizationRef": {"name": "home"}}, {})


def create_tenant(plane: ControlPlane, api: Api) -> Api:
    """Create a service account with all rights in one namespace, and return its client."""
    token = plane.token(TENANT)
    groups = ["", "networking.k8s.io", "tunnel.pangolin.io"]
    rule = {"apiGroups": groups, "resources": list(TENANT_RESOURCES), "verbs": ["*"]}
    api.request("POST", f"{RBAC}/roles", {"metadata": {"name": "tenant"}, "rules": [rule]})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "tenant"}
    subject = {"kind": "ServiceAccount", "name": "tenant", "namespace": HOSTILE}
    binding = {"metadata": {"name": "tenant"}, "roleRef": role, "subjects": [subject]}
    api.request("POST", f"{RBAC}/rolebindings", binding)
    return Api(port(plane), token, authority(plane))


def create_stack(api: Api, project: Workspace, pihole: PiHole) -> None:
    """Create the stack."""
    uid = api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    settings = {
        "clusterId": uid,
        "tunnelNamespace": HOME,
        "namespaces": [*NAMESPACES, HOSTILE],
        "registerNamespace": PLATFORM,
        "stackId": "c4a05c4a05c4a05c",
        "targets": ["pangolin", "pihole"],
        "piholeUrl": pihole.url,
        "piholeTargetIp": records.ADDRESS,
        # A watcher that is killed often falls behind, and nothing acknowledges the refusals.
        "maxRemovals": MAX_REMOVALS,
        "removalWindow": REMOVAL_WINDOW,
    }
    StackFile(project.path, STACK).merge(settings)
    project.pulumi("stack", "init", STACK, "--no-select")


def live_objects(api: Api) -> list[dict[str, Any]]:
    """Return the live objects of all namespaces but that of the attacker."""
    items = api.request("GET", RESOURCES)["items"]
    return [item for item in items if item["metadata"]["namespace"] != HOSTILE]


def blocked_hosts(api: Api) -> set[str]:
    """Return the hosts for which the namespace of the attacker has an object."""
    items = api.request("GET", RESOURCES)["items"]
    specs = [item["spec"] for item in items if item["metadata"]["namespace"] == HOSTILE]
    parts = [spec.get("httpConfig") or {} for spec in specs]
    return {f"{part.get('subdomain')}.{part.get('domainName')}" for part in parts}


def live_hosts(api: Api) -> list[str]:
    """Return the live hosts of these namespaces; a host with two objects is listed twice."""
    return sorted(item["spec"]["name"] for item in live_objects(api))


def remembered_hosts(project: Workspace) -> list[str]:
    """Return the hosts of these namespaces in the state of the engine."""
    state = json.loads(project.pulumi("stack", "export", "--stack", STACK))
    resources = state["deployment"].get("resources") or ()
    return sorted(
        resource["urn"].rpartition("::")[2]
        for resource in resources
        if resource["type"].endswith(":PangolinResource")
        and resource["inputs"]["metadata"]["namespace"] != HOSTILE
    )


def log_folder(project: Workspace) -> Path:
    """Return the folder of the watchers' logs: CHAOS_LOGS, or one that goes with the project."""
    folder = Path(os.environ.get("CHAOS_LOGS") or project.path / "logs")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _pangolin(api: Api, kind: str, name: str, spec: object, status: dict[str, Any]) -> None:
    path = f"{PANGOLIN}/{kind.lower()}s/{name}"
    _apply(api, path, "tunnel.pangolin.io/v1alpha1", kind, spec)
    api.request("PATCH", f"{path}/status", {"status": {"status": "Ready", **status}}, MERGE)


def _apply(api: Api, path: str, version: str, kind: str, spec: object) -> None:
    name = path.rpartition("/")[2]
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    api.request("PATCH", f"{path}?fieldManager=chaos&force=true", json.dumps(body), APPLY)
