"""`pic doctor`: what it prints, and its exit codes."""

import json
import socket
from pathlib import Path

import pytest

from pic.cli import main
from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import Clinic

Capture = pytest.CaptureFixture[str]
CHECKS = [
    *("pulumi", "plugin", "packages", "project", "experiments", "checkpoints", "stack"),
    *("cluster", "cluster id", "CRDs", "permissions", "backend", "passphrase", "locks"),
]


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Clinic:
    made = Clinic(tmp_path)
    made.is_well()
    monkeypatch.chdir(tmp_path)
    for name, value in made.context({"KUBECONFIG": str(tmp_path / "none")}).environment.items():
        monkeypatch.setenv(name, value)
    made.write("Pulumi.yaml", "name: pic\n")
    return made


@pytest.mark.usefixtures("clinic")
def test_every_check_has_its_line_though_the_first_fail(capsys: Capture, tmp_path: Path) -> None:
    StackFile(tmp_path, "prod").merge({"clusterId": "here"})

    assert main.main(["doctor"]) == 5
    said = capsys.readouterr()
    assert said.err == ""
    lines = said.out.splitlines()
    assert [line[9:20].strip() for line in lines[:-2]] == CHECKS
    assert lines[-2:] == ["", "8 passed, 2 failed, 4 skipped"]


@pytest.mark.usefixtures("clinic")
def test_settings_that_are_wrong_are_exit_code_2(capsys: Capture) -> None:
    assert main.main(["doctor", "--output", "json", "--stack", "prod"]) == 2
    found = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in found["checks"]] == CHECKS
    assert [each["verdict"] for each in found["checks"] if each["name"] == "stack"] == ["fail"]


def test_locks_are_compared_with_this_host(clinic: Clinic, capsys: Capture) -> None:
    stamp = "2026-01-01T00:00:00Z"
    owner = {"pid": 0, "username": "ann", "hostname": socket.gethostname(), "timestamp": stamp}
    clinic.lock("one", json.dumps({**owner, "pid": 2**22 + 1}))

    main.main(["doctor", "--output", "json", "--stack", "prod"])

    assert json.loads(capsys.readouterr().out)["checks"][-1]["message"].endswith("which is dead")
