"""Connects tests to the API server of a control plane."""

import base64
from urllib.parse import urlsplit

import yaml

from dev.controlplane import ControlPlane
from dev.controlplane.api import Api


def api_of(plane: ControlPlane) -> Api:
    """Return a client that is the admin of a control plane."""
    cluster = yaml.safe_load(plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    return Api(urlsplit(plane.server).port or 443, plane.token("admin"), authority)
