"""The verbs that ask an engine or let it delete: what they print where, and exit codes."""

import json
from pathlib import Path

import pytest

from pic.engine.backend.state import StackState
from pic.engine.outcome import Outcome
from tests.support.api import (
    CLUSTER,
    Api,
    fill_cluster,
    ingress,
    live_object,
)
from tests.support.deployed import remembered, urn, wanted
from tests.support.deploying import (
    CREATED,
    MAKING,
    OLD,
    Capture,
    Use,
)
from tests.support.fakes import HOST, FakeEngine, run_pic

pytestmark = pytest.mark.usefixtures("api")


@pytest.mark.parametrize(
    ("flags", "agreed"), [([], "pic: the engine agrees: 1 created\n"), (["--quiet"], "")]
)
def test_a_preview_reports_and_says_that_the_engine_agrees(
    root: Path, capsys: Capture, engines: Use, flags: list[str], agreed: str
) -> None:
    engine = FakeEngine(root, {}, None, MAKING)
    engines(engine)

    code, out, err = run_pic(capsys, "preview", *flags)

    assert (code, CREATED in out, err) == (0, True, agreed)
    assert engine.log == [("preview", {HOST: ""})]


def test_a_preview_says_what_the_engine_would_do_beyond_it(
    root: Path, capsys: Capture, engines: Use, api: Api
) -> None:
    fill_cluster(api, [ingress("web", HOST)], live_object(HOST))
    replacing = Outcome({"delete-replaced": [urn(HOST)], "create-replacement": [urn(HOST)]})
    engines(FakeEngine(root, {}, None, replacing))

    code, _, err = run_pic(capsys, "preview")

    assert (code, err) == (
        0,
        f"pic: the engine would also take away for a moment: {HOST}\n",
    )


def test_a_preview_in_which_nothing_changes_has_nothing_to_do(
    root: Path, capsys: Capture, engines: Use
) -> None:
    engines(FakeEngine(root, {}, None, Outcome()))

    code, _, err = run_pic(capsys, "preview")

    assert (code, err) == (0, "pic: the engine agrees: nothing to do\n")


def test_a_preview_of_a_snapshot_file_is_left_to_diff(capsys: Capture) -> None:
    assert run_pic(capsys, "preview", "--snapshot", "prod.json") == (
        2,
        "",
        "pic: --snapshot is for pic diff: the engine of a preview reads the cluster itself\n",
    )


def test_drift_is_told_as_text_and_as_json(
    root: Path, capsys: Capture, engines: Use, api: Api
) -> None:
    fill_cluster(api, [], live_object(OLD))
    gone = wanted(HOST)
    engines(FakeEngine(root, {}, StackState({HOST: remembered(gone)})))

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


def test_without_drift_no_changes_are_as_expected(
    root: Path, capsys: Capture, engines: Use
) -> None:
    engines(FakeEngine(root, {}))

    assert run_pic(capsys, "drift", "--expect-no-changes") == (
        0,
        "Nothing differs from the last deployment.\n",
        "",
    )


def test_drift_of_another_cluster_is_refused(root: Path, capsys: Capture, engines: Use) -> None:
    engines(FakeEngine(root, {}))

    code, out, err = run_pic(capsys, "drift", "--config", "clusterId=other")

    assert (code, out, err.partition(" (")[0]) == (
        3,
        "",
        f"pic: This is cluster {CLUSTER}, and the stack belongs to other",
    )


def test_a_destroy_prints_what_went(root: Path, capsys: Capture, engines: Use, api: Api) -> None:
    fill_cluster(api, [], live_object(OLD))
    engines(FakeEngine(root, {}, None, Outcome(), Outcome({"delete": [urn(OLD)]})))

    code, out, err = run_pic(capsys, "destroy")
    assert (code, out, err.rpartition(" ")[0]) == (
        3,
        "",
        f"pic: The plan has no hosts, and 1 of 1 hosts would be removed: {OLD}.\nNothing was"
        " changed. If this is intended, acknowledge exactly these changes: pic destroy --acknowledge",
    )

    assert run_pic(capsys, "destroy", "--acknowledge", err.split()[-1]) == (
        0,
        f"- {OLD} (prod/pic-{OLD}) is removed\nDone: 1 deleted.\n",
        "",
    )
