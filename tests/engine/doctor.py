"""Runs of `pic doctor` on a stage."""

import json
from typing import Any

from tests.engine.stage import Stage

Check = dict[str, str]


def run_doctor(stage: Stage, **environment: str) -> tuple[int, list[Check]]:
    """Return the exit code of the doctor and its checks."""
    command = (str(stage.workspace.python), "-m", "pic", "doctor", "--output", "json")
    result = stage.workspace.run(*command, "--stack", stage.name, check=False, env=environment)
    report: dict[str, Any] = json.loads(result.stdout)
    return result.returncode, report["checks"]


def not_passed(checks: list[Check]) -> list[tuple[str, str, str]]:
    """Return the name, the verdict and the message of each check that did not pass."""
    return [
        (check["name"], check["verdict"], check["message"])
        for check in checks
        if check["verdict"] != "pass"
    ]
