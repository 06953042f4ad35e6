"""Lays the manifest files of a branch over what the cluster holds."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pic.core.errors import SettingsError
from pic.core.model import Schema, Snapshot
from pic.settings.kinds import KINDS
from pic.settings.parse import Settings
from pic.snapshot import assemble, manifests, overlay, pangolin
from pic.snapshot.assemble import RawSnapshot


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

    after: RawSnapshot
    before: tuple[RawSnapshot, ...] = ()


def from_files(paths: Sequence[str], schema: Schema) -> RawSnapshot:
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
    schema = pangolin.fixed_schema(settings.resource_schema) or pangolin.SCHEMA_TARGETS
    # Files of other namespaces do not exist for a live run either.
    return assemble.snapshot(overlay.within(from_files(paths, schema), _places(settings)))


def check_stdin(*groups: Sequence[str]) -> None:
    """Refuse to read standard input twice.

    Raises:
        SettingsError: Two of these paths are standard input.
    """
    if [path for group in groups for path in group].count(manifests.STDIN) > 1:
        raise SettingsError(["- is standard input, which can be read only once"])


def proposal(seen: RawSnapshot, branch: Branch, settings: Settings) -> Proposal:
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
    new, old, gone = (overlay.within(from_files(each, seen.schema), places) for each in paths)
    left = overlay.without(overlay.without(seen, old, new), gone, new)
    # Whoever reviews a branch must know that records are not compared: it counts as new.
    known = replace(seen, unanswered=None)
    before = (known, overlay.overlay(known, old)) if branch.base else (known,)
    return Proposal(overlay.overlay(left, new), before)


def _left(branch: Branch) -> Sequence[str]:
    """Return the manifests that are there: beside a base, the branch may have deleted them.

    A mistyped path then shows as everything removed, never as nothing.
    """
    if not branch.base:
        return branch.manifests
    return [path for path in branch.manifests if path == manifests.STDIN or os.path.lexists(path)]


def _places(settings: Settings) -> dict[str, Sequence[str]]:
    """Return where a live run looks, by kind; what is looked for everywhere is left out."""
    places = {kind.name: kind.namespaces(settings) for kind in KINDS}
    return {name: namespaces for name, namespaces in places.items() if any(namespaces)}
