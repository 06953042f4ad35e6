"""Tests `pic doctor` with the real engine, its backend and its locks."""

import json
import os
import signal
from pathlib import Path

from tests.engine.doctor import not_passed, run_doctor
from tests.engine.stage import Stage
from tests.support.waiting import until

WRONG = "not the passphrase of this stack"


def test_the_doctor_passes_a_healthy_stack_and_detects_a_wrong_passphrase(stage: Stage) -> None:
    code, findings = run_doctor(stage, PULUMI_EXPERIMENTAL="")
    messages = {finding["name"]: finding["message"] for finding in findings}

    assert (code, not_passed(findings)) == (0, [])
    assert len(findings) == 15
    assert messages["pulumi"].endswith(f" at {stage.workspace.tools.pulumi}")
    assert messages["backend"] == f"file://{stage.workspace.state}"
    assert messages["locks"] == "no run holds a lock"

    code, findings = run_doctor(stage, PULUMI_CONFIG_PASSPHRASE=WRONG)
    assert (code, not_passed(findings)) == (2, [("passphrase", "fail", "incorrect passphrase")])
    assert WRONG not in json.dumps(findings)


def test_the_doctor_reports_the_lock_of_a_live_run_and_of_a_dead_one(stage: Stage) -> None:
    stage.ingress("web", *[f"h{number}" for number in range(30)])
    locks = stage.workspace.state / ".pulumi" / "locks"
    command = stage.workspace.pulumi_command("up", "--yes", "--skip-preview")
    with stage.workspace.start(*command) as process:
        until(lambda: stage.run_records, "the program has recorded the run")
        engine = int(json.loads(next(locks.rglob("*.json")).read_text())["pid"])
        os.kill(engine, signal.SIGSTOP)
        alive = run_doctor(stage)
        os.killpg(process.pid, signal.SIGKILL)
        os.kill(engine, signal.SIGKILL)
    stage.workspace.end()
    until(lambda: not Path(f"/proc/{engine}").exists(), "the engine has ended")

    dead = run_doctor(stage)

    assert alive[0] == 0
    assert alive[1][-1]["message"].endswith("; that process is running")
    assert f"(pid {engine})" in alive[1][-1]["message"]
    assert dead[0] == 5
    [(name, verdict, message)] = not_passed(dead[1])
    assert (name, verdict) == ("locks", "fail")
    assert message == alive[1][-1]["message"].replace("is running", "has ended")
