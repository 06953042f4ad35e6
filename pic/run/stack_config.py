"""Where a run's settings and snapshot come from: stack file, flags, cluster, manifest files."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pic.core.errors import PiholeError, SettingsError
from pic.core.model import (
    Plan,
    Schema,
    Snapshot,
    Unanswered,
)
from pic.core.names import label_value
from pic.core.notices import Notice
from pic.planning import changes, dns_records
from pic.planning.changes import Changes
from pic.planning.ownership import Ownership
from pic.settings.parse import (
    PiholeApi,
    ResourceSchema,
    Settings,
    TargetName,
    parse,
)
from pic.settings.permissions import tunnel_places
from pic.settings.stack_file import PROJECT, StackFile, stacks
from pic.snapshot import assemble, manifests, pangolin
from pic.snapshot.assemble import Seen

if TYPE_CHECKING:
    from pic.cluster.listing import Transport
    from pic.pihole.connect import Pace

OFFLINE_STACK = "offline"
# Where the password of Pi-hole may be; the second is the name that the seed has for it.
PASSWORDS = ("PIHOLE_PASSWORD", "PIHOLE_API_TOKEN")


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

    def changes(self, snapshot: Snapshot, planned: Plan) -> Changes:
        """Return the difference between what is live and ours, and a plan."""
        return changes.between(
            snapshot,
            planned,
            self.label,
            self.ownership,
            owner_references=self.settings.owner_references,
        )


@dataclass(frozen=True, slots=True)
class Branch:
    """Manifest files of a branch, by their paths.

    Attributes:
        manifests: What is laid over the live cluster.
        base: The same files of the target branch: what only they hold is deleted by the branch.
        removed: Files of objects that the branch deletes.
    """

    manifests: Sequence[str] = ()
    base: Sequence[str] = ()
    removed: Sequence[str] = ()

    def __bool__(self) -> bool:
        """There is a branch at all."""
        return bool(self.manifests or self.base or self.removed)


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a branch makes of the cluster.

    Attributes:
        after: What there is with the branch.
        before: What there is without it: live, and as the target branch has it; empty where there
            is no branch.
    """

    after: Seen
    before: tuple[Seen, ...] = ()


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
    return Run(settings, label, _ownership(label if stack else "", settings), remarks)


def online(stack: str | None, pairs: Sequence[str], environment: Mapping[str, str]) -> Run:
    """Prepare a run on the live cluster of a stack.

    Raises:
        SettingsError: The settings cannot be right.
    """
    stack = stack or only_stack(Path.cwd())
    stored = StackFile(Path.cwd(), stack).settings()
    settings, remarks = parse({**stored, **given(pairs)}, environment)
    label = stack_label(stack)
    return Run(settings, label, _ownership(label, settings), remarks)


def deployable(
    raw: Mapping[str, object],
    stack: str,
    environment: Mapping[str, str],
    problems: Callable[[Settings], Sequence[str]] = lambda _: (),
) -> Run:
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
    return Run(settings, label, _ownership(label, settings), remarks)


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
    schema = pangolin.SCHEMA_TARGET if legacy else pangolin.SCHEMA_TARGETS
    return assemble.snapshot(from_files(paths, schema))


def look(settings: Settings, environment: Mapping[str, str], stored: str = "") -> Seen:
    """Return what the cluster and Pi-hole hold, or a snapshot file where one is named.

    Raises:
        ClusterError: The cluster could not be read whole.
        SettingsError: The file cannot be read.
    """
    if stored:
        from pic.snapshot import snapshot_file  # noqa: PLC0415 - only then

        return snapshot_file.read(stored, settings, sys.stdin.buffer)
    # The Kubernetes client takes a fifth of a second to import, which runs on files do without.
    from pic.cluster import listing  # noqa: PLC0415

    return read(listing.connect(settings, environment), settings, environment)


def read(transport: "Transport", settings: Settings, environment: Mapping[str, str]) -> Seen:
    """Return what the cluster holds, and what Pi-hole does where it is a target.

    A Pi-hole that does not answer ends nothing: `unanswered` says why.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    from pic.cluster import listing  # noqa: PLC0415 - see look

    return registered(listing.read(transport, settings), settings, environment)


def registered(
    seen: Seen, settings: Settings, environment: Mapping[str, str], pace: "Pace | None" = None
) -> Seen:
    """Return what the cluster holds with what Pi-hole does, where it is a target.

    A Pi-hole that does not answer ends nothing: `unanswered` says why.

    Args:
        seen: What the cluster holds.
        settings: Say where Pi-hole is.
        environment: Has its password.
        pace: How long to wait for it.
    """
    if TargetName.PIHOLE not in settings.targets or not settings.pihole_url:
        return seen
    # Runs without this target do without its client.
    from pic.pihole import connect  # noqa: PLC0415

    try:
        found = connect.read(settings, seen.cluster_id, environment, _owned(seen, settings), pace)
    except PiholeError as error:
        return replace(seen, unanswered=Unanswered(settings.pihole_url, error))
    return replace(seen, records=found)


def _owned(seen: Seen, settings: Settings) -> frozenset[str]:
    """Return the hosts whose records are ours where they can bear no marker."""
    if settings.pihole_api is PiholeApi.V6:
        return frozenset()
    of_ingresses = {assemble.INGRESS: seen.objects.get(assemble.INGRESS, ())}
    ingresses = assemble.snapshot(Seen(of_ingresses)).ingresses
    found = dns_records.managed_hosts(ingresses)
    if settings.pihole_annotate:
        return found
    # With nothing written back, what is wanted stays declared, and the provider tells whose it is.
    return found | dns_records.asked_for(ingresses, settings)


def check_stdin(*groups: Sequence[str]) -> None:
    """Refuse to read standard input twice.

    Raises:
        SettingsError: Two of these paths are standard input.
    """
    if [path for group in groups for path in group].count(manifests.STDIN) > 1:
        raise SettingsError(["- is standard input, which can be read only once"])


def proposal(seen: Seen, branch: Branch, settings: Settings) -> Proposal:
    """Lay a branch over what was seen, and take out what it deletes.

    Raises:
        SettingsError: There is a base and nothing to compare it with.
        ManifestError: A file cannot be read.
    """
    if branch.base and not branch.manifests:
        raise SettingsError(
            [
                "--base needs --manifests, the same files of the branch, whether or not they are"
                " still there"
            ]
        )
    if not branch:
        return Proposal(seen)
    paths = (_left(branch), branch.base, branch.removed)
    places = _places(settings)
    new, old, gone = (assemble.within(from_files(each, seen.schema), places) for each in paths)
    left = assemble.without(assemble.without(seen, old, new), gone, new)
    # Whoever reviews a branch must know that records are not compared: it counts as new.
    known = replace(seen, unanswered=None)
    before = (known, assemble.overlay(known, old)) if branch.base else (known,)
    return Proposal(assemble.overlay(left, new), before)


def _left(branch: Branch) -> Sequence[str]:
    """Return the manifests that are there: beside a base, the branch may have deleted them.

    A mistyped path then shows as everything removed, never as nothing.
    """
    if not branch.base:
        return branch.manifests
    return [path for path in branch.manifests if path == manifests.STDIN or os.path.lexists(path)]


def _places(settings: Settings) -> dict[str, Sequence[str]]:
    """Return where a live run looks, by kind; what is looked for everywhere is left out."""
    found = {
        assemble.INGRESS: settings.namespaces,
        assemble.SERVICE: settings.namespaces,
        assemble.TUNNEL: tunnel_places(settings),
        assemble.ORGANIZATION: tunnel_places(settings),
    }
    return {kind: places for kind, places in found.items() if any(places)}


def live_snapshot(
    settings: Settings,
    environment: Mapping[str, str],
    paths: Sequence[str] = (),
    stored: str = "",
) -> Snapshot:
    """Return the snapshot of the cluster, with manifest files laid over it.

    Raises:
        ClusterError: The cluster could not be read whole.
        ManifestError: A file cannot be read.
    """
    seen = look(settings, environment, stored)
    return assemble.snapshot(proposal(seen, Branch(paths), settings).after)


def run_for(options: argparse.Namespace, environment: Mapping[str, str]) -> Run:
    """Prepare the run that common flags ask for.

    Raises:
        SettingsError: The settings cannot be right.
    """
    prepare = offline if getattr(options, "offline", False) else online
    return prepare(options.stack, options.config, environment)
