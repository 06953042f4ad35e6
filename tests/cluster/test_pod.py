"""Tests how pic connects from a pod: with the files of its service account, without kubeconfig."""

import base64
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from dev.controlplane import ControlPlane
from pic.cluster import listing
from pic.settings.parse import Settings


def test_a_pod_authenticates_with_its_token_and_verifies_the_server(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    cluster = yaml.safe_load(control_plane.kubeconfig.read_text())["clusters"][0]["cluster"]
    authority = base64.b64decode(cluster["certificate-authority-data"])
    (tmp_path / "ca.crt").write_bytes(authority)
    (tmp_path / "token").write_text(control_plane.token("system:serviceaccount:default:pic"))
    server = urlsplit(control_plane.server)
    environment = {
        "KUBERNETES_SERVICE_HOST": str(server.hostname),
        "KUBERNETES_SERVICE_PORT": str(server.port),
    }

    transport = listing.connect(Settings(), environment, service_account=tmp_path)
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    answer = transport.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review)

    assert isinstance(answer, dict)
    assert answer["status"]["userInfo"]["username"] == "system:serviceaccount:default:pic"
