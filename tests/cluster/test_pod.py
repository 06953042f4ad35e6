"""The way of a pod to its own API server: files of a service account, and no kubeconfig."""

import base64
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from dev.controlplane import ControlPlane
from pic.cluster import connection, listing
from pic.settings.parse import Settings


def test_a_pod_proves_who_it_is_by_its_token_and_verifies_the_server(
    control_plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = yaml.safe_load(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(found["certificate-authority-data"])
    (tmp_path / "ca.crt").write_bytes(authority)
    (tmp_path / "token").write_text(control_plane.token("system:serviceaccount:default:pic"))
    monkeypatch.setattr(connection, "SERVICE_ACCOUNT", tmp_path)
    server = urlsplit(control_plane.server)
    environment = {
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }

    transport = listing.connect(Settings(), environment)
    asked = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = transport.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", asked)

    assert isinstance(answer, dict)
    assert answer["status"]["userInfo"]["username"] == "system:serviceaccount:default:pic"
