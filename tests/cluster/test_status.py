"""What an operator says in a real cluster, and waiting for it."""

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
from pic.cluster.status import ReadyState, StatusReport, StatusRow
from pic.cluster.wait import Clock
from pic.core.names import STACK_LABEL
from pic.planning.ownership import Ownership
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile

Capture = pytest.CaptureFixture[str]


class Operator:
    """Objects of a stack that nobody else has, and what an operator says of them."""

    def __init__(self, plane: ControlPlane, namespace: str) -> None:
        self.plane, self.namespace = plane, namespace
        self.stack = f"s{secrets.token_hex(4)}"
        settings = Settings()
        self.transport = listing.connect(settings, {"KUBECONFIG": str(plane.kubeconfig)})
        self.id = listing.read_cluster_id(self.transport, settings)

    def make(self, *names: str) -> None:
        for name in names:
            http = {"subdomain": name, "domainName": "example.com"}
            body = {
                "apiVersion": "tunnel.pangolin.io/v1alpha1",
                "kind": "PangolinResource",
                "metadata": {"name": name, "labels": {STACK_LABEL: f"pic.{self.stack}"}},
                "spec": {"name": f"{name}.example.com", "httpConfig": http},
            }
            shown = ("create", "-n", self.namespace, "-f", "-")
            self.plane.kubectl(*shown, input=json.dumps(body))

    def says(self, name: str, phase: str, message: str = "ok", generation: int = 1) -> None:
        """Write a status as the operator does, through its subresource."""
        condition = {
            "type": "Ready",
            "status": "True" if phase == "Ready" else "False",
            "reason": "ReconcileSuccess" if phase == "Ready" else "ReconcileError",
            "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
        told = {"status": phase, "observedGeneration": generation, "conditions": [condition]}
        self.patch(name, {"status": {**told, "bindingMode": "Created"}}, "--subresource=status")

    def patch(self, name: str, body: dict[str, Any], *flags: str) -> None:
        where = ("patch", "-n", self.namespace, "pangolinresource", name, "--type=merge")
        self.plane.kubectl(*where, *flags, "--patch", json.dumps(body))

    def wait(self, keys: list[str], told: list[str], meanwhile: Callable[[], None]) -> StatusReport:
        """Wait for objects; what happens meanwhile takes the place of time that passes."""
        pace = Clock(told.append, sleep=lambda _: meanwhile())
        owner, wanted = Ownership(f"pic.{self.stack}"), [(self.namespace, key) for key in keys]
        return waiting.wait_until_ready(self.transport, owner, wanted, 60, pace)


@pytest.fixture
def operator(control_plane: ControlPlane, namespace: str) -> Operator:
    return Operator(control_plane, namespace)


@pytest.fixture
def status(
    operator: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> Callable[[], tuple[int, dict[str, Any]]]:
    """Run `pic status` and return its exit code and its JSON."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KUBECONFIG", str(operator.plane.kubeconfig))
    StackFile(tmp_path, operator.stack).merge({"clusterId": operator.id})

    def run() -> tuple[int, dict[str, Any]]:
        code = main.main(["status", "--output", "json"])
        return code, json.loads(capsys.readouterr().out)

    return run


def told(found: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    rows = found["resources"]
    return [(row["state"], row["host"], row["phase"], row["message"]) for row in rows]


def test_the_status_follows_the_operator_and_the_generation(
    operator: Operator, status: Callable[[], tuple[int, dict[str, Any]]]
) -> None:
    operator.make("a", "b", "c")
    operator.says("b", "Ready")
    operator.says("c", "Error", "no such domain")

    code, found = status()

    assert code == 6
    assert told(found) == [
        ("error", "c.example.com", "Error", "no such domain"),
        ("pending", "a.example.com", "", "the operator has not written a status yet"),
        ("ready", "b.example.com", "Ready", "ok"),
    ]
    assert found["resources"][2]["binding"] == "Created"

    for name in ("a", "c"):
        operator.says(name, "Ready")
    code, found = status()
    assert (code, found["counts"]) == (0, {"error": 0, "pending": 0, "ready": 3})

    operator.patch("a", {"spec": {"enabled": False}})
    code, found = status()
    assert code == 6
    assert told(found)[0] == (
        *("pending", "a.example.com", "Ready"),
        "the operator has not processed the last change yet",
    )


def test_a_wait_ends_with_the_operators_word(operator: Operator) -> None:
    operator.make("a", "b")
    operator.says("a", "Ready")
    said: list[str] = []
    words = iter([("Error", "tunnel is away"), ("Ready", "ok")])

    found = operator.wait(["a", "b"], said, lambda: operator.says("b", *next(words)))

    assert found == StatusReport(
        tuple(
            StatusRow(
                *(f"{name}.example.com", operator.namespace, name, ReadyState.READY),
                *("Ready", "ok"),
                binding="Created",
            )
            for name in ("a", "b")
        )
    )
    assert said == [
        "1 of 2 ready, 1 pending, 0 in error",
        f"b.example.com ({operator.namespace}/b): tunnel is away",
        "1 of 2 ready, 0 pending, 1 in error",
        "2 of 2 ready, 0 pending, 0 in error",
    ]
