"""Where a run's settings and snapshot come from: stack file, flags, cluster, manifest files."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pic import assemble, live, manifests
from pic.assemble import Seen
from pic.config import ResourceSchema, Settings, parse
from pic.errors import SettingsError
from pic.inventory import Ownership
from pic.model import Schema, Snapshot
from pic.names import label_value
from pic.notices import Notice
from pic.stackfile import PROJECT, StackFile, stacks

OFFLINE_STACK = "offline"


@dataclass(frozen=True, slots=True)
class Run:
    """What a verb works with.

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


def offline(stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Prepare a run on files only; without a stack, every stack's objects in them are ours.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stored = StackFile(Path.cwd(), stack).settings() if stack else {}
    settings, remarks = parse({**stored, **given(pairs)}, environment)
    label = stack_label(stack or OFFLINE_STACK)
    return Run(settings, label, Ownership(label if stack else "", adopt=settings.adopt), remarks)


def online(stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Prepare a run on the live cluster of a stack.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stack = stack or only_stack(Path.cwd())
    stored = StackFile(Path.cwd(), stack).settings()
    settings, remarks = parse({**stored, **given(pairs)}, environment)
    label = stack_label(stack)
    return Run(settings, label, Ownership(label, adopt=settings.adopt), remarks)


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


def from_files(paths: Sequence[str], schema: Schema) -> Seen:
    """Read manifest files, and standard input for `-`.

    Raises:
        ManifestError: One of them cannot be read.
    """
    documents = manifests.read(paths, sys.stdin.buffer)
    return assemble.from_documents((each.body for each in documents), schema)


def offline_snapshot(paths: Sequence[str], settings: Settings) -> Snapshot:
    """Return the snapshot that manifest files alone make.

    Raises:
        ManifestError: One of them cannot be read.
    """
    legacy = settings.resource_schema is ResourceSchema.TARGET
    schema = live.SCHEMA_TARGET if legacy else live.SCHEMA_TARGETS
    return assemble.snapshot(from_files(paths, schema))


def live_snapshot(
    settings: Settings, environment: Mapping[str, str], paths: Sequence[str] = ()
) -> Snapshot:
    """Return the snapshot of the cluster, with manifest files laid over it.

    Raises:
        ClusterError: The cluster could not be read whole.
        ManifestError: A file cannot be read.
    """
    # The Kubernetes client takes a fifth of a second to import, which runs on files do without.
    from pic import cluster  # noqa: PLC0415

    seen = cluster.read(cluster.connect(settings, environment), settings)
    if paths:
        seen = assemble.overlay(seen, from_files(paths, seen.schema))
    return assemble.snapshot(seen)


def run_for(options: argparse.Namespace, environment: Mapping[str, str]) -> Run:
    """Prepare the run that common flags ask for.

    Raises:
        SettingsError: The settings cannot be right.
    """
    prepare = offline if getattr(options, "offline", False) else online
    return prepare(options.stack, options.config, environment)
