"""Combines the manifest files of a branch with the objects in the cluster.

The result is the cluster as it would be with the branch: files replace live objects, and objects
that the branch deletes are missing.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, TextIO

from pic.core.errors import SettingsError
from pic.core.model import Schema, Snapshot
from pic.core.outside import OutsideExposure
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings
from pic.snapshot import assemble, manifests, outside, overlay, pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.manifest_files import STDIN


@dataclass(frozen=True, slots=True)
class Branch:
    """The manifest files of a branch, as paths of files and folders.

    Attributes:
        manifests: The files of the branch. They replace live objects, or add to them.
        base: The same files on the target branch. The branch deletes an object that is in a base
            file but not in the manifests.
        removed: Files whose objects the branch deletes.
        namespace: The namespace of objects that name none; empty if the user has not said it.
    """

    manifests: Sequence[str] = ()
    base: Sequence[str] = ()
    removed: Sequence[str] = ()
    namespace: str = ""

    def __bool__(self) -> bool:
        """Return whether there are any files."""
        return bool(self.manifests or self.base or self.removed)

    @property
    def default_namespace(self) -> str | None:
        """The namespace of objects that name none; None if a guess could hide a deletion."""
        if self.namespace or not (self.base or self.removed):
            return self.namespace or manifests.DEFAULT_NAMESPACE
        return None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The cluster with and without a branch.

    Attributes:
        after: The objects with the branch.
        before: The objects without it: as they are live, and as the target branch would make them.
            Empty without a branch.
        outside: The PangolinResources that the branch itself adds, changes or removes.
    """

    after: RawSnapshot
    before: tuple[RawSnapshot, ...] = ()
    outside: tuple[OutsideExposure, ...] = ()


def read_files(
    paths: Sequence[str],
    schema: Schema,
    namespace: str | None = manifests.DEFAULT_NAMESPACE,
    stdin: TextIO | BinaryIO | None = None,
) -> RawSnapshot:
    """Read manifest files, and standard input for `-`.

    Args:
        paths: Files, folders, and `-`.
        schema: What PangolinResources can hold.
        namespace: The namespace of objects that name none; None refuses such objects.
        stdin: Read for `-`; None means the standard input of this process.

    Raises:
        ManifestError: A file cannot be read.
    """
    documents = manifests.read(paths, sys.stdin.buffer if stdin is None else stdin, namespace)
    return assemble.from_documents((document.body for document in documents), schema)


def offline_snapshot(
    paths: Sequence[str],
    settings: Settings,
    namespace: str = "",
    stdin: TextIO | BinaryIO | None = None,
) -> Snapshot:
    """Build a snapshot from manifest files alone.

    Args:
        paths: Files, folders, and `-`.
        settings: Limit the namespaces, as in a run on the cluster.
        namespace: The namespace of objects that name none; empty means `default`.
        stdin: Read for `-`; None means the standard input of this process.

    Raises:
        ManifestError: A file cannot be read.
    """
    schema = pangolin.fixed_schema(settings.resource_schema) or pangolin.SCHEMA_TARGETS
    files = read_files(paths, schema, namespace or manifests.DEFAULT_NAMESPACE, stdin)
    return assemble.snapshot(overlay.restrict(assemble.as_live(files), _namespaces(settings)))


def check_stdin(*groups: Sequence[str]) -> None:
    """Refuse to read standard input twice.

    Args:
        groups: The paths of each option; an empty string is an option that was not given.

    Raises:
        SettingsError: Two of the paths are `-`.
    """
    if [path for paths in groups for path in paths].count(STDIN) > 1:
        raise SettingsError(["use - only once: standard input can be read only once"])


def propose(raw: RawSnapshot, branch: Branch, settings: Settings) -> Proposal:
    """Add the files of a branch to the live objects, and take out what the branch deletes.

    Raises:
        SettingsError: The branch has base files but no manifests.
        ManifestError: A file cannot be read.
    """
    if branch.base and not branch.manifests:
        raise SettingsError(
            [
                "--base needs --manifests: name the same paths on the branch, even if the branch"
                " has deleted them"
            ]
        )
    if not branch:
        return Proposal(raw)
    paths = (_existing_manifests(branch), branch.base, branch.removed)
    namespaces = _namespaces(settings)
    new, old, removed = (
        overlay.restrict(read_files(group, raw.schema, branch.default_namespace), namespaces)
        for group in paths
    )
    # An object that only moves to another file is in `new` as well, so it is not removed.
    remaining = overlay.remove(overlay.remove(raw, old, new), removed, new)
    # The notice that Pi-hole did not answer must count as new, so that the review shows it: its
    # reader has to know that the records were not compared.
    live = replace(raw, unanswered=None)
    # A notice counts as new if it exists neither live nor on the target branch.
    before = (live, overlay.lay_over(live, old)) if branch.base else (live,)
    exposures = outside.exposures(raw, new=new, old=old, removed=removed)
    return Proposal(overlay.lay_over(remaining, new), before, exposures)


def _existing_manifests(branch: Branch) -> Sequence[str]:
    """Return the manifests without paths that the branch has deleted.

    Only a branch with base files can delete a path. A mistyped path then shows up as the removal
    of every object in its base, so it cannot go unnoticed.
    """
    if not branch.base:
        return branch.manifests
    # A broken link exists, so it is an error and not a deletion.
    return [path for path in branch.manifests if path == STDIN or os.path.lexists(path)]


def _namespaces(settings: Settings) -> dict[str, Sequence[str]]:
    """Return the namespaces that a live run reads, by kind, without kinds that it reads in all."""
    namespaces = {kind.name: kind.namespaces(settings) for kind in KINDS}
    return {name: places for name, places in namespaces.items() if any(places)}
