"""The doctor on Pulumi.yaml, the environment of a run, and the stack file."""

from pathlib import Path

import pytest

from pic.cli.doctor import project
from pic.cli.doctor.project import Stack
from pic.core.findings import Finding, failed, passed
from pic.settings.parse import Settings
from pic.settings.stack_file import StackFile
from tests.support.doctor_contexts import Clinic

REFRESH = "name: pic\noptions: {refresh: always}\n"


@pytest.fixture
def clinic(tmp_path: Path) -> Clinic:
    return Clinic(tmp_path)


def found(clinic: Clinic, **environment: str) -> dict[str, Finding]:
    return {each.name: each for each in project.examine(clinic.context(environment))}


@pytest.mark.parametrize(
    ("text", "environment", "finding"),
    [
        (
            REFRESH,
            {"PULUMI_RUN_PROGRAM": "true"},
            passed("project", "Pulumi.yaml has options.refresh: always, after the program"),
        ),
        (
            REFRESH,
            {},
            passed(
                "project",
                "Pulumi.yaml has options.refresh: always",
                "for a plain pulumi up set PULUMI_RUN_PROGRAM=true: the guard runs before it",
            ),
        ),
        (
            "name: pic\n",
            {},
            passed(
                "project",
                "Pulumi.yaml has no options.refresh: always",
                "with it a plain pulumi up repairs what was changed by hand",
            ),
        ),
        (
            "name: pac\n",
            {},
            failed("project", "Pulumi.yaml calls the project 'pac'", "name: pic", 2),
        ),
        (
            None,
            {},
            failed(
                "project", "there is no Pulumi.yaml here", "run pic in the folder of the project", 2
            ),
        ),
        (
            "name: pic\noptions: 1\n",
            {},
            failed("project", "unexpected: MalformedError: options is a number, not a map"),
        ),
    ],
)
def test_the_project(
    clinic: Clinic, text: str | None, environment: dict[str, str], finding: Finding
) -> None:
    if text:
        clinic.write("Pulumi.yaml", text)

    assert found(clinic, **environment)["project"] == finding


def test_experiments_are_not_for_what_writes(clinic: Clinic) -> None:
    variable = "PULUMI_EXPERIMENTAL"

    assert found(clinic)["experiments"] == passed("experiments", f"{variable} is not set")
    assert found(clinic, **{variable: "TRUE"})["experiments"] == failed(
        "experiments", f"{variable} is set", f"unset {variable}", 2
    )


def test_checkpoints_are_an_advice(clinic: Clinic) -> None:
    variable = "PULUMI_SKIP_CHECKPOINTS"

    assert found(clinic, **{variable: "1"})["checkpoints"] == passed(
        "checkpoints", f"{variable} is set: the state is written once a run"
    )
    assert found(clinic, **{variable: "0"})["checkpoints"] == passed(
        "checkpoints",
        f"{variable} is not set",
        f"for a plain pulumi up set {variable}=true: many hosts are far quicker",
    )


def test_a_stack_with_its_settings(clinic: Clinic) -> None:
    StackFile(clinic.root, "prod").merge({"maxRemovals": 3, "events": False})

    assert project.stack(clinic.context(stack=None, pairs=["adopt=true"])) == (
        Stack("prod", Settings(max_removals=3, events=False, adopt=True)),
        [passed("stack", "stacks/Pulumi.prod.yaml has 2 settings")],
    )


def test_remarks_on_the_settings_are_an_advice(clinic: Clinic) -> None:
    StackFile(clinic.root, "prod").merge({"backendScheme": "http"})

    _, found = project.stack(clinic.context({"PIC_BACKEND_SCHEME": "https"}))

    assert found == [
        passed(
            "stack",
            "stacks/Pulumi.prod.yaml has 1 setting",
            "PIC_BACKEND_SCHEME is 'https' and pic:backendScheme is 'http': pic uses"
            " pic:backendScheme",
        )
    ]


def test_settings_that_cannot_be_right_leave_the_name_of_the_stack(clinic: Clinic) -> None:
    StackFile(clinic.root, "prod").merge({"tunel": 3})

    stack, found = project.stack(clinic.context())

    assert stack == Stack("prod")
    assert [each.message.partition(";")[0] for each in found] == ["unknown setting pic:tunel"]
    assert [each.exit_code for each in found] == [2]


def test_without_a_stack_nothing_is_known(clinic: Clinic) -> None:
    assert project.stack(clinic.context(stack=None)) == (
        Stack(),
        [
            failed(
                "stack",
                "there is no stack file yet: pic init --stack NAME writes one",
                exit_code=2,
            )
        ],
    )
