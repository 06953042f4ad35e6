"""Checks Pulumi.yaml, the environment of a run, and the stack file."""

from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from pic.core.findings import (
    USAGE,
    Finding,
    failed,
    passed,
    run_check,
)
from pic.core.json_values import mapping
from pic.core.notices import Notice
from pic.run import stack_config
from pic.run.doctor_context import DoctorContext
from pic.settings.parse import Settings, parse
from pic.settings.stack_file import PROJECT, StackFile

PROJECT_FILE = "Pulumi.yaml"


@dataclass(frozen=True, slots=True)
class Stack:
    """The stack as far as it is known.

    Attributes:
        name: None where it is not even clear which one is meant.
        settings: None where they cannot be right.
    """

    name: str | None = None
    settings: Settings | None = None


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield what is to be said of the project and its environment."""
    yield from run_check("project", lambda: _project(context))
    yield from run_check("experiments", lambda: _experimental(context))
    yield from run_check("checkpoints", lambda: _checkpoints(context))


def _project(context: DoctorContext) -> Iterator[Finding]:
    name = "project"
    try:
        found = yaml.safe_load((context.root / PROJECT_FILE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        remedy = "run pic in the folder of the project"
        yield failed(name, f"there is no {PROJECT_FILE} here", remedy, USAGE)
        return
    if (called := mapping(found, PROJECT_FILE).get("name")) != PROJECT:
        # The names of settings and of resources begin with it.
        message = f"{PROJECT_FILE} calls the project {called!r}"
        yield failed(name, message, f"name: {PROJECT}", USAGE)
    elif mapping(found.get("options"), "options").get("refresh") != "always":
        message = f"{PROJECT_FILE} has no options.refresh: always"
        yield passed(name, message, "with it a plain pulumi up repairs what was changed by hand")
    elif not context.flag("PULUMI_RUN_PROGRAM"):
        advice = "for a plain pulumi up set PULUMI_RUN_PROGRAM=true: the guard runs before it"
        yield passed(name, f"{PROJECT_FILE} has options.refresh: always", advice)
    else:
        yield passed(name, f"{PROJECT_FILE} has options.refresh: always, after the program")


def _experimental(context: DoctorContext) -> Iterator[Finding]:
    name, variable = "experiments", "PULUMI_EXPERIMENTAL"
    if context.flag(variable):
        yield failed(name, f"{variable} is set", f"unset {variable}", USAGE)
    else:
        yield passed(name, f"{variable} is not set")


def _checkpoints(context: DoctorContext) -> Iterator[Finding]:
    variable = "PULUMI_SKIP_CHECKPOINTS"
    if context.flag(variable):
        yield passed("checkpoints", f"{variable} is set: the state is written once a run")
    else:
        advice = f"for a plain pulumi up set {variable}=true: many hosts are far quicker"
        yield passed("checkpoints", f"{variable} is not set", advice)


def stack(context: DoctorContext) -> tuple[Stack, list[Finding]]:
    """Return the stack as far as it can be read, and what is to be said of it."""
    known = [Stack()]

    def check() -> Iterator[Finding]:
        name = context.stack or stack_config.only_stack(context.root)
        file = StackFile(context.root, name)
        known.append(Stack(name))
        stored = file.settings()
        settings, remarks = parse(
            {**stored, **stack_config.overrides(context.pairs)}, context.environment
        )
        known.append(Stack(name, settings))
        many = "setting" if len(stored) == 1 else "settings"
        yield passed("stack", f"{file.display_path} has {len(stored)} {many}", _advice(remarks))

    found = run_check("stack", check)
    return known[-1], found


def _advice(remarks: tuple[Notice, ...]) -> str:
    return "; ".join(each.message for each in remarks)
