"""Tests what the doctor finds in Pulumi.yaml, in the environment, and in the stack file."""

from pathlib import Path

import pytest

from pic.cli.doctor import project
from pic.cli.doctor.project import Stack
from pic.core.findings import Finding, failed, passed
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import FakeCheckout

REFRESH = "name: pic\noptions: {refresh: always}\n"


@pytest.fixture
def checkout(tmp_path: Path) -> FakeCheckout:
    return FakeCheckout(tmp_path)


def findings(checkout: FakeCheckout, **environment: str) -> dict[str, Finding]:
    return {finding.name: finding for finding in project.examine(checkout.context(environment))}


@pytest.mark.parametrize(
    ("text", "environment", "finding"),
    [
        (
            REFRESH,
            {"PULUMI_RUN_PROGRAM": "true"},
            passed(
                "project", "Pulumi.yaml has options.refresh: always, and the program runs first"
            ),
        ),
        (
            REFRESH,
            {},
            passed(
                "project",
                "Pulumi.yaml has options.refresh: always",
                "for a plain pulumi up, set PULUMI_RUN_PROGRAM=true: then the guard runs first",
            ),
        ),
        (
            "name: pic\n",
            {},
            passed(
                "project",
                "Pulumi.yaml does not have options.refresh: always",
                "set it, so that a plain pulumi up repairs objects that were changed by hand",
            ),
        ),
        (
            "name: pac\n",
            {},
            failed("project", "Pulumi.yaml has the project name 'pac'", "set name: pic", 2),
        ),
        (
            None,
            {},
            failed(
                "project",
                "Pulumi.yaml is not in this folder",
                "run pic in the folder of the project",
                2,
            ),
        ),
        (
            "name: pic\nbackend: {url: a: b}\n",
            {},
            failed(
                "project",
                "Pulumi.yaml cannot be read: line 2, column 17: expected ',' or '}', but got ':'",
                "repair it",
                2,
            ),
        ),
        (
            "name: pic\noptions: 1\n",
            {},
            failed("project", "unexpected: MalformedError: options is a number, not a map"),
        ),
    ],
)
def test_pulumi_yaml_is_checked(
    checkout: FakeCheckout, text: str | None, environment: dict[str, str], finding: Finding
) -> None:
    if text:
        checkout.write("Pulumi.yaml", text)

    assert findings(checkout, **environment)["project"] == finding


def test_experiments_of_the_engine_are_a_failure(checkout: FakeCheckout) -> None:
    variable = "PULUMI_EXPERIMENTAL"

    assert findings(checkout)["experiments"] == passed("experiments", f"{variable} is not set")
    assert findings(checkout, **{variable: "TRUE"})["experiments"] == failed(
        "experiments", f"{variable} is set", f"unset {variable}", 2
    )


def test_checkpoints_are_advice_only(checkout: FakeCheckout) -> None:
    variable = "PULUMI_SKIP_CHECKPOINTS"

    assert findings(checkout, **{variable: "1"})["checkpoints"] == passed(
        "checkpoints", f"{variable} is set: the engine writes the state once for each run"
    )
    assert findings(checkout, **{variable: "0"})["checkpoints"] == passed(
        "checkpoints",
        f"{variable} is not set",
        f"for a plain pulumi up, set {variable}=true: it is much faster with many hosts",
    )


def test_the_stack_is_read_with_its_settings(checkout: FakeCheckout) -> None:
    StackFile(checkout.root, "prod").merge({"maxRemovals": 3, "events": False})

    assert project.read_stack(checkout.context(stack=None, pairs=["adopt=true"])) == (
        Stack("prod", Settings(max_removals=3, events=False, adopt=True)),
        [passed("stack", "stacks/Pulumi.prod.yaml has 2 settings")],
    )


def test_remarks_on_the_settings_are_advice(checkout: FakeCheckout) -> None:
    StackFile(checkout.root, "prod").merge({"backendScheme": "http"})

    _, findings = project.read_stack(checkout.context({"PIC_BACKEND_SCHEME": "https"}))

    assert findings == [
        passed(
            "stack",
            "stacks/Pulumi.prod.yaml has 1 setting",
            "PIC_BACKEND_SCHEME is 'https' and pic:backendScheme is 'http': pic uses"
            " pic:backendScheme",
        )
    ]


def test_with_invalid_settings_the_name_of_the_stack_is_still_known(checkout: FakeCheckout) -> None:
    StackFile(checkout.root, "prod").merge({"tunel": 3})

    stack, findings = project.read_stack(checkout.context())

    assert stack == Stack("prod")
    assert [finding.message.partition(";")[0] for finding in findings] == [
        "unknown setting pic:tunel"
    ]
    assert [finding.exit_code for finding in findings] == [2]


def test_without_a_stack_file_the_stack_is_unknown(checkout: FakeCheckout) -> None:
    assert project.read_stack(checkout.context(stack=None)) == (
        Stack(),
        [
            failed(
                "stack",
                "there is no stack file yet: pic init --stack NAME writes one",
                exit_code=2,
            )
        ],
    )
