"""`pic status`: what it prints where, and its exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pic.cli import main
from pic.cluster.listing import PANGOLIN
from pic.settings.stack_file import StackFile
from tests.support.api import (
    CLUSTER,
    Answer,
    Api,
    live_object,
    serving,
)

Capture = pytest.CaptureFixture[str]
RESOURCES = f"{PANGOLIN}/pangolinresources"


def said(phase: str) -> dict[str, Any]:
    return {**live_object("app.example.com"), "status": {"status": phase}}


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER})
    with serving() as made:
        monkeypatch.setenv("KUBECONFIG", made.kubeconfig(tmp_path / "config"))
        yield made


def listings(api: Api, *phases: str) -> None:
    """Let each listing show the object in the next phase."""
    kind = "PangolinResourceList"
    bodies = [{"kind": kind, "metadata": {}, "items": [said(phase)]} for phase in phases]
    api.set_answers(RESOURCES, *map(Answer, bodies))


@pytest.mark.parametrize(
    ("phase", "state", "end"),
    [
        ("Ready", "ready  ", (0, "1 of 1 ready, 0 pending, 0 in error")),
        ("Waiting", "pending", (6, "0 of 1 ready, 1 pending, 0 in error")),
    ],
)
def test_the_table_and_the_exit_code(
    api: Api, capsys: Capture, phase: str, state: str, end: tuple[int, str]
) -> None:
    listings(api, phase)

    assert main.main(["status"]) == end[0]
    said = capsys.readouterr()
    assert said.err == ""
    row = f"{state}  app.example.com  prod/pic-app.example.com  {phase:<7}  -          -"
    assert said.out.splitlines()[1:] == [row, "", end[1]]


def test_the_json_goes_to_standard_output(api: Api, capsys: Capture) -> None:
    listings(api, "Error")

    assert main.main(["status", "--output", "json"]) == 6
    assert json.loads(capsys.readouterr().out)["counts"] == {"error": 1, "pending": 0, "ready": 0}


def test_a_stack_without_objects_is_ready(api: Api, capsys: Capture) -> None:
    api.set_objects(RESOURCES)

    assert main.main(["status", "--wait", "60"]) == 0
    assert capsys.readouterr().out == "No object of this stack is live.\n"


@pytest.mark.parametrize(
    ("flags", "told"), [([], "pic: 1 of 1 ready, 0 pending, 0 in error\n"), (["--quiet"], "")]
)
def test_a_wait_tells_what_changes(api: Api, capsys: Capture, flags: list[str], told: str) -> None:
    listings(api, "Waiting", "Ready")

    assert main.main(["status", "--wait", "0.01", *flags]) == 0
    assert capsys.readouterr().err == told


def test_a_deadline_that_passes_is_exit_code_6(api: Api, capsys: Capture) -> None:
    listings(api, "Error")

    assert main.main(["status", "--wait", "0.01", "--quiet"]) == 6
    assert capsys.readouterr().out.splitlines()[-1] == "0 of 1 ready, 0 pending, 1 in error"


def test_another_cluster_than_the_stacks_is_refused(
    api: Api, tmp_path: Path, capsys: Capture
) -> None:
    StackFile(tmp_path, "prod").merge({"clusterId": "elsewhere"})
    listings(api, "Ready")

    assert main.main(["status"]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(
        f"pic: This is cluster {CLUSTER}, and the stack belongs to elsewhere"
    )


@pytest.mark.parametrize("given", ["-1", "inf", "nan", "soon"])
def test_a_wait_is_a_number_of_seconds(capsys: Capture, given: str) -> None:
    assert main.main(["status", f"--wait={given}"]) == 2
    assert "--wait" in capsys.readouterr().err
