"""Checks Pulumi.yaml, the environment of a run, and the stack file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pic.core import yaml_text
from pic.core.findings import USAGE, Finding, failed, passed, run_check
from pic.core.json_values import mapping
from pic.core.notices import Notice
from pic.core.yaml_text import YamlError
from pic.run import stack_config
from pic.run.doctor_context import DoctorContext
from pic.settings.parse import Settings, parse
from pic.settings.stack_file import PROJECT, StackFile

PROJECT_FILE = "Pulumi.yaml"


@dataclass(frozen=True, slots=True)
class Stack:
    """The stack, as far as it could be read.

    Attributes:
        name: None if it is not clear which stack the user means.
        settings: None if they are invalid.
    """

    name: str | None = None
    settings: Settings | None = None


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield the findings on the project and its environment."""
    yield from run_check("project", lambda: _project(context))
    yield from run_check("experiments", lambda: _experiments(context))
    yield from run_check("checkpoints", lambda: _checkpoints(context))


def _project(context: DoctorContext) -> Iterator[Finding]:
    name = "project"
    try:
        content = yaml_text.read(context.root / PROJECT_FILE)
    except FileNotFoundError:
        message = f"{PROJECT_FILE} is not in this folder"
        yield failed(name, message, "run pic in the folder of the project", USAGE)
        return
    except YamlError as error:
        yield failed(name, f"{PROJECT_FILE} cannot be read: {error}", "repair it", USAGE)
        return
    project = mapping(content, PROJECT_FILE)
    if (project_name := project.get("name")) != PROJECT:
        # The names of settings and of resources begin with it.
        message = f"{PROJECT_FILE} has the project name {project_name!r}"
        yield failed(name, message, f"set name: {PROJECT}", USAGE)
    elif mapping(project.get("options"), "options").get("refresh") != "always":
        advice = "set it, so that a plain pulumi up repairs objects that were changed by hand"
        yield passed(name, f"{PROJECT_FILE} does not have options.refresh: always", advice)
    elif not context.flag("PULUMI_RUN_PROGRAM"):
        # Without it, the engine refreshes before the program runs, and so before the guard.
        advice = "for a plain pulumi up, set PULUMI_RUN_PROGRAM=true: then the guard runs first"
        yield passed(name, f"{PROJECT_FILE} has options.refresh: always", advice)
    else:
        message = f"{PROJECT_FILE} has options.refresh: always, and the program runs first"
        yield passed(name, message)


def _experiments(context: DoctorContext) -> Iterator[Finding]:
    name, variable = "experiments", "PULUMI_EXPERIMENTAL"
    if context.flag(variable):
        yield failed(name, f"{variable} is set", f"unset {variable}", USAGE)
    else:
        yield passed(name, f"{variable} is not set")


def _checkpoints(context: DoctorContext) -> Iterator[Finding]:
    name, variable = "checkpoints", "PULUMI_SKIP_CHECKPOINTS"
    if context.flag(variable):
        yield passed(name, f"{variable} is set: the engine writes the state once for each run")
    else:
        advice = f"for a plain pulumi up, set {variable}=true: it is much faster with many hosts"
        yield passed(name, f"{variable} is not set", advice)


def read_stack(context: DoctorContext) -> tuple[Stack, list[Finding]]:
    """Return the stack as far as it can be read, and the findings on it."""
    stack = Stack()

    def check() -> Iterator[Finding]:
        # An error in a later step must not lose what the earlier steps found out.
        nonlocal stack
        name = context.stack or stack_config.only_stack(context.root)
        file = StackFile(context.root, name)
        stack = Stack(name)
        stored = file.settings()
        settings, remarks = parse(
            {**stored, **stack_config.overrides(context.pairs)}, context.environment
        )
        stack = Stack(name, settings)
        noun = "setting" if len(stored) == 1 else "settings"
        yield passed("stack", f"{file.display_path} has {len(stored)} {noun}", _advice(remarks))

    findings = run_check("stack", check)
    return stack, findings


def _advice(remarks: Sequence[Notice]) -> str:
    return "; ".join(notice.message for notice in remarks)
