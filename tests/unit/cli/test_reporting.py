"""`pic diff`, and `pic plan` of a snapshot: a pull request put before its reviewer, exit codes.

The files of the pull request are in data/pull-request: what is live, the target branch and the
branch, and the reports of it.
"""

import io
import json
import os
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from pic.cli import main, reporting
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.pangolin import SCHEMA_TARGETS
from tests.support.api import (
    CLUSTER,
    fill_cluster,
    ingress,
    live_object,
    serving,
)

DATA = Path(__file__).parent.parent / "data" / "pull-request"
BRANCH, MAIN = str(DATA / "branch"), str(DATA / "main")
STRICT = ("--config", "maxRemovals=0", "--config", "maxRemovalRatio=0")
WHOLE = ("--manifests", BRANCH, "--base", MAIN)
DIGEST = "417b591cdea8"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one stack and a snapshot file, and no way to a cluster."""
    monkeypatch.chdir(tmp_path)
    for name in [key for key in os.environ if key.startswith(("PIC_", "PIHOLE_", "LOG_LEVEL"))]:
        monkeypatch.delenv(name)
    monkeypatch.delenv(reporting.SUMMARY, raising=False)
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    StackFile(tmp_path, "prod").merge({"clusterId": "cluster-1"})
    (tmp_path / "prod.json").write_text(snapshot())
    return tmp_path


@cache
def snapshot() -> str:
    documents = yaml.safe_load_all((DATA / "live.yaml").read_text())
    seen = assemble.from_documents(documents, SCHEMA_TARGETS)
    return snapshot_file.render(replace(seen, cluster_id="cluster-1"), Settings())


def diff(*words: str) -> int:
    return main.main(["diff", "--snapshot", "prod.json", *words])


def plan(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = main.main(["plan", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_plan_as_markdown(capsys: Capture) -> None:
    assert plan(capsys, "--snapshot", "prod.json", "--output", "markdown") == (
        0,
        (DATA / "plan.md").read_text(),
        "",
    )


def test_a_plan_is_from_files_or_from_a_snapshot(capsys: Capture) -> None:
    words = ("--offline", "--manifests", BRANCH, "--snapshot", "prod.json")

    assert plan(capsys, *words) == (2, "", "pic: --offline and --snapshot exclude each other\n")


def test_a_plan_reads_standard_input_once(capsys: Capture) -> None:
    assert plan(capsys, "--manifests", "-", "--snapshot", "-") == (
        2,
        "",
        "pic: use - only once: standard input can be read only once\n",
    )


def told(capsys: Capture, *words: str) -> tuple[int, str, str]:
    code = diff(*words)
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("text", "review.txt"),
        ("markdown", "review.md"),
        ("html", "review.html"),
        ("json", "review.json"),
    ],
)
def test_the_whole_report_of_a_pull_request(capsys: Capture, form: str, file: str) -> None:
    assert told(capsys, *WHOLE, "--output", form) == (0, (DATA / file).read_text(), "")


def test_text_is_the_default(capsys: Capture) -> None:
    assert told(capsys, *WHOLE) == (0, (DATA / "review.txt").read_text(), "")


def test_what_is_live_as_planned_is_no_change(capsys: Capture) -> None:
    code, text, _ = told(capsys, "--expect-no-changes")

    assert (code, text.splitlines()[:3]) == (
        0,
        [
            "no changes, 1 warning, 1 remark (5 live, 5 planned)",
            "",
            "No changes.",
        ],
    )


def test_removed_files_are_told_like_a_base(root: Path, capsys: Capture) -> None:
    gone = [
        each
        for each in yaml.safe_load_all((DATA / "main" / "shop.yaml").read_text())
        if each["metadata"]["name"] in ("old", "blog")
    ]
    (root / "removed.yaml").write_text(yaml.safe_dump_all(gone))

    found = told(capsys, "--manifests", BRANCH, "--removed", "removed.yaml", "--output", "markdown")

    assert found == (0, (DATA / "review.md").read_text(), "")


def test_without_a_base_what_the_branch_deletes_is_still_live(capsys: Capture) -> None:
    code, text, _ = told(capsys, "--manifests", BRANCH)

    assert code == 0
    assert "old.example.com" not in text


REASONS = (
    "2 of 5 hosts would be removed or moved to another namespace, but one run may remove at most 0"
    " (pic:maxRemovals 0, pic:maxRemovalRatio 0): old.example.com, blog.example.com. 2 of 5 hosts"
    " would lose protection (login or block), but one run may weaken at most 0 (pic:maxWeakened):"
    " admin.example.com (sso), intern.example.com (blockAccess)."
)


def test_a_refusal_is_exit_code_3_after_the_whole_report(capsys: Capture) -> None:
    other = ("--config", "acknowledge=abcdefabcdef")

    found = told(capsys, *WHOLE, *STRICT, *other, "--output", "markdown", "--expect-no-changes")

    report = (DATA / "refused.md").read_text()
    assert found == (3, report, f"pic: the guard refuses this: {REASONS}\n")


def test_an_acknowledged_refusal_is_none(capsys: Capture) -> None:
    code, text, _ = told(
        capsys, *WHOLE, *STRICT, "--config", f"acknowledge={DIGEST}", "--output", "markdown"
    )

    assert (code, text) == (0, (DATA / "review.md").read_text())


def test_another_cluster_is_refused_and_still_reported(capsys: Capture) -> None:
    code, text, errors = told(capsys, "--config", "clusterId=cluster-2", "--output", "json")

    assert code == 3
    assert json.loads(text)["refusal"]["command"] is None
    assert errors.startswith("pic: the guard refuses this: This is cluster cluster-1, and the")


def test_a_branch_that_deletes_every_file_is_refused(capsys: Capture) -> None:
    code, text, _ = told(capsys, "--manifests", "deploy", "--base", MAIN)

    assert code == 3
    assert text.splitlines()[0] == "5 hosts removed (5 live, 0 planned)"


def test_changes_that_are_not_expected_are_exit_code_7(capsys: Capture) -> None:
    found = told(capsys, *WHOLE, "--expect-no-changes")

    counts = (DATA / "review.txt").read_text().splitlines()[0]
    assert found == (7, (DATA / "review.txt").read_text(), f"pic: there are changes: {counts}\n")


def test_a_report_goes_to_a_file_and_the_summary_of_a_job_gets_the_markdown(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = root / "summary.md"
    summary.write_text("# Earlier step\n")
    monkeypatch.setenv(reporting.SUMMARY, str(summary))

    assert told(capsys, *WHOLE, "--output", "json", "--out", "review.json") == (0, "", "")
    assert (root / "review.json").read_text() == (DATA / "review.json").read_text()
    assert summary.read_text() == "# Earlier step\n" + (DATA / "review.md").read_text()


def test_the_summary_of_a_job_is_written_before_a_refusal_ends_it(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(reporting.SUMMARY, str(root / "summary.md"))

    code, _, _ = told(capsys, *WHOLE, *STRICT, "--config", "acknowledge=abcdefabcdef")

    assert (code, (root / "summary.md").read_text()) == (3, (DATA / "refused.md").read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "no/where"], "no/where cannot be written: No such file or directory"),
        (
            ["--base", MAIN],
            "--base needs --manifests: name the same paths on the branch, even if the branch has"
            " deleted them",
        ),
        (
            ["--manifests", "-", "--removed", "-"],
            "use - only once: standard input can be read only once",
        ),
        (["--manifests", "nowhere"], "nowhere: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_meant_is_exit_code_2(
    capsys: Capture, words: list[str], message: str
) -> None:
    assert diff(*words) == 2
    assert capsys.readouterr().err == f"pic: {message}\n"


def test_a_branch_may_come_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (DATA / "branch" / "shop.yaml").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    found = told(capsys, "--manifests", "-", "--base", MAIN, "--output", "markdown")

    assert found == (0, (DATA / "review.md").read_text(), "")


def test_a_cluster_out_of_reach_is_exit_code_5(capsys: Capture) -> None:
    assert main.main(["diff"]) == 5
    assert capsys.readouterr().out == ""


def test_without_a_snapshot_the_cluster_is_read(
    root: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER})
    with serving() as api:
        fill_cluster(api, [ingress("web", "app.example.com")], live_object("gone.example.com"))
        monkeypatch.setenv("KUBECONFIG", api.kubeconfig(root / "config"))

        code = main.main(["diff"])

    assert code == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "1 host becomes public, 1 host removed, 1 new host (1 live, 1 planned)",
        "",
        "- gone.example.com (prod/pic-gone.example.com) is removed",
        "+ app.example.com (prod/pic-prod-web-7144d925) is created, access: public",
    ]
