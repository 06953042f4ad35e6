"""The doctor in real clusters: who may do what, and which CRDs there are."""

import socket
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dev.controlplane import ControlPlane
from pic.cli.doctor import DoctorContext, Finding, cluster
from pic.cli.doctor.project import Stack
from pic.cluster.listing import connect, read_cluster_id
from pic.run.targets import needed
from pic.settings.parse import Settings


def found(kubeconfig: Path, root: Path, settings: Settings) -> list[Finding]:
    environment = {"KUBECONFIG": str(kubeconfig)}
    now = datetime.now(UTC)
    context = DoctorContext(root, "prod", (), environment, socket.gethostname(), now)
    return list(cluster.examine(context, Stack("prod", settings)))


def bound(plane: ControlPlane) -> Settings:
    known = read_cluster_id(connect(Settings(), {"KUBECONFIG": str(plane.kubeconfig)}), Settings())
    return Settings(cluster_id=known)


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
def test_an_admin_finds_all_well(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str, schema: str
) -> None:
    plane: ControlPlane = request.getfixturevalue(fixture)
    settings = bound(plane)

    first, *others = found(plane.kubeconfig, tmp_path, settings)

    assert first.message.startswith("Kubernetes v1.")
    assert [(each.name, each.verdict.value, each.message) for each in others] == [
        ("cluster id", "pass", settings.cluster_id),
        ("CRDs", "pass", schema),
        ("permissions", "pass", f"all {len(list(needed(settings)))} are granted"),
    ]


def test_somebody_without_rights_is_told_each_that_is_missing(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    settings = bound(control_plane)

    findings = found(control_plane.kubeconfig_for("nobody"), tmp_path, settings)

    assert [(each.name, each.verdict.value) for each in findings[:3]] == [
        ("cluster", "pass"),
        ("cluster id", "pass"),
        ("CRDs", "fail"),
    ]
    assert [each.message for each in findings[3:]] == [
        f"not allowed: {each} ({each.why})" for each in needed(settings)
    ]
