"""Loads the settings of one run: the stack file, then the flags. Reports all problems at once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
    """The settings of one run, and which live objects are ours.

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
    """Return the name of the only stack of a project.

    Raises:
        SettingsError: The project has no stack, or more than one.
    """
    names = stacks(root)
    if len(names) == 1:
        return names[0]
    if names:
        raise SettingsError([f"name the stack with --stack: {', '.join(names)}"])
    raise SettingsError(["there is no stack file yet: pic init --stack NAME writes one"])


def unparsed_settings(root: Path, stack: str | None, pairs: Sequence[str]) -> dict[str, object]:
    """Return the settings of a stack file, overridden by `KEY=VALUE` flags, before they are parsed.

    Raises:
        SettingsError: The file or a flag cannot be read.
    """
    settings = StackFile(root, stack).settings() if stack else {}
    return {**settings, **overrides(pairs)}


def overrides(pairs: Sequence[str]) -> dict[str, object]:
    """Parse `KEY=VALUE` flags.

    Raises:
        SettingsError: A flag has another form.
    """
    malformed = [pair for pair in pairs if not pair.partition("=")[1] or pair.startswith("=")]
    if malformed:
        raise SettingsError([f"--config {pair!r} is not KEY=VALUE" for pair in malformed])
    split = (pair.partition("=") for pair in pairs)
    return {key: value for key, _, value in split}


def load(
    root: Path, stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]
) -> StackConfig:
    """Load the settings of a run that only reads.

    Args:
        root: The folder of Pulumi.yaml.
        stack: The name of the stack. None is a run on files only, for which the objects of every
            stack are ours.
        pairs: Settings given as `KEY=VALUE`. They override those of the stack file.
        environment: Supplies settings that the stack file does not have.

    Raises:
        SettingsError: The settings are wrong. The message lists every problem.
    """
    settings, remarks = parse(unparsed_settings(root, stack, pairs), environment)
    label = stack_label(stack or OFFLINE_STACK)
    return StackConfig(settings, label, _ownership(label if stack else "", settings), remarks)


def deployable(
    values: Mapping[str, object],
    stack: str,
    environment: Mapping[str, str],
    find_problems: Callable[[Settings], Sequence[str]] = lambda _: (),
) -> StackConfig:
    """Return the settings of a run that writes.

    Args:
        values: The settings of the stack, without their prefix `pic:`.
        stack: The name of the stack.
        environment: Supplies settings that the stack does not have, and holds credentials.
        find_problems: Returns further problems of the settings.

    Raises:
        SettingsError: The settings are wrong, or are enough for a plan but not for a deployment.
    """
    unbound = [] if values.get("clusterId") else [_unbound(stack)]
    try:
        settings, remarks = parse(values, environment)
    except SettingsError as error:
        raise SettingsError([*error.problems, *unbound]) from error
    if problems := [*unbound, *find_problems(settings), *_target_problems(settings, environment)]:
        raise SettingsError(problems)
    label = stack_label(stack)
    return StackConfig(settings, label, _ownership(label, settings), remarks)


def _ownership(label: str, settings: Settings) -> Ownership:
    earlier = stack_label(settings.adopt_from) if settings.adopt_from else ""
    stack_id = settings.stack_id
    return Ownership(label, adopt=settings.adopt, earlier=earlier, stack_id=stack_id)


def _unbound(stack: str) -> str:
    return (
        "pic:clusterId is not set, so a wrong kubeconfig could take everything down: run"
        f" pic init --stack {stack}"
    )


def _target_problems(settings: Settings, environment: Mapping[str, str]) -> Sequence[str]:
    """Return what the targets lack for a deployment, although a plan works without it."""
    return [
        problem
        for target in targets.active(settings)
        for problem in target.problems(settings, environment)
    ]


def with_remarks(plan: Plan, remarks: Sequence[Notice]) -> Plan:
    """Return a plan whose notices include those about the settings."""
    notices = sorted({*plan.notices, *remarks}, key=lambda notice: notice.order)
    return replace(plan, notices=tuple(notices))
