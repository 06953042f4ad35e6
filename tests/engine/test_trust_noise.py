"""Tests that a run reports what every pass did, and that the namespaces share its Events."""

import json

from pic.cluster.events import EVENTS_A_RUN
from pic.planning.annotations import PREFIX
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


def reasons(stage: Stage, namespace: str) -> list[str]:
    """Return the reasons of the Events of pic in a namespace."""
    events = stage.cluster.all("Event", namespace)
    return [event["reason"] for event in events if event["source"].get("component") == "pic"]


def fill(stage: Stage, class_name: str = "pangolin") -> None:
    """Create or replace many Ingresses with a warning."""
    for number in range(EVENTS_A_RUN):
        name = f"h{number}"
        stage.ingress(name, name, annotations={f"{PREFIX}odd": "x"}, class_name=class_name)


def test_21_warnings_and_changes_of_one_namespace_leave_others_their_events(stage: Stage) -> None:
    quiet = stage.add_namespace()
    fill(stage)
    stage.ingress("one", "one", namespace=quiet, annotations={f"{PREFIX}odd": "x"})

    created = stage.pic("up")
    stage.settings(maxRemovals=2 * EVENTS_A_RUN)
    fill(stage, class_name="nginx")
    stage.ingress("one", "two", namespace=quiet)
    changed = stage.pic("up")

    assert [created.out.splitlines()[-1], changed.out.splitlines()[-1]] == [
        f"Done: {EVENTS_A_RUN + 1} created.",
        f"Done: 1 created, {EVENTS_A_RUN + 1} deleted.",
    ]
    assert sorted(reasons(stage, quiet)) == ["Created", "Created", "Deleted", "UnknownAnnotation"]
    # One Event of the hundred is that of the other namespace.
    assert reasons(stage, stage.name) == ["UnknownAnnotation"] * (EVENTS_A_RUN - 1)
