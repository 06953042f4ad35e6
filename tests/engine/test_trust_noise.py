"""Tests that a run reports what every pass of the real engine did."""

import json

from tests.engine.stage import Stage


def lose_everything_but_the_cluster(stage: Stage) -> None:
    """Deploy two hosts and lose the state; then one host is unwanted, and another one is new."""
    stage.ingress("web", "www")
    stage.ingress("old", "old")
    stage.pic("up")
    stage.lose_state()
    stage.ingress("old", "old", class_name="nginx")
    stage.ingress("new", "new")


def test_25_a_run_reports_the_pass_that_adopts_before_the_one_that_deletes(stage: Stage) -> None:
    lose_everything_but_the_cluster(stage)
    report = stage.workspace.path / "report.json"

    run = stage.pic("up", "--report", str(report))

    done = run.out.splitlines()[-1]
    assert (run.code, done) == (0, "Done: 2 adopted, 1 created, 1 deleted, 2 updated.")
    assert json.loads(report.read_text())["changed"] == {
        "create": 1,
        "delete": 1,
        "import": 2,
        "update": 2,
    }
    assert set(stage.identities()) == {stage.host("www"), stage.host("new")}


def test_25_a_destroy_reports_what_it_imported(stage: Stage) -> None:
    lose_everything_but_the_cluster(stage)
    refused = stage.pic("destroy")

    run = stage.pic("destroy", "--acknowledge", refused.err.split()[-1])

    done = run.out.splitlines()[-1]
    assert (refused.code, run.code, done) == (3, 0, "Done: 2 adopted, 2 deleted, 2 updated.")
    assert stage.objects() == []
