"""Tests `pic status`: what it prints where, and its exit codes."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pic.cluster.listing import PANGOLIN
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    REMEMBERING,
    Answer,
    Api,
    fill_cluster,
    ingress,
    live_object,
    serving,
)
from tests.support.fakes import ENVIRONMENT, HOST, run_pic

Capture = pytest.CaptureFixture[str]
RESOURCES = f"{PANGOLIN}/pangolinresources"


def object_in(phase: str) -> dict[str, Any]:
    """Return a live object with a phase from the operator."""
    return {**live_object("app.example.com"), "status": {"status": phase}}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER})
    with serving() as server:
        server.kubeconfig(tmp_path / ENVIRONMENT["KUBECONFIG"])
        yield server


def set_phases(api: Api, *phases: str) -> None:
    """Let each listing contain the object in the next phase."""
    kind = "PangolinResourceList"
    bodies = [{"kind": kind, "metadata": {}, "items": [object_in(phase)]} for phase in phases]
    api.set_answers(RESOURCES, *map(Answer, bodies))


@pytest.mark.parametrize(
    ("phase", "state", "end"),
    [
        ("Ready", "ready  ", (0, "1 of 1 ready, 0 pending, 0 in error")),
        ("Waiting", "pending", (6, "0 of 1 ready, 1 pending, 0 in error")),
    ],
)
def test_the_table_shows_the_phase_and_the_exit_code_says_if_all_are_ready(
    api: Api, capsys: Capture, phase: str, state: str, end: tuple[int, str]
) -> None:
    set_phases(api, phase)

    code, out, err = run_pic(capsys, "status")

    assert (code, err) == (end[0], "")
    row = f"{state}  app.example.com  prod/pic-app.example.com  {phase:<7}  -          -"
    assert out.splitlines()[1:] == [row, "", end[1]]


def test_the_json_goes_to_standard_output(api: Api, capsys: Capture) -> None:
    set_phases(api, "Error")

    code, out, _ = run_pic(capsys, "status", "--output", "json")

    assert code == 6
    assert json.loads(out)["counts"] == {"error": 1, "pending": 0, "ready": 0}


def test_a_stack_without_objects_is_ready_at_once(api: Api, capsys: Capture) -> None:
    api.set_objects(RESOURCES)

    assert run_pic(capsys, "status", "--wait", "60") == (
        0,
        "No object of this stack is live.\n",
        "",
    )


WHY = "no Ingress asks for its login any more: Ingress prod/web has no annotation sso"
HELD = f"{HOST} keeps its login: {WHY}"


@pytest.fixture
def weakening(api: Api, tmp_path: Path) -> None:
    """Let an Ingress ask for a host without the login that the host has."""
    StackFile(tmp_path, "prod").merge(REMEMBERING)
    live = {**live_object(HOST), "status": {"status": "Ready"}}
    live["spec"]["httpConfig"]["sso"] = True
    fill_cluster(api, [ingress("web", HOST)], live)


@pytest.mark.usefixtures("weakening")
def test_what_is_held_is_shown_with_the_command_that_lets_it_through(capsys: Capture) -> None:
    code, out, err = run_pic(capsys, "status")

    lines = out.splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("1 change held"))
    counts, title, line, command = lines[3], *lines[at : at + 3]
    digest = command.split()[-1]
    assert (code, err, counts) == (0, "", "1 of 1 ready, 0 pending, 0 in error")
    assert lines[-1] == "1 Ingress: 1 held; 1 host: 1 held"
    assert (title, line, command) == (
        "1 change held. Everything else is not affected:",
        f"= {HELD} (weakened {digest})",
        f"If you want it: pic up --stack prod --acknowledge {digest}",
    )


@pytest.mark.usefixtures("weakening")
def test_the_json_has_what_is_held(capsys: Capture) -> None:
    code, out, _ = run_pic(capsys, "status", "--output", "json")

    (held,) = json.loads(out)["held"]
    assert code == 0
    assert re.fullmatch("[0-9a-f]{16}", held.pop("digest"))
    assert held == {
        "host": HOST,
        "verdict": "weakened",
        "namespace": "prod",
        "stays": "login",
        "insteadOf": "public",
        "reason": WHY,
    }


@pytest.mark.parametrize(
    ("flags", "progress"), [([], "pic: 1 of 1 ready, 0 pending, 0 in error\n"), (["--quiet"], "")]
)
def test_a_wait_prints_what_changes(
    api: Api, capsys: Capture, flags: list[str], progress: str
) -> None:
    set_phases(api, "Waiting", "Ready")

    code, _, err = run_pic(capsys, "status", "--wait", "0.01", *flags)

    assert (code, err) == (0, progress)


def test_objects_that_are_not_ready_in_time_are_exit_code_6(api: Api, capsys: Capture) -> None:
    set_phases(api, "Error")

    code, out, _ = run_pic(capsys, "status", "--wait", "0.01", "--quiet")

    assert code == 6
    assert out.splitlines()[-1] == "0 of 1 ready, 0 pending, 1 in error"


def test_the_stack_of_another_cluster_is_refused(api: Api, tmp_path: Path, capsys: Capture) -> None:
    StackFile(tmp_path, "prod").merge({"clusterId": "elsewhere"})
    set_phases(api, "Ready")

    code, out, err = run_pic(capsys, "status")

    assert (code, out) == (3, "")
    assert err.startswith(f"pic: This is cluster {CLUSTER}, and the stack belongs to elsewhere")


@pytest.mark.parametrize("value", ["-1", "inf", "nan", "soon"])
def test_a_wait_is_a_number_of_seconds(capsys: Capture, value: str) -> None:
    code, _, err = run_pic(capsys, "status", f"--wait={value}")

    assert code == 2
    assert "--wait" in err
