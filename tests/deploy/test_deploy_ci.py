"""Checks the pipelines in deploy/ci against their public schemas and against our own rules."""

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

# The environment and permissions of each job. Review a new job, or a job with more permissions.
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
    document: dict[str, Any] = yaml.safe_load(path.read_text())
    return document


def jobs() -> dict[str, dict[str, Any]]:
    return {
        f"{name}/{job}": body
        for name, path in WORKFLOWS.items()
        for job, body in load(path)["jobs"].items()
    }


def steps() -> list[Step]:
    return [step for job in jobs().values() for step in job["steps"]]


def gitlab_jobs() -> dict[str, dict[str, Any]]:
    """Return the jobs, merged with the jobs that they extend."""
    pipeline = load(PIPELINE)

    def merged(job: dict[str, Any]) -> dict[str, Any]:
        parent = job.get("extends")
        return {**(merged(pipeline[parent]) if parent else {}), **job}

    return {name: merged(job) for name, job in pipeline.items() if name.startswith("pic-")}


def scripts() -> list[str]:
    github = [step["run"] for step in steps() if "run" in step]
    return github + [line for job in gitlab_jobs().values() for line in job["script"]]


def commands() -> list[list[str]]:
    """Return the arguments of every call of pic."""
    lines = [line for script in scripts() for line in script.replace("\\\n", " ").splitlines()]
    calls = [line.partition("|")[0].partition("-m pic ") for line in lines]
    # A variable of the pipeline, whose value pic checks when it reads the flag.
    return [
        shlex.split(words.replace("$NAMESPACE", "default"))
        for _, separator, words in calls
        if separator
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_is_valid_against_the_public_schema(path: Path) -> None:
    schema = ["--builtin-schema", "vendor.github-workflows"]
    if path == PIPELINE:
        transform = ["--data-transform", "gitlab-ci", "--regex-variant", "nonunicode"]
        schema = ["--builtin-schema", "vendor.gitlab-ci", *transform]

    result = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, str(path)],
        check=False,
        capture_output=True,
        text=True,
    )

    assert (result.returncode, result.stdout) == (0, "ok -- validation done\n"), result.stdout


def test_pic_accepts_every_command_line() -> None:
    parser = main.parser()

    verbs = [parser.parse_args(words).verb for words in commands()]

    assert sorted(verbs) == sorted(
        ["diff", "drift", "preview", "snapshot", "up", "diff", "drift", "snapshot", "up"]
    )
    assert sum(script.count("-m pic") for script in scripts()) == len(verbs)


def test_the_namespace_of_objects_that_name_none_is_given_wherever_files_are_read() -> None:
    readers = [words for words in commands() if "--manifests" in words]

    assert len(readers) == 3
    assert [words for words in readers if "--namespace" not in words] == []


def test_each_job_has_the_least_permissions() -> None:
    assert [name for name, path in WORKFLOWS.items() if load(path)["permissions"] != {}] == []
    assert {
        name: (job.get("environment"), job["permissions"]) for name, job in jobs().items()
    } == JOBS


def strings(value: object, at: tuple[object, ...] = ()) -> Iterator[tuple[tuple[object, ...], str]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from strings(item, (*at, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from strings(item, (*at, number))
    else:
        yield at, str(value)


def test_secrets_are_only_in_the_environment_of_a_step() -> None:
    secret = re.compile(r"\$\{\{[^}]*(secrets|github\.token)")
    places = [
        at for path in WORKFLOWS.values() for at, text in strings(load(path)) if secret.search(text)
    ]

    assert [at for at in places if at[2] != "steps" or at[4] != "env"] == []
    assert len(places) > 0


def test_no_job_without_an_environment_has_a_secret() -> None:
    bare = {name: job for name, job in jobs().items() if "environment" not in job}

    assert set(bare) == {"pic-comment/comment", "pic-preview/diff"}
    assert "secrets." not in json.dumps(bare)
    assert "KUBECONFIG" not in json.dumps(bare)


def test_no_expression_becomes_part_of_a_script() -> None:
    assert [step["run"] for step in steps() if "${{" in step.get("run", "")] == []


SECRET = re.compile(r"KUBECONFIG_DATA|TOKEN|PASSPHRASE|BACKEND_URL|SECRET|PASSWORD")


def test_no_secret_is_on_a_command_line() -> None:
    """The builtin printf of the shell is safe, because it starts no process."""
    lines = [line.strip() for script in scripts() for line in script.splitlines()]

    assert {line for line in lines if SECRET.search(line)} == {
        """printf '%s\\n' "$KUBECONFIG_DATA" > "$RUNNER_TEMP/kubeconfig\""""
    }


def test_only_the_job_can_read_the_kubeconfig_and_the_job_removes_it() -> None:
    for name, job in jobs().items():
        writes = [step["run"] for step in job["steps"] if "KUBECONFIG_DATA" in step.get("env", {})]
        removals = [step for step in job["steps"] if step.get("if") == "${{ always() }}"]
        assert [run.startswith("umask 077\n") for run in writes] == [True] * len(writes), name
        assert [step["run"] for step in removals] == [
            'rm -f "$RUNNER_TEMP/kubeconfig"' for _ in writes
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


def test_a_pull_request_runs_pic_only_from_the_target_branch() -> None:
    for name in ("pic-preview/diff", "pic-preview/preview"):
        running = [step for step in jobs()[name]["steps"] if ".venv/bin" in step.get("run", "")]
        assert [step["working-directory"] for step in running] == ["base", "base"], name


def test_no_run_is_cancelled_and_every_job_has_a_timeout() -> None:
    groups = {name: load(path)["concurrency"] for name, path in WORKFLOWS.items()}

    assert {name: group["cancel-in-progress"] for name, group in groups.items()} == dict.fromkeys(
        WORKFLOWS, False
    )
    assert len({group["group"] for group in groups.values()}) == len(groups)
    assert [name for name, job in jobs().items() if not job["timeout-minutes"] <= 60] == []
    assert [name for name, job in gitlab_jobs().items() if job["interruptible"]] == []
    assert [name for name, job in gitlab_jobs().items() if "timeout" not in job] == []
    assert gitlab_jobs()["pic-up"]["resource_group"] == "pic-up-$STACK"


def test_everything_is_pinned() -> None:
    texts = "\n".join(path.read_text() for path in WORKFLOWS.values())
    actions = re.findall(r"uses: (.*)", texts)
    images = [cast("Any", job["image"]) for job in gitlab_jobs().values()]
    names = {image if isinstance(image, str) else image["name"] for image in images}
    versions = {step["with"]["pulumi-version"] for step in steps() if "pulumi" in str(step)[:20]}

    assert actions
    pinned = re.compile(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert [action for action in actions if not pinned.fullmatch(action)] == []
    assert {job["runs-on"] for job in jobs().values()} == {"ubuntu-24.04"}
    assert versions == {PULUMI}
    assert names == {"python:3.12.12-bookworm", f"pulumi/pulumi-python-3.12:{PULUMI}"}


def test_a_checkout_keeps_no_token() -> None:
    checkouts = [step for step in steps() if step.get("uses", "").startswith("actions/checkout@")]

    assert [step["with"]["persist-credentials"] for step in checkouts] == [False] * len(checkouts)
    assert checkouts


def test_no_file_names_a_package_registry() -> None:
    hosts = re.compile(r"pypi|docker\.io|ghcr\.io|quay\.io|registry\.|https?://|--index-url")
    texts = {path.name: path.read_text() for path in (*FILES, CI / "README.md")}

    assert [name for name, text in texts.items() if hosts.search(text)] == []


def test_merge_requests_have_no_environment_and_no_secret() -> None:
    environments = {
        name: job.get("environment", {}).get("name") for name, job in gitlab_jobs().items()
    }

    assert environments == {
        "pic-snapshot": "pic-read",
        "pic-diff": None,
        "pic-comment": "pic-comment",
        "pic-up": "pic-write",
        "pic-drift": "pic-read",
    }
    conditions = {
        name: [rule["if"] for rule in job["rules"]] for name, job in gitlab_jobs().items()
    }
    on_default = "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"
    trusted = [rule for name in environments if environments[name] for rule in conditions[name]]
    assert [rule for rule in trusted if not rule.endswith(on_default)] == []


def test_a_merge_request_from_a_fork_gets_no_token_of_this_project() -> None:
    merge_request = '$CI_PIPELINE_SOURCE == "merge_request_event"'
    rules = {
        name: [rule["if"] for rule in job["rules"] if "merge_request" in rule["if"]]
        for name, job in gitlab_jobs().items()
    }

    own = "$CI_PROJECT_ID == $CI_MERGE_REQUEST_SOURCE_PROJECT_ID"
    assert {name: found for name, found in rules.items() if found} == {
        "pic-diff": [f"{merge_request} && {own}"]
    }
    assert "TOKEN" not in json.dumps(gitlab_jobs())


def test_no_workflow_gives_the_code_of_a_fork_a_token_that_writes() -> None:
    forks = {
        name: job["permissions"] for name, job in jobs().items() if name.startswith("pic-preview/")
    }

    assert {access for permissions in forks.values() for access in permissions.values()} == {"read"}
    texts = [path.read_text() for path in WORKFLOWS.values()]
    triggers = [line.strip() for text in texts for line in text.splitlines() if "_target" in line]
    assert [line for line in triggers if not line.startswith("#")] == []


def test_no_job_follows_a_link_of_the_branch() -> None:
    copies = [line for script in scripts() for line in script.splitlines() if "cp " in line]

    assert copies == []


# The comment on GitHub: these tests run the script itself, with a fake gh that records its calls.

DOWNLOAD = """test -n "$REPORT" && printf '%s\\n' "$REPORT" > "$RUNNER_TEMP/comment.md\""""
GH = f"""#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$CALLS"
case "$1 $2" in
  "run download") {DOWNLOAD} ;;
  "api --method") [[ "$4" != */pulls ]] || printf '%s' "$PULLS" ;;
  "api --paginate") printf '%s' "$COMMENTS" ;;
esac
"""
MARKER = "<!-- pic:review:pic.prod -->"


def comment(tmp_path: Path, gh: str = GH, **answers: str) -> tuple[int, list[str]]:
    """Run the script and return its exit code and the calls that write."""
    (tmp_path / "gh").write_text(gh)
    (tmp_path / "gh").chmod(0o755)
    calls = tmp_path / "calls"
    calls.write_text("")
    defaults = {"REPORT": f"{MARKER}\ntext", "PULLS": "7\n", "COMMENTS": ""}
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(tmp_path),
        "CALLS": str(calls),
        "STACK": "prod",
        "GH_REPO": "acme/exposure",
        "RUN": "1",
        "HEAD": "fork:main",
        "HEAD_SHA": "abc",
        **defaults,
        **answers,
    }
    script = jobs()["pic-comment/comment"]["steps"][0]["run"]
    result = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        check=False,
        env=environment,
        capture_output=True,
    )
    return result.returncode, [line for line in calls.read_text().splitlines() if "body=" in line]


def test_a_report_is_posted_once_and_then_edited(tmp_path: Path) -> None:
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


def test_a_report_that_is_a_link_is_not_posted(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(f"{MARKER}\na token")
    link = 'ln -sf secret "$RUNNER_TEMP/comment.md"; test -n "$REPORT"'

    assert comment(tmp_path, gh=GH.replace(DOWNLOAD, link)) == (1, [])


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ({"REPORT": ""}, 0),
        ({"PULLS": ""}, 0),
        ({"REPORT": "come and win\n<!-- pic:review:pic.prod -->"}, 1),
        ({"REPORT": "<!-- pic:review:pic.other -->"}, 1),
    ],
)
def test_only_a_report_of_an_open_pull_request_is_posted(
    tmp_path: Path, answers: dict[str, str], code: int
) -> None:
    assert comment(tmp_path, **answers) == (code, [])


def test_a_report_begins_with_the_marker_that_the_pipelines_look_for() -> None:
    report = review.build(StackRef("pic", "prod"), Plan(), Changes("pic.prod", "cluster-1"))

    assert markdown.render_review(report).splitlines()[0] == MARKER
    script = jobs()["pic-comment/comment"]["steps"][0]["run"]
    assert f'MARKER="{MARKER.replace("prod", "$STACK")}"' in script
