"""Loads the settings of one run: the stack file, with the flags over it, checked all at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pic.core.errors import SettingsError
from pic.core.model import Plan
from pic.core.names import label_value
from pic.core.notices import Notice
from pic.planning.ownership import Ownership
from pic.run import targets
from pic.settings.parse import Settings, parse
from pic.settings.stack_file import PROJECT, StackFile, stacks

OFFLINE_STACK = "offline"


@dataclass(frozen=True, slots=True)
class StackConfig:
    """The settings of one run, and whose objects it works on.

    Attributes:
        label: The value of the stack label.
        remarks: Notices about the settings themselves.
    """

    settings: Settings
    label: str
    ownership: Ownership
    remarks: tuple[Notice, ...]


def stack_label(stack: str) -> str:
    """Return the value of the stack label of a stack of this project."""
    return label_value(f"{PROJECT}.{stack}")


def only_stack(root: Path) -> str:
    """Return the stack where the project has just one.

    Raises:
        SettingsError: There is no stack, or more than one.
    """
    names = stacks(root)
    if len(names) == 1:
        return names[0]
    if names:
        raise SettingsError([f"name the stack with --stack: {', '.join(names)}"])
    raise SettingsError(["there is no stack file yet: pic init --stack NAME writes one"])


def stored(root: Path, stack: str | None, pairs: Sequence[str]) -> dict[str, object]:
    """Return the settings of a stack file with `KEY=VALUE` flags over them, not yet parsed.

    Raises:
        SettingsError: The file or a flag cannot be read.
    """
    settings = StackFile(root, stack).settings() if stack else {}
    return {**settings, **overrides(pairs)}


def overrides(pairs: Sequence[str]) -> dict[str, object]:
    """Read `KEY=VALUE` flags.

    Raises:
        SettingsError: A flag has another form.
    """
    wrong = [pair for pair in pairs if not pair.partition("=")[1] or pair.startswith("=")]
    if wrong:
        raise SettingsError([f"--config {pair!r} is not KEY=VALUE" for pair in wrong])
    split = (pair.partition("=") for pair in pairs)
    return {key: value for key, _, value in split}


def load(
    root: Path, stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]
) -> StackConfig:
    """Load the settings of a run that reads only.

    Args:
        root: The folder of Pulumi.yaml.
        stack: The stack; None is a run on files alone, which takes the objects of every stack in
            them as ours.
        pairs: Settings given as `KEY=VALUE`, over those of the stack file.
        environment: Fills what the stack leaves open.

    Raises:
        SettingsError: The settings are wrong; every problem is named.
    """
    settings, remarks = parse(stored(root, stack, pairs), environment)
    label = stack_label(stack or OFFLINE_STACK)
    return StackConfig(settings, label, _ownership(label if stack else "", settings), remarks)


def deployable(
    raw: Mapping[str, object],
    stack: str,
    environment: Mapping[str, str],
    problems: Callable[[Settings], Sequence[str]] = lambda _: (),
) -> StackConfig:
    """Return the settings of a run that writes.

    Args:
        raw: The settings of the stack, without their prefix.
        stack: Its name.
        environment: Fills what the stack leaves open, and holds credentials.
        problems: Finds further obstacles.

    Raises:
        SettingsError: The settings are wrong, or suffice for a plan only.
    """
    unbound = [] if raw.get("clusterId") else [_unbound(stack)]
    try:
        settings, remarks = parse(raw, environment)
    except SettingsError as error:
        raise SettingsError([*error.problems, *unbound]) from error
    if obstacles := [*unbound, *problems(settings), *_undeployable(settings, environment)]:
        raise SettingsError(obstacles)
    label = stack_label(stack)
    return StackConfig(settings, label, _ownership(label, settings), remarks)


def _ownership(label: str, settings: Settings) -> Ownership:
    earlier = stack_label(settings.adopt_from) if settings.adopt_from else ""
    return Ownership(label, adopt=settings.adopt, earlier=earlier)


def _unbound(stack: str) -> str:
    return (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
        f" pic init --stack {stack}"
    )


def _undeployable(settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
    """Return what a plan can do without and a deployment cannot."""
    return [
        problem
        for target in targets.active(settings)
        for problem in target.problems(settings, environment)
    ]


def with_remarks(plan: Plan, remarks: Sequence[Notice]) -> Plan:
    """Return a plan whose notices include those about the settings."""
    notices = sorted({*plan.notices, *remarks}, key=lambda notice: notice.order)
    return Plan(plan.resources, plan.records, tuple(notices))
