"""The cluster and the project of the chaos: namespaces, a tunnel that is ready, and a stack."""

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
MOST_REMOVALS = 45
MERGE = "application/merge-patch+json"
PANGOLIN = f"/apis/tunnel.pangolin.io/v1alpha1/namespaces/{HOME}"
RESOURCES = "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources"


def authority(plane: ControlPlane) -> str:
    """Return the certificate of a control plane's authority."""
    cluster = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    return base64.b64decode(cluster["certificate-authority-data"]).decode()


def port(plane: ControlPlane) -> int:
    """Return where a control plane serves."""
    return urlsplit(plane.server).port or 443


def api_of(plane: ControlPlane) -> Api:
    """Speak to a control plane as its admin."""
    return Api(port(plane), plane.token("admin"), authority(plane))


def fill(api: Api) -> None:
    """Make what Ingresses need."""
    for name in NAMESPACES:
        _apply(api, f"/api/v1/namespaces/{name}", "v1", "Namespace", {})
        ports = {"ports": [{"port": 80}]}
        _apply(api, f"/api/v1/namespaces/{name}/services/app", "v1", "Service", ports)
    domain = verified_domain(DOMAIN)
    spec = {"apiEndpoint": "https://pangolin.example", "apiKeyRef": {"name": "api", "key": "key"}}
    _pangolin(api, "PangolinOrganization", "home", spec, {"domains": [domain]})
    _pangolin(api, "PangolinTunnel", "default", {"organizationRef": {"name": "home"}}, {})


def settle(api: Api, project: Workspace) -> None:
    """Make the stack."""
    uid = api.request("GET", "/api/v1/namespaces/kube-system")["metadata"]["uid"]
    settings = {
        "clusterId": uid,
        "tunnelNamespace": HOME,
        "namespaces": list(NAMESPACES),
        # Who is killed all the time has much to catch up with, and nobody acknowledges it.
        "maxRemovals": MOST_REMOVALS,
    }
    StackFile(project.path, STACK).merge(settings)
    project.pulumi("stack", "init", STACK, "--no-select")


def live(api: Api) -> list[str]:
    """Return the hosts that live, each as often as it does."""
    found = api.request("GET", RESOURCES)["items"]
    return sorted(each["spec"]["name"] for each in found)


def remembered(project: Workspace) -> list[str]:
    """Return the hosts that the engine remembers."""
    state = json.loads(project.pulumi("stack", "export", "--stack", STACK))
    found = state["deployment"].get("resources") or ()
    return sorted(
        each["urn"].rpartition("::")[2]
        for each in found
        if each["type"].endswith(":PangolinResource")
    )


def logs(project: Workspace) -> Path:
    """Return the folder of what the watchers say."""
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
