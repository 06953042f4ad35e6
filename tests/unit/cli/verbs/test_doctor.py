"""Tests `pic doctor`: what it prints, and its exit codes."""

import json
import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import FakeCheckout
from tests.support.fakes import run_pic

Capture = pytest.CaptureFixture[str]
CHECKS = [
    *("pulumi", "plugin", "packages", "project", "experiments", "checkpoints", "stack"),
    *("cluster", "cluster id", "CRDs", "operator", "permissions", "backend", "passphrase", "locks"),
]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCheckout:
    checkout = FakeCheckout(tmp_path)
    checkout.make_healthy()
    monkeypatch.chdir(tmp_path)
    checkout.write("Pulumi.yaml", "name: pic\n")
    return checkout


def doctor(capsys: Capture, checkout: FakeCheckout, *words: str) -> tuple[int, str, str]:
    """Run `pic doctor` in a checkout whose kubeconfig does not exist."""
    return run_pic(capsys, "doctor", *words, **checkout.context().environment)


def test_every_check_has_its_line_although_the_first_ones_fail(
    checkout: FakeCheckout, capsys: Capture
) -> None:
    StackFile(checkout.root, "prod").merge({"clusterId": "cluster-1"})

    code, out, err = doctor(capsys, checkout)

    assert (code, err) == (5, "")
    lines = out.splitlines()
    assert [line[9:20].strip() for line in lines[:-2]] == CHECKS
    assert lines[-2:] == ["", "8 passed, 2 failed, 5 skipped"]


def test_wrong_settings_are_exit_code_2(checkout: FakeCheckout, capsys: Capture) -> None:
    code, out, _ = doctor(capsys, checkout, "--output", "json", "--stack", "prod")

    checks = json.loads(out)["checks"]
    assert code == 2
    assert [check["name"] for check in checks] == CHECKS
    assert [check["verdict"] for check in checks if check["name"] == "stack"] == ["fail"]


def test_locks_are_compared_with_the_name_of_this_host(
    checkout: FakeCheckout, capsys: Capture
) -> None:
    checkout.hang("wait")
    with subprocess.Popen([checkout.cli, "wait"], start_new_session=True) as cli:
        owner = {"pid": cli.pid, "username": "ann", "hostname": socket.gethostname()}
        checkout.lock("one", json.dumps({**owner, "timestamp": "2026-01-01T00:00:00Z"}))

        _, out, _ = doctor(capsys, checkout, "--output", "json", "--stack", "prod")

        os.killpg(cli.pid, signal.SIGKILL)
    assert json.loads(out)["checks"][-1]["message"].endswith("that process is running")
