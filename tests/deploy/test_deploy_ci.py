"""The pipelines in deploy/ci: valid by their public schemas, and by rules of our own."""

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
import yaml

from dev.toolchain.versions import PULUMI
from pic.cli import main
from pic.core.model import Plan
from pic.planning.changes import Changes
from pic.report import markdown, review
from pic.report.review import StackRef

CI = Path(__file__).parents[2] / "deploy" / "ci"
WORKFLOWS = {path.stem: path for path in sorted((CI / "github").glob("*.yml"))}
PIPELINE = CI / "gitlab" / "pic.gitlab-ci.yml"
FILES = [*WORKFLOWS.values(), PIPELINE]
Step = dict[str, Any]

# Who may do what: a job that is new, or may more, is to be thought about.
JOBS = {
    "pic-comment/comment": (None, {"actions": "read", "pull-requests": "write"}),
    "pic-drift/drift": ("pic-read", {"contents": "read"}),
    "pic-preview/diff": (None, {"contents": "read", "actions": "read"}),
    "pic-preview/preview": ("pic-preview", {"contents": "read"}),
    "pic-snapshot/snapshot": ("pic-read", {"contents": "read"}),
    "pic-up/up": ("pic-write", {"contents": "read"}),
}


@cache
def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(path.read_text())
    return found


def jobs() -> dict[str, dict[str, Any]]:
    return {
        f"{name}/{job}": body
        for name, path in WORKFLOWS.items()
        for job, body in load(path)["jobs"].items()
    }


def steps() -> list[Step]:
    return [step for job in jobs().values() for step in job["steps"]]


def gitlab_jobs() -> dict[str, dict[str, Any]]:
    """Return the jobs with what they extend."""
    pipeline = load(PIPELINE)

    def whole(job: dict[str, Any]) -> dict[str, Any]:
        parent = job.get("extends")
        return {**(whole(pipeline[parent]) if parent else {}), **job}

    return {name: whole(job) for name, job in pipeline.items() if name.startswith("pic-")}


def scripts() -> list[str]:
    ours = [step["run"] for step in steps() if "run" in step]
    return ours + [line for job in gitlab_jobs().values() for line in job["script"]]


def commands() -> list[list[str]]:
    """Return the words of every command line of pic."""
    lines = [line for each in scripts() for line in each.replace("\\\n", " ").splitlines()]
    calls = [line.partition("|")[0].partition("-m pic ") for line in lines]
    return [shlex.split(words) for _, found, words in calls if found]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_valid_by_the_public_schema(path: Path) -> None:
    schema = ["--builtin-schema", "vendor.github-workflows"]
    if path == PIPELINE:
        transform = ["--data-transform", "gitlab-ci", "--regex-variant", "nonunicode"]
        schema = ["--builtin-schema", "vendor.gitlab-ci", *transform]

    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, str(path)],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stdout) == (0, "ok -- validation done\n"), done.stdout


def test_every_command_line_of_pic_is_one_that_pic_has() -> None:
    parser = main.parser()

    verbs = [parser.parse_args(words).verb for words in commands()]

    assert sorted(verbs) == sorted(
        ["diff", "drift", "preview", "snapshot", "up", "diff", "drift", "snapshot", "up"]
    )
    assert sum(each.count("-m pic") for each in scripts()) == len(verbs)


def test_each_job_has_the_least_permissions() -> None:
    assert [name for name, path in WORKFLOWS.items() if load(path)["permissions"] != {}] == []
    assert {
        name: (job.get("environment"), job["permissions"]) for name, job in jobs().items()
    } == JOBS


def strings(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], str]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from strings(each, (*at, key))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from strings(each, (*at, number))
    else:
        yield at, str(value)


def test_secrets_come_by_the_environment_of_a_step_only() -> None:
    secret = re.compile(r"\$\{\{[^}]*(secrets|github\.token)")
    found = [
        at for path in WORKFLOWS.values() for at, text in strings(load(path)) if secret.search(text)
    ]

    assert [at for at in found if at[2] != "steps" or at[4] != "env"] == []
    assert len(found) > 0


def test_no_job_without_an_environment_has_a_secret() -> None:
    bare = {name: job for name, job in jobs().items() if "environment" not in job}

    assert set(bare) == {"pic-comment/comment", "pic-preview/diff"}
    assert "secrets." not in json.dumps(bare)
    assert "KUBECONFIG" not in json.dumps(bare)


def test_no_expression_becomes_part_of_a_script() -> None:
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []


SECRET = re.compile(r"KUBECONFIG_DATA|TOKEN|PASSPHRASE|BACKEND_URL|SECRET|PASSWORD")


def test_no_secret_is_on_a_command_line() -> None:
    """The shell's own printf has none: it is no process."""
    lines = [line.strip() for script in scripts() for line in script.splitlines()]

    assert {line for line in lines if SECRET.search(line)} == {
        """printf '%s\\n' "$KUBECONFIG_DATA" > "$RUNNER_TEMP/kubeconfig\""""
    }


def test_a_kubeconfig_on_disk_is_for_nobody_else_and_does_not_stay() -> None:
    for name, job in jobs().items():
        writing = [step["run"] for step in job["steps"] if "KUBECONFIG_DATA" in step.get("env", {})]
        forgetting = [step for step in job["steps"] if step.get("if") == "${{ always() }}"]
        assert [each.startswith("umask 077\n") for each in writing] == [True] * len(writing), name
        assert [each["run"] for each in forgetting] == [
            'rm -f "$RUNNER_TEMP/kubeconfig"' for _ in writing
        ], name


def test_code_of_a_fork_never_runs_with_secrets() -> None:
    # YAML reads the key `on` as true.
    triggers = {name: set(cast("Any", load(path))[True]) for name, path in WORKFLOWS.items()}

    assert triggers == {
        "pic-comment": {"workflow_run"},
        "pic-drift": {"schedule"},
        "pic-preview": {"pull_request"},
        "pic-snapshot": {"schedule"},
        "pic-up": {"schedule", "push", "workflow_dispatch"},
    }
    own = "${{ github.event.pull_request.head.repo.full_name == github.repository }}"
    assert jobs()["pic-preview/preview"]["if"] == own
    assert [step for step in jobs()["pic-comment/comment"]["steps"] if "uses" in step] == []


def test_of_a_pull_request_only_pic_of_the_target_branch_runs() -> None:
    for name in ("pic-preview/diff", "pic-preview/preview"):
        found = jobs()[name]["steps"]
        running = [step for step in found if ".venv/bin" in step.get("run", "")]
        assert [step["working-directory"] for step in running] == ["base", "base"], name


def test_nothing_is_cancelled_midway_and_nothing_runs_for_ever() -> None:
    groups = {name: load(path)["concurrency"] for name, path in WORKFLOWS.items()}

    assert {name: each["cancel-in-progress"] for name, each in groups.items()} == dict.fromkeys(
        WORKFLOWS, False
    )
    assert len({each["group"] for each in groups.values()}) == len(groups)
    assert [name for name, job in jobs().items() if not job["timeout-minutes"] <= 60] == []
    assert [name for name, job in gitlab_jobs().items() if job["interruptible"]] == []
    assert [name for name, job in gitlab_jobs().items() if "timeout" not in job] == []
    assert gitlab_jobs()["pic-up"]["resource_group"] == "pic-up-$STACK"


def test_everything_is_pinned() -> None:
    texts = "\n".join(path.read_text() for path in WORKFLOWS.values())
    used = re.findall(r"uses: (.*)", texts)
    images = [cast("Any", job["image"]) for job in gitlab_jobs().values()]
    named = {image if isinstance(image, str) else image["name"] for image in images}
    versions = {step["with"]["pulumi-version"] for step in steps() if "pulumi" in str(step)[:20]}

    assert used
    pinned = re.compile(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [each for each in used if not pinned.fullmatch(each)] == []
    assert {job["runs-on"] for job in jobs().values()} == {"ubuntu-24.04"}
    assert versions == {PULUMI}
    assert named == {"python:3.12.12-bookworm", f"pulumi/pulumi-python-3.12:{PULUMI}"}


def test_a_checkout_keeps_no_token() -> None:
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]

    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * len(checkouts)
    assert checkouts


def test_no_file_names_a_host_of_packages() -> None:
    hosts = re.compile(r"pypi|docker\.io|ghcr\.io|quay\.io|registry\.|https?://|--index-url")
    texts = {path.name: path.read_text() for path in (*FILES, CI / "README.md")}

    assert [name for name, text in texts.items() if hosts.search(text)] == []


def test_merge_requests_have_no_environment_and_no_secret() -> None:
    found = {name: job.get("environment", {}).get("name") for name, job in gitlab_jobs().items()}

    assert found == {
        "pic-snapshot": "pic-read",
        "pic-diff": None,
        "pic-comment": None,
        "pic-up": "pic-write",
        "pic-drift": "pic-read",
    }
    conditions = {
        name: [rule["if"] for rule in job["rules"]] for name, job in gitlab_jobs().items()
    }
    on_default = "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"
    trusted = [each for name in found if found[name] for each in conditions[name]]
    assert [each for each in trusted if not each.endswith(on_default)] == []


# The comment on GitHub: the script itself, with a gh that writes down what it is asked.

GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case "$1 $2" in
  "run download") test -n "$REPORT" && printf '%s\\n' "$REPORT" > "$RUNNER_TEMP/comment.md" ;;
  "api --method") [[ "$4" != */pulls ]] || printf '%s' "$PULLS" ;;
  "api --paginate") printf '%s' "$COMMENTS" ;;
esac
"""
MARKER = "<!-- pic:review:pic.prod -->"


def comment(tmp_path: Path, **answers: str) -> tuple[int, list[str]]:
    """Run the script and return its exit code and the calls that write."""
    (tmp_path / "gh").write_text(GH)
    (tmp_path / "gh").chmod(0o755)
    calls = tmp_path / "calls"
    calls.write_text("")
    known = {"REPORT": f"{MARKER}\ntext", "PULLS": "7\n", "COMMENTS": ""}
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "CALLS": str(calls),
        "STACK": "prod",
        "GH_REPO": "acme/exposure",
        "RUN": "1",
        "HEAD": "fork:main",
        "HEAD_SHA": "abc",
        **known,
        **answers,
    }
    script = jobs()["pic-comment/comment"]["steps"][0]["run"]
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        check=False,
        env=environment,
        capture_output=True,
    )
    return done.returncode, [line for line in calls.read_text().splitlines() if "body=" in line]


def test_a_report_is_posted_once_and_edited_from_then_on(tmp_path: Path) -> None:
    body = f"-F body=@{tmp_path}/comment.md"

    posted = comment(tmp_path)
    edited = comment(tmp_path, COMMENTS="31\n32\n")

    assert posted == (
        0,
        [f"api --silent --method POST repos/acme/exposure/issues/7/comments {body}"],
    )
    assert edited == (
        0,
        [f"api --silent --method PATCH repos/acme/exposure/issues/comments/31 {body}"],
    )


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"REPORT": ""}, 0),
        ({"PULLS": ""}, 0),
        ({"REPORT": "come and win\n<!-- pic:review:pic.prod -->"}, 1),
        ({"REPORT": "<!-- pic:review:pic.other -->"}, 1),
    ],
)
def test_what_is_no_report_of_an_open_pull_request_is_not_posted(
    tmp_path: Path, answers: dict[str, str], code: int
) -> None:
    assert comment(tmp_path, **answers) == (code, [])


def test_a_report_begins_with_the_mark_that_the_pipelines_look_for() -> None:
    found = review.build(StackRef("pic", "prod"), Plan(), Changes("pic.prod", "cluster-1"))

    assert markdown.review(found).splitlines()[0] == MARKER
    script = jobs()["pic-comment/comment"]["steps"][0]["run"]
    assert f'MARKER="{MARKER.replace("prod", "$STACK")}"' in script
