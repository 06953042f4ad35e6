"""Tests the doctor in real clusters: its findings about permissions and CRDs."""

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from pic.cli.doctor import DoctorContext, Finding, cluster
from pic.cli.doctor.project import Stack
from pic.cluster.listing import connect, read_cluster_id
from pic.run.targets import permissions_for_up
from pic.settings.parse import Settings


def examine(kubeconfig: Path, root: Path, settings: Settings) -> list[Finding]:
    environment = {"KUBECONFIG": str(kubeconfig)}
    now = datetime.now(UTC)
    context = DoctorContext(root, "prod", (), environment, socket.gethostname(), now)
    return list(cluster.examine(context, Stack("prod", settings)))


def settings_for(plane: ControlPlane) -> Settings:
    cluster_id = read_cluster_id(
        connect(Settings(), {"KUBECONFIG": str(plane.kubeconfig)}), Settings()
    )
    return Settings(cluster_id=cluster_id)


@pytest.mark.parametrize(
    ("fixture", "schema"),
    [
        ("control_plane", "current generation, without hosts without a subdomain"),
        (
            "older_control_plane",
            "older generation, one target, without hosts without a subdomain, tunnels of other"
            " namespaces, login and block",
        ),
    ],
)
def test_every_check_passes_for_an_admin(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str, schema: str
) -> None:
    plane: ControlPlane = request.getfixturevalue(fixture)
    settings = settings_for(plane)

    first, *others = examine(plane.kubeconfig, tmp_path, settings)

    assert first.message.startswith("Kubernetes v1.")
    operator = others.pop(2)
    assert (operator.name, operator.verdict.value) == ("operator", "pass")
    assert "by its CRD, since no Deployment has the usual label" in operator.message
    assert [(finding.name, finding.verdict.value, finding.message) for finding in others] == [
        ("cluster id", "pass", settings.cluster_id),
        ("CRDs", "pass", schema),
        ("permissions", "pass", f"all {len(list(permissions_for_up(settings)))} are granted"),
    ]


def test_a_user_without_permissions_gets_a_finding_for_each(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    settings = settings_for(control_plane)

    findings = examine(control_plane.kubeconfig_for("nobody"), tmp_path, settings)

    assert [(finding.name, finding.verdict.value) for finding in findings[:4]] == [
        ("cluster", "pass"),
        ("cluster id", "pass"),
        ("CRDs", "fail"),
        ("operator", "fail"),
    ]
    assert [finding.message for finding in findings[4:]] == [
        f"not allowed: {permission} ({permission.why})"
        for permission in permissions_for_up(settings)
    ]
