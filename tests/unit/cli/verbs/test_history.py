"""Tests `pic history` on a backend of files, with and without a cluster."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from pic.settings.stack_file import StackFile
from tests.support import histories
from tests.support.api import CLUSTER, REMEMBERING, Api, fill_cluster, live_object, serving
from tests.support.deployed import A, B, wanted
from tests.support.fakes import ENVIRONMENT, HOST, run_pic

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def api(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": CLUSTER, **REMEMBERING})
    histories.write(tmp_path, 1, wanted(A), counts={"create": 3})
    histories.write(tmp_path, 2, wanted(A), wanted(B), message="pic\n\nActor: alice")
    with serving() as server:
        fill_cluster(server, [], live_object(HOST))
        server.kubeconfig(tmp_path / ENVIRONMENT["KUBECONFIG"])
        yield server


def history(capsys: Capture, root: Path, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, "history", *words, PULUMI_BACKEND_URL=f"file://{root}")


@pytest.mark.usefixtures("api")
def test_the_history_and_the_register_are_shown_together(tmp_path: Path, capsys: Capture) -> None:
    code, out, err = history(capsys, tmp_path)

    assert (code, err) == (0, "")
    lines = [line.split()[:3] for line in out.splitlines()[1:4]]
    assert lines == [
        ["2026-01-01T00:02:00Z", B, "exposed"],
        ["2026-01-01T00:01:00Z", A, "exposed"],
        ["earlier", HOST, "exposed"],
    ]
    assert out.endswith("what is older is known by the register only.\n")


@pytest.mark.usefixtures("api")
def test_one_host_shows_who_exposed_it(tmp_path: Path, capsys: Capture) -> None:
    _, out, _ = history(capsys, tmp_path, f"{B.upper()}.", "--output", "json")

    (line,) = json.loads(out)["history"]
    assert (line["host"], line["deployment"]["actor"]) == (B, "alice")


def test_a_cluster_that_does_not_answer_is_a_remark(
    api: Api, tmp_path: Path, capsys: Capture
) -> None:
    api.set_answers(f"/api/v1/namespaces/{REMEMBERING['registerNamespace']}/configmaps")

    code, out, _ = history(capsys, tmp_path, "--output", "csv", "--last", "1")

    assert (code, [line.split(",")[1] for line in out.splitlines()]) == (0, ["host", A, B])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.exampel.com"], f"nothing is known about a.exampel.com; the nearest are {A}"),
        (["x\x1b\u202e" + "y" * 1000], "nothing is known about x\\u001b\\u202eyyy"),
        (["--last", "0"], "'0' is not a number from 1 to 1000"),
        (["--last", "many"], "argument --last: invalid"),
    ],
)
@pytest.mark.usefixtures("api")
def test_a_bad_question_is_answered(
    tmp_path: Path, capsys: Capture, words: list[str], message: str
) -> None:
    code, out, err = history(capsys, tmp_path, *words)

    assert (code, out) == (2, "")
    assert message in err
