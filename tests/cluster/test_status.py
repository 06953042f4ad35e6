"""Tests how pic reads the status that an operator writes, and how it waits for it."""

import json
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dev.controlplane import ControlPlane
from pic.cli import main
from pic.cluster import listing
from pic.cluster import wait as waiting
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.cluster.wait import Clock
from pic.core.names import STACK_LABEL
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile

Capture = pytest.CaptureFixture[str]


class Operator:
    """Creates the objects of a stack, and writes their status as an operator does."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane, self.namespace = plane, namespace
        self.stack = f"s{secrets.token_hex(4)}"
        settings = Settings()
        self.transport = listing.connect(settings, {"KUBECONFIG": str(plane.kubeconfig)})
        self.id = listing.read_cluster_id(self.transport, settings)

    def create(self, *names: str) -> None:
        for name in names:
            http = {"subdomain": name, "domainName": "example.com"}
            body = {
                "apiVersion": "tunnel.pangolin.io/v1alpha1",
                "kind": "PangolinResource",
                "metadata": {"name": name, "labels": {STACK_LABEL: f"pic.{self.stack}"}},
                "spec": {"name": f"{name}.example.com", "httpConfig": http},
            }
            command = ("create", "-n", self.namespace, "-f", "-")
            self.plane.kubectl(*command, input=json.dumps(body))

    def set_status(self, name: str, phase: str, message: str = "ok", generation: int = 1) -> None:
        """Write a status as the operator does, through the subresource."""
        condition = {
            "type": "Ready",
            "status": "True" if phase == "Ready" else "False",
            "reason": "ReconcileSuccess" if phase == "Ready" else "ReconcileError",
            "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        status = {
            "status": phase,
            "observedGeneration": generation,
            "conditions": [condition],
            "bindingMode": "Created",
        }
        self.patch(name, {"status": status}, "--subresource=status")

    def patch(self, name: str, body: dict[str, Any], *flags: str) -> None:
        command = ("patch", "-n", self.namespace, "pangolinresource", name, "--type=merge")
        self.plane.kubectl(*command, *flags, "--patch", json.dumps(body))

    def wait(
        self, names: list[str], messages: list[str], meanwhile: Callable[[], None]
    ) -> StatusReport:
        """Wait for objects; `meanwhile` runs instead of each sleep."""
        clock = Clock(messages.append, sleep=lambda _: meanwhile())
        ownership = Ownership(f"pic.{self.stack}")
        keys = [(self.namespace, name) for name in names]
        return waiting.wait_until_ready(self.transport, ownership, keys, 60, clock)


@pytest.fixture
def operator(control_plane: ControlPlane, namespace: str) -> Operator:
    return Operator(control_plane, namespace)


@pytest.fixture
def status(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> Callable[[], tuple[int, dict[str, Any]]]:
    """Provide a function that runs `pic status` and returns its exit code and its JSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(operator.plane.kubeconfig))
    StackFile(tmp_path, operator.stack).merge({"clusterId": operator.id})

    def run() -> tuple[int, dict[str, Any]]:
        code = main.main(["status", "--output", "json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def rows(report: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    return [
        (row["state"], row["host"], row["phase"], row["message"]) for row in report["resources"]
    ]


def test_the_status_follows_the_operator_and_the_generation(
    operator: Operator, status: Callable[[], tuple[int, dict[str, Any]]]
) -> None:
    operator.create("a", "b", "c")
    operator.set_status("b", "Ready")
    operator.set_status("c", "Error", "no such domain")

    code, report = status()

    assert code == 6
    assert rows(report) == [
        ("error", "c.example.com", "Error", "no such domain"),
        ("pending", "a.example.com", "", "the operator has not written a status yet"),
        ("ready", "b.example.com", "Ready", "ok"),
    ]
    assert report["resources"][2]["binding"] == "Created"

    for name in ("a", "c"):
        operator.set_status(name, "Ready")
    code, report = status()
    assert (code, report["counts"]) == (0, {"error": 0, "pending": 0, "ready": 3})

    operator.patch("a", {"spec": {"enabled": False}})
    code, report = status()
    assert code == 6
    assert rows(report)[0] == (
        *("pending", "a.example.com", "Ready"),
        "the operator has not processed the last change yet",
    )


def test_a_wait_ends_when_the_operator_reports_ready(operator: Operator) -> None:
    operator.create("a", "b")
    operator.set_status("a", "Ready")
    messages: list[str] = []
    statuses = iter([("Error", "tunnel is away"), ("Ready", "ok")])

    report = operator.wait(["a", "b"], messages, lambda: operator.set_status("b", *next(statuses)))

    assert report == StatusReport(
        tuple(
            StatusRow(
                *(f"{name}.example.com", operator.namespace, name, ReadyState.READY),
                *("Ready", "ok"),
                binding="Created",
            )
            for name in ("a", "b")
        )
    )
    assert messages == [
        "1 of 2 ready, 1 pending, 0 in error",
        f"b.example.com ({operator.namespace}/b): tunnel is away",
        "1 of 2 ready, 0 pending, 1 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]
