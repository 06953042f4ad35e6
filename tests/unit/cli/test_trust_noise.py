"""Tests that the verbs report what every pass of a run did: as text, as JSON and in the log."""

import json
from pathlib import Path

import pytest

from pic.cli.deploying import STILL_SERVED
from pic.engine.outcome import Outcome
from pic.watch.metrics import run_outcome
from tests.support.api import Api, fill_cluster, ingress, live_object
from tests.support.deployed import urn
from tests.support.deploying import CREATED, OLD, Capture, UseEngine
from tests.support.fakes import HOST, FailingEngine, FakeEngine, run_pic

ADOPTED = Outcome({"import": [urn(OLD)], "create": [urn(HOST)]})
GONE = "Ingress prod/web has no rule for it any more"
CHANGES = f"- {OLD} (prod/pic-{OLD}) is no longer declared: {GONE}\n{CREATED}{STILL_SERVED}\n"


@pytest.fixture(autouse=True)
def stray(api: Api) -> None:
    """Let the cluster have an object that the state lacks, and an Ingress for a new host."""
    fill_cluster(api, [ingress("web", HOST)], live_object(OLD))


def report_of(path: Path) -> tuple[object, object, object]:
    """Return what a report says, and how the metrics of a watcher count it."""
    report = json.loads((path / "report.json").read_text())
    changed, code = report["changed"], report["exitCode"]
    return changed, report["error"], run_outcome(code, changed)


def test_25_a_run_reports_what_all_of_its_passes_did(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, ADOPTED, Outcome({"delete": [urn(OLD)]})))

    answer = run_pic(capsys, "up", "--report", "report.json")

    assert answer == (0, f"{CHANGES}Done: 1 adopted, 1 created, 1 deleted.\n", "")
    assert report_of(root) == ({"create": 1, "delete": 1, "import": 1}, None, "changed")


def test_25_a_run_whose_last_pass_does_nothing_counts_as_changed(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, ADOPTED, Outcome()))

    answer = run_pic(capsys, "up", "--report", "report.json")

    assert answer == (0, f"{CHANGES}Done: 1 adopted, 1 created.\n", "")
    assert report_of(root) == ({"create": 1, "import": 1}, None, "changed")


def test_25_the_log_has_what_all_passes_did_to_an_object_in_order(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, None, None, ADOPTED, Outcome({"delete": [urn(OLD)]})))

    _, _, log = run_pic(capsys, "up", "--log-format", "json")

    lines = map(json.loads, log.splitlines())
    assert [(line["msg"], line["host"]) for line in lines if "host" in line] == [
        ("resource created", HOST),
        ("resource adopted", OLD),
        ("resource deleted", OLD),
    ]


def test_25_a_run_whose_last_pass_cannot_start_reports_what_was_done_before(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FailingEngine(root, None, None, ADOPTED))

    answer = run_pic(capsys, "up", "--report", "report.json")

    done = "Done before the error: 1 adopted, 1 created.\n"
    assert answer == (5, f"{CHANGES}{done}", "pic: the backend is gone\n")
    assert report_of(root) == ({"create": 1, "import": 1}, "the backend is gone", "unreachable")
