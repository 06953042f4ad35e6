"""Tests `pic diff`, and `pic plan` with a snapshot, on the files of a pull request.

The folder data/pull-request has what is live, the target branch, the branch, and the expected
reports.
"""

import io
import json
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
import yaml

from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from pic.snapshot import assemble, snapshot_file
from pic.snapshot.pangolin import SCHEMA_TARGETS
from tests.support.api import (
    CLUSTER,
    REMEMBERING,
    fill_cluster,
    ingress,
    live_object,
    serving,
)
from tests.support.fakes import ENVIRONMENT, run_pic

DATA = Path(__file__).parent.parent / "data" / "pull-request"
# Reports name the files, so the paths must not depend on where the checkout is.
BRANCH, MAIN = "branch", "main"
WHOLE = ("--manifests", BRANCH, "--base", MAIN)
EMPTY = ("--manifests", "deploy", "--base", MAIN)
SETTINGS = Settings(tunnel_namespace="pangolin")
DIGEST = "e8250a02e53e"
HELD = "46cac5ca9444037e"
OFFLINE_SNAPSHOT = "pic: --offline and --snapshot exclude each other: use one of them\n"

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a checkout with one stack and a snapshot file, but without a kubeconfig."""
    monkeypatch.chdir(tmp_path)
    StackFile(tmp_path, "prod").merge({"clusterId": "cluster-1", "tunnelNamespace": "pangolin"})
    (tmp_path / "prod.json").write_text(snapshot())
    for folder in (BRANCH, MAIN):
        shutil.copytree(DATA / folder, tmp_path / folder)
    return tmp_path


@cache
def snapshot() -> str:
    documents = yaml.safe_load_all((DATA / "live.yaml").read_text())
    raw = assemble.from_documents(documents, SCHEMA_TARGETS)
    return snapshot_file.render(replace(raw, cluster_id="cluster-1"), SETTINGS)


def plan(capsys: Capture, *words: str) -> tuple[int, str, str]:
    return run_pic(capsys, "plan", *words)


def test_a_plan_as_markdown(capsys: Capture) -> None:
    assert plan(capsys, "--snapshot", "prod.json", "--output", "markdown") == (
        0,
        (DATA / "plan.md").read_text(),
        "",
    )


def test_a_plan_is_either_offline_or_from_a_snapshot(capsys: Capture) -> None:
    words = ("--offline", "--manifests", BRANCH, "--snapshot", "prod.json")

    assert plan(capsys, *words) == (2, "", OFFLINE_SNAPSHOT)


def test_a_plan_reads_standard_input_once(capsys: Capture) -> None:
    assert plan(capsys, "--manifests", "-", "--snapshot", "-") == (
        2,
        "",
        "pic: use - only once: standard input can be read only once\n",
    )


def diff(capsys: Capture, *words: str, **variables: str) -> tuple[int, str, str]:
    return run_pic(capsys, "diff", "--snapshot", "prod.json", *words, **variables)


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
    assert diff(capsys, *WHOLE, "--output", form) == (0, (DATA / file).read_text(), "")


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("text", "acknowledged.txt"),
        ("markdown", "acknowledged.md"),
        ("html", "acknowledged.html"),
        ("json", "acknowledged.json"),
    ],
)
def test_acknowledged_changes_are_shown_with_the_others(
    capsys: Capture, form: str, file: str
) -> None:
    words = ("--config", f"acknowledge={HELD}", "--output", form)

    assert diff(capsys, *WHOLE, *words) == (0, (DATA / file).read_text(), "")


def test_the_digest_of_one_change_lets_only_that_one_through(capsys: Capture) -> None:
    held = json.loads((DATA / "review.json").read_text())["held"]
    words = ("--config", f"acknowledge={held[0]['digest']}", "--output", "json")

    code, text, _ = diff(capsys, *WHOLE, *words)

    report = json.loads(text)
    assert (code, report["held"], report["weakened"]) == (
        0,
        held[1:],
        [
            {
                "host": "admin.example.com",
                "loses": ["login"],
                "after": "public",
                "why": "Ingress shop/admin sets sso to false (branch/shop.yaml:29)",
            }
        ],
    )


def test_a_digest_that_fits_nothing_is_reported(capsys: Capture) -> None:
    words = ("--config", "acknowledge=0123456789abcdef", "--expect-no-changes")

    code, text, _ = diff(capsys, *words)

    assert code == 0
    assert (
        "Warning: AcknowledgementUnused: Setting acknowledge: 0123456789abcdef fits nothing that"
        " waits: it was used, or something has changed"
    ) in text.splitlines()


def test_text_is_the_default_format(capsys: Capture) -> None:
    assert diff(capsys, *WHOLE) == (0, (DATA / "review.txt").read_text(), "")


def test_without_changes_the_report_says_so(capsys: Capture) -> None:
    code, text, _ = diff(capsys, "--expect-no-changes")

    assert (code, text.splitlines()[:3]) == (
        0,
        [
            "no changes, 1 warning, 1 remark (5 live, 5 planned)",
            "",
            "No changes.",
        ],
    )


def test_removed_files_give_the_same_report_as_a_base(root: Path, capsys: Capture) -> None:
    removed = [
        document
        for document in yaml.safe_load_all((DATA / "main" / "shop.yaml").read_text())
        if document["metadata"]["name"] in ("old", "blog")
    ]
    (root / "removed.yaml").write_text(yaml.safe_dump_all(removed))

    result = diff(
        capsys, "--manifests", BRANCH, "--removed", "removed.yaml", "--output", "markdown"
    )

    assert result == (0, (DATA / "review.md").read_text(), "")


def test_without_a_base_deleted_files_are_not_in_the_report(capsys: Capture) -> None:
    code, text, _ = diff(capsys, "--manifests", BRANCH)

    assert code == 0
    assert "old.example.com" not in text


REASONS = (
    "All 5 live hosts would be removed: admin.example.com, blog.example.com,"
    " intern.example.com, old.example.com, shop.example.com."
)


def test_a_refusal_is_exit_code_3_after_the_whole_report(capsys: Capture) -> None:
    other = ("--config", "acknowledge=abcdefabcdef")

    result = diff(capsys, *EMPTY, *other, "--output", "markdown", "--expect-no-changes")

    report = (DATA / "refused.md").read_text()
    assert result == (3, report, f"pic: the guard refuses these changes: {REASONS}\n")


def test_an_acknowledged_refusal_is_exit_code_0(capsys: Capture) -> None:
    code, text, _ = diff(capsys, *EMPTY, "--config", f"acknowledge={DIGEST}")

    assert (code, text.splitlines()[0]) == (0, "5 hosts no longer declared (5 live, 0 planned)")


def test_another_cluster_is_refused_and_still_reported(capsys: Capture) -> None:
    code, text, errors = diff(capsys, "--config", "clusterId=cluster-2", "--output", "json")

    assert code == 3
    assert json.loads(text)["refusal"]["command"] is None
    assert errors.startswith(
        "pic: the guard refuses these changes: This is cluster cluster-1, and the"
    )


def test_a_branch_that_deletes_every_file_is_refused(capsys: Capture) -> None:
    """A typo in a path looks like that, and Kubernetes would delete every host at once."""
    code, text, _ = diff(capsys, *EMPTY)

    assert code == 3
    assert text.splitlines()[0] == "5 hosts no longer declared (5 live, 0 planned)"


def test_unexpected_changes_are_exit_code_7(capsys: Capture) -> None:
    result = diff(capsys, *WHOLE, "--expect-no-changes")

    counts = (DATA / "review.txt").read_text().splitlines()[0]
    assert result == (7, (DATA / "review.txt").read_text(), f"pic: there are changes: {counts}\n")


def test_a_report_goes_to_a_file_and_the_summary_of_a_job_gets_the_markdown(
    root: Path, capsys: Capture
) -> None:
    summary = root / "summary.md"
    summary.write_text("# Earlier step\n")
    words = ("--output", "json", "--out", "review.json")

    assert diff(capsys, *WHOLE, *words, GITHUB_STEP_SUMMARY="summary.md") == (0, "", "")
    assert (root / "review.json").read_text() == (DATA / "review.json").read_text()
    assert summary.read_text() == "# Earlier step\n" + (DATA / "review.md").read_text()


def test_the_summary_of_a_job_is_written_although_the_guard_refuses(
    root: Path, capsys: Capture
) -> None:
    words = (*EMPTY, "--config", "acknowledge=abcdefabcdef")

    code, _, _ = diff(capsys, *words, GITHUB_STEP_SUMMARY="summary.md")

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
def test_invalid_flags_and_files_are_exit_code_2(
    capsys: Capture, words: list[str], message: str
) -> None:
    code, _, err = diff(capsys, *words)

    assert (code, err) == (2, f"pic: {message}\n")


def test_a_branch_may_come_from_standard_input(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = (DATA / "branch" / "shop.yaml").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    result = diff(capsys, "--manifests", "-", "--base", MAIN, "--output", "markdown")

    assert result == (0, (DATA / "review.md").read_text(), "")


def test_an_unreachable_cluster_is_exit_code_5(capsys: Capture) -> None:
    assert run_pic(capsys, "diff")[:2] == (5, "")


def test_without_a_snapshot_the_cluster_is_read(root: Path, capsys: Capture) -> None:
    StackFile(root, "prod").merge({"clusterId": CLUSTER, **REMEMBERING})
    with serving() as api:
        fill_cluster(api, [ingress("web", "app.example.com")], live_object("gone.example.com"))
        api.kubeconfig(root / ENVIRONMENT["KUBECONFIG"])

        code, out, _ = run_pic(capsys, "diff")

    assert code == 0
    assert out.splitlines()[:4] == [
        "1 host becomes public, 1 host no longer declared, 1 new host, 2 parts of the register"
        " (1 live, 1 planned)",
        "",
        "- gone.example.com (prod/pic-gone.example.com) is no longer declared: Ingress prod/web has"
        " no rule for it any more",
        "+ app.example.com (prod/pic-prod-web-7144d925) is created, access: public",
    ]
