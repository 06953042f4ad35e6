"""Prepares the cluster and the project: namespaces, a tunnel that is ready, and a stack."""

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from dev.chaos.world import DOMAIN, NAMESPACES
from dev.controlplane import ControlPlane
from dev.controlplane.api import APPLY, Api
from dev.pangolin import verified_domain
from dev.workspace import Workspace
from pic.settings.stack_file import StackFile

STACK = "chaos"
HOME = NAMESPACES[0]
MAX_REMOVALS = 45
MERGE = "application/merge-patch+json"
PANGOLIN = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{HOME}"
RESOURCES = "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources"


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
    for name in NAMESPACES:
        _apply(api, f"/api/v1/namespaces/{name}", "v1", "Namespace", {})
        ports = {"ports": [{"port": 80}]}
        _apply(api, f"/api/v1/namespaces/{name}/services/app", "v1", "Service", ports)
    domain = verified_domain(DOMAIN)
    spec = {"apiEndpoint": "https://pangolin.example", "apiKeyRef": {"name": "api", "key": "key"}}
    _pangolin(api, "PangolinOrganization", "home", spec, {"domains": [domain]})
    _pangolin(api, "PangolinTunnel", "default", {"organizationRef": {"name": "home"}}, {})


def create_stack(api: Api, project: Workspace) -> None:
    """Create the stack."""
    uid = api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    settings = {
        "clusterId": uid,
        "tunnelNamespace": HOME,
        "namespaces": list(NAMESPACES),
        # A watcher that is killed often falls behind, and nothing acknowledges the refusals.
        "maxRemovals": MAX_REMOVALS,
    }
    StackFile(project.path, STACK).merge(settings)
    project.pulumi("stack", "init", STACK, "--no-select")


def live_hosts(api: Api) -> list[str]:
    """Return the live hosts; a host with two objects is listed twice."""
    items = api.request("GET", RESOURCES)["items"]
    return sorted(item["spec"]["name"] for item in items)


def remembered_hosts(project: Workspace) -> list[str]:
    """Return the hosts in the state of the engine."""
    state = json.loads(project.pulumi("stack", "export", "--stack", STACK))
    resources = state["deployment"].get("resources") or ()
    return sorted(
        resource["urn"].rpartition("::")[2]
        for resource in resources
        if resource["type"].endswith(":PangolinResource")
    )


def log_folder(project: Workspace) -> Path:
    """Return the folder of the watchers' logs."""
    folder = project.path / "logs"
    folder.mkdir(exist_ok=True)
    return folder


def _pangolin(api: Api, kind: str, name: str, spec: object, status: dict[str, Any]) -> None:
    path = f"{PANGOLIN}/{kind.lower()}s/{name}"
    _apply(api, path, "tunnel.pangolin.io/v1alpha1", kind, spec)
    api.request("PATCH", f"{path}/status", {"status": {"status": "Ready", **status}}, MERGE)


def _apply(api: Api, path: str, version: str, kind: str, spec: object) -> None:
    name = path.rpartition("/")[2]
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    api.request("PATCH", f"{path}?fieldManager=chaos&force=true", json.dumps(body), APPLY)
