"""Writes objects as the Go controller and its operator do."""

import json

from dev.controlplane.api import JSON
from pic.core.names import object_name
from tests.engine.stage import APIS, Object, Stage

NOTE = "example.com/note"
FINALIZER = "resource.pangolin.io/finalizer"
# The field manager of the Go controller is called manager, and so is that of the operator.
MANAGER = "fieldManager=manager"


def create_go_object(stage: Stage, uid: str) -> None:
    """Create an object for host www as the Go controller does.

    The operator then adds its finalizer and status, and a user adds an annotation.
    """
    name, host = object_name(stage.name, "web", stage.host("www")), stage.host("www")
    path = APIS["PangolinResource"].format(stage.name)
    body = _go_object(stage, name, uid)
    live = stage.cluster.api.request("POST", f"{path}?{MANAGER}", body)
    live["metadata"]["finalizers"] = [FINALIZER]
    stage.cluster.api.request("PUT", f"{path}/{name}?{MANAGER}", json.dumps(live), JSON)
    status = {"status": {"status": "Ready", "fullDomain": host}}
    stage.cluster.patch("PangolinResource", stage.name, name, status, f"/status?{MANAGER}")
    note = {"metadata": {"annotations": {NOTE: "mine"}}}
    stage.cluster.patch("PangolinResource", stage.name, name, note, "?fieldManager=user")


def _go_object(stage: Stage, name: str, uid: str) -> Object:
    owner = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "name": "web",
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
    labels = {
        "pic.ingress.k8s.io/name": "web",
        "pic.ingress.k8s.io/namespace": stage.name,
        "pic.ingress.k8s.io/uid": uid,
        "example.com/left": "behind",
    }
    backend = {"ip": f"app.{stage.name}.svc.cluster.local", "port": 80, "method": "http"}
    return {
        "apiVersion": "tunnel.pangolin.io/v1alpha1",
        "kind": "PangolinResource",
        "metadata": {"name": name, "labels": labels, "ownerReferences": [owner]},
        "spec": {
            "enabled": True,
            "name": f"{stage.name}/web/{stage.host('www')}",
            "protocol": "http",
            "tunnelRef": {"name": "default", "namespace": stage.name},
            "httpConfig": {
                "domainName": f"{stage.name}.example",
                "subdomain": "www",
                "sso": False,
                "blockAccess": False,
            },
            "siteRef": {"siteId": 3},
            "targets": [{**backend, "path": "/", "pathMatchType": "prefix", "priority": 110}],
        },
    }
