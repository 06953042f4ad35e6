"""Where a run's settings and snapshot come from: stack file, flags, cluster, manifest files."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pic.core.errors import SettingsError
from pic.core.model import (
    Plan,
    Snapshot,
)
from pic.core.names import label_value
from pic.core.notices import Notice
from pic.planning import changes
from pic.planning.changes import Changes
from pic.planning.ownership import Ownership
from pic.settings.parse import (
    Settings,
    TargetName,
    parse,
)
from pic.settings.stack_file import PROJECT, StackFile, stacks

OFFLINE_STACK = "offline"
# Where the password of Pi-hole may be; the second is the name that the seed has for it.
PASSWORDS = ("PIHOLE_PASSWORD", "PIHOLE_API_TOKEN")


@dataclass(frozen=True, slots=True)
class StackConfig:
    """What a verb works with.

    Attributes:
        label: The value of the stack label.
        remarks: Notices about the settings themselves.
    """

    settings: Settings
    label: str
    ownership: Ownership
    remarks: tuple[Notice, ...]

    def changes(self, snapshot: Snapshot, planned: Plan) -> Changes:
        """Return the difference between what is live and ours, and a plan."""
        return changes.between(
            snapshot,
            planned,
            self.label,
            self.ownership,
            owner_references=self.settings.owner_references,
        )


def stack_label(stack: str) -> str:
    """Return the value of the stack label of a stack of this project."""
    return label_value(f"{PROJECT}.{stack}")


def only_stack(root: Path) -> str:
    """Return the stack when there is just one.

    Raises:
        SettingsError: There is none, or a choice.
    """
    found = stacks(root)
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingsError([f"name the stack with --stack: {', '.join(found)}"])
    raise SettingsError(["there is no stack file yet: pic init --stack NAME writes one"])


def offline(stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]) -> StackConfig:
    """Prepare a run on files only; without a stack, every stack's objects in them are ours.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stored = StackFile(Path.cwd(), stack).settings() if stack else {}
    settings, remarks = parse({**stored, **given(pairs)}, environment)
    label = stack_label(stack or OFFLINE_STACK)
    return StackConfig(settings, label, _ownership(label if stack else "", settings), remarks)


def online(stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]) -> StackConfig:
    """Prepare a run on the live cluster of a stack.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stack = stack or only_stack(Path.cwd())
    stored = StackFile(Path.cwd(), stack).settings()
    settings, remarks = parse({**stored, **given(pairs)}, environment)
    label = stack_label(stack)
    return StackConfig(settings, label, _ownership(label, settings), remarks)


def deployable(
    raw: Mapping[str, object],
    stack: str,
    environment: Mapping[str, str],
    problems: Callable[[Settings], Sequence[str]] = lambda _: (),
) -> StackConfig:
    """Prepare a run that may write.

    Args:
        raw: The settings of the stack, without their prefix.
        stack: Its name.
        environment: That of this process.
        problems: Further things that stand in the way.

    Raises:
        SettingsError: The settings cannot be right, or can only be planned with.
    """
    unbound = [] if raw.get("clusterId") else [_unbound(stack)]
    try:
        settings, remarks = parse(raw, environment)
    except SettingsError as error:
        raise SettingsError([*error.problems, *unbound]) from error
    if found := [*unbound, *problems(settings), *_undeployable(settings, environment)]:
        raise SettingsError(found)
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
    """Return what can be planned without, and is needed to deploy."""
    if TargetName.PIHOLE not in settings.targets:
        return []
    needed = (
        (settings.pihole_url, "pic:piholeUrl is not set: set it, or PIHOLE_URL"),
        (
            settings.pihole_target_ip,
            "pic:piholeTargetIp is not set: set it, or DEFAULT_TARGET_IP, to the IPv4 address of"
            " records whose Ingress names none",
        ),
        (
            any(environment.get(name) for name in PASSWORDS),
            f"Pi-hole's password is not there: set {' or '.join(PASSWORDS)} in the environment;"
            " an app password needs webserver.api.app_sudo",
        ),
    )
    return [f"pic:targets has pihole, and {problem}" for there, problem in needed if not there]


def given(pairs: Sequence[str]) -> dict[str, object]:
    """Read `KEY=VALUE` flags.

    Raises:
        SettingsError: One of them is something else.
    """
    wrong = [pair for pair in pairs if not pair.partition("=")[1] or pair.startswith("=")]
    if wrong:
        raise SettingsError([f"--config {pair!r} is not KEY=VALUE" for pair in wrong])
    split = (pair.partition("=") for pair in pairs)
    return {key: value for key, _, value in split}


def run_for(options: argparse.Namespace, environment: Mapping[str, str]) -> StackConfig:
    """Prepare the run that common flags ask for.

    Raises:
        SettingsError: The settings cannot be right.
    """
    prepare = offline if getattr(options, "offline", False) else online
    return prepare(options.stack, options.config, environment)
