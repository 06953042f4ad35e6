"""Tests preview, drift and destroy: what they print where, and their exit codes."""

import json
from pathlib import Path

import pytest

from pic.cli.deploying import STILL_SERVED
from pic.engine.backend.state import StackState
from pic.engine.outcome import Outcome
from tests.support.api import CLUSTER, Api, fill_cluster, ingress, live_object
from tests.support.deployed import state_resource, urn, wanted
from tests.support.deploying import CREATED, CREATING, OLD, Capture, UseEngine
from tests.support.fakes import HOST, FakeEngine, run_pic

pytestmark = pytest.mark.usefixtures("api")


@pytest.mark.parametrize(
    ("flags", "message"), [([], "pic: the engine agrees: 1 created\n"), (["--quiet"], "")]
)
def test_a_preview_prints_the_report_and_that_the_engine_agrees(
    root: Path, capsys: Capture, engines: UseEngine, flags: list[str], message: str
) -> None:
    engine = FakeEngine(root, {}, None, CREATING)
    engines(engine)

    code, out, err = run_pic(capsys, "preview", *flags)

    assert (code, CREATED in out, err) == (0, True, message)
    assert engine.log == [("preview", {HOST: ""})]


def test_a_preview_warns_of_objects_that_the_engine_would_replace(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [ingress("web", HOST)], live_object(HOST))
    replacing = Outcome({"delete-replaced": [urn(HOST)], "create-replacement": [urn(HOST)]})
    engines(FakeEngine(root, {}, None, replacing))

    code, _, err = run_pic(capsys, "preview")

    assert (code, err) == (
        0,
        f"pic: the engine would replace these, so they are away for a moment: {HOST}\n",
    )


def test_a_preview_without_changes_has_nothing_to_do(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, {}, None, Outcome()))

    code, _, err = run_pic(capsys, "preview")

    assert (code, err) == (0, "pic: the engine agrees: nothing to do\n")


def test_a_preview_of_a_snapshot_file_is_refused(capsys: Capture) -> None:
    assert run_pic(capsys, "preview", "--snapshot", "prod.json") == (
        2,
        "",
        "pic: --snapshot does not work with pic preview, because the engine reads the cluster"
        " itself: use pic diff\n",
    )


def test_drift_is_printed_as_text_and_as_json(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    missing = wanted(HOST)
    engines(FakeEngine(root, {}, StackState({HOST: state_resource(missing)})))

    text = run_pic(capsys, "drift", "--expect-no-changes")
    code, out, _ = run_pic(capsys, "drift", "--output", "json")

    assert text == (
        7,
        f"- {HOST} (prod/pic-app) is missing\n"
        f"? {OLD} (prod/pic-{OLD}) belongs to this stack, but the last deployment did not"
        " declare it\n",
        "",
    )
    assert (code, json.loads(out)) == (
        0,
        {
            "version": 1,
            "drift": [
                {
                    "host": HOST,
                    "namespace": "prod",
                    "name": "pic-app",
                    "kind": "missing",
                    "fields": [],
                },
                {
                    "host": OLD,
                    "namespace": "prod",
                    "name": f"pic-{OLD}",
                    "kind": "untracked",
                    "fields": [],
                },
            ],
        },
    )


def test_without_drift_the_exit_code_is_0(root: Path, capsys: Capture, engines: UseEngine) -> None:
    engines(FakeEngine(root, {}))

    assert run_pic(capsys, "drift", "--expect-no-changes") == (
        0,
        "Nothing differs from the last deployment.\n",
        "",
    )


def test_drift_of_another_cluster_is_refused(
    root: Path, capsys: Capture, engines: UseEngine
) -> None:
    engines(FakeEngine(root, {}))

    code, out, err = run_pic(capsys, "drift", "--config", "clusterId=other")

    assert (code, out, err.partition(" (")[0]) == (
        3,
        "",
        f"pic: This is cluster {CLUSTER}, and the stack belongs to other",
    )


def test_a_destroy_is_refused_first_and_then_prints_what_it_deleted(
    root: Path, capsys: Capture, engines: UseEngine, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    engines(FakeEngine(root, {}, None, Outcome(), Outcome({"delete": [urn(OLD)]})))

    code, out, err = run_pic(capsys, "destroy")
    assert (code, out, err.rpartition(" ")[0]) == (
        3,
        "",
        f"pic: The only live host would be removed: {OLD}.\nNothing was changed. If this is"
        " intended, acknowledge exactly these changes: pic destroy --acknowledge",
    )

    assert run_pic(capsys, "destroy", "--acknowledge", err.split()[-1]) == (
        0,
        f"- {OLD} (prod/pic-{OLD}) is no longer declared\n{STILL_SERVED}\nDone: 1 deleted.\n",
        "",
    )
