"""Combines the manifest files of a branch with the objects in the cluster.

The result is the cluster as it would be with the branch: files replace live objects, and objects
that the branch deletes are missing.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO, TextIO

from pic.core.errors import SettingsError
from pic.core.files import FilesRead
from pic.core.model import Snapshot
from pic.core.operator_objects import Schema
from pic.core.outside import OutsideExposure
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings
from pic.snapshot import assemble, manifests, outside, overlay, pangolin
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.manifest_files import STDIN
from pic.snapshot.manifests import FileOptions


@dataclass(frozen=True, slots=True)
class Branch:
    """The manifest files of a branch, as paths of files and folders.

    Attributes:
        manifests: The files of the branch. They replace live objects, or add to them.
        base: The same files on the target branch. The branch deletes an object that is in a base
            file but not in the manifests.
        removed: Files whose objects the branch deletes.
        options: How to read all of them.
    """

    manifests: Sequence[str] = ()
    base: Sequence[str] = ()
    removed: Sequence[str] = ()
    options: FileOptions = field(default_factory=FileOptions)

    def __bool__(self) -> bool:
        """Return whether there are any files."""
        return bool(self.manifests or self.base or self.removed)

    @property
    def deletes(self) -> bool:
        """Whether the branch may delete objects, which pic must not miss."""
        return bool(self.base or self.removed)

    @property
    def careful_options(self) -> FileOptions:
        """The options, without a guess that could hide a deletion."""
        return replace(self.options, guess=not self.deletes)


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
    options: FileOptions,
    stdin: TextIO | BinaryIO | None = None,
) -> RawSnapshot:
    """Read manifest files, and standard input for `-`.

    Args:
        paths: Files, folders, and `-`.
        schema: What PangolinResources can hold.
        options: How to read the files.
        stdin: Read for `-`; None means the standard input of this process.

    Raises:
        ManifestError: A file cannot be read.
    """
    read = manifests.read(paths, sys.stdin.buffer if stdin is None else stdin, options)
    return assemble.from_manifests(read, schema)


def offline_snapshot(
    paths: Sequence[str],
    settings: Settings,
    options: FileOptions | None = None,
    stdin: TextIO | BinaryIO | None = None,
    *,
    complete: bool = False,
) -> Snapshot:
    """Build a snapshot from manifest files alone.

    Args:
        paths: Files, folders, and `-`.
        settings: Limit the namespaces, as in a run on the cluster.
        options: How to read the files; None takes the defaults.
        stdin: Read for `-`; None means the standard input of this process.
        complete: Whether an object of a kind in the files does not exist unless they have it.

    Raises:
        ManifestError: A file cannot be read.
    """
    schema = pangolin.fixed_schema(settings.resource_schema) or pangolin.SCHEMA_TARGETS
    schema = pangolin.SCHEMA_API if settings.publishes else schema
    raw = read_files(paths, schema, options or FileOptions(), stdin)
    files = replace(raw.files or FilesRead(), partial=not complete)
    raw = replace(overlay.restrict(assemble.as_live(raw), _namespaces(settings)), files=files)
    return assemble.snapshot(raw)


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
        SettingsError: The branch has base files but no manifests, or may skip files while it
            deletes objects.
        ManifestError: A file cannot be read.
    """
    if branch.options.skip_broken and branch.deletes:
        raise SettingsError(
            [
                "--skip-broken cannot be used with --base or --removed: an object in a skipped file"
                " would count as deleted, or its deletion would be missed"
            ]
        )
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
        overlay.restrict(read_files(group, raw.schema, branch.careful_options), namespaces)
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
    # Only the files of the branch: a report always says what it could not show of them.
    after = replace(overlay.lay_over(remaining, new), files=new.files)
    return Proposal(after, before, exposures)


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
