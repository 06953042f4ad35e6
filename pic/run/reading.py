"""Reads the cluster and Pi-hole, or a snapshot file."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pic.core.model import Snapshot
from pic.run import targets
from pic.run.targets.interface import ReadTimeouts
from pic.settings.parse import Settings
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, propose

if TYPE_CHECKING:
    from pic.cluster.listing import Transport


def look(settings: Settings, environment: Mapping[str, str], stored: str = "") -> RawSnapshot:
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


def read(transport: "Transport", settings: Settings, environment: Mapping[str, str]) -> RawSnapshot:
    """Return what the cluster holds, and what Pi-hole does where it is a target.

    A Pi-hole that does not answer ends nothing: `unanswered` says why.

    Raises:
        ClusterError: The cluster could not be read whole.
    """
    from pic.cluster import listing  # noqa: PLC0415 - see look

    return read_targets(listing.read_snapshot(transport, settings), settings, environment)


def read_targets(
    raw: RawSnapshot,
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: ReadTimeouts | None = None,
) -> RawSnapshot:
    """Add what the active targets themselves hold to what the cluster holds.

    A target that does not answer ends nothing: the snapshot says why.

    Args:
        raw: What the cluster holds.
        settings: Name the targets, and where they are.
        environment: Holds their credentials.
        timeouts: How long to wait for a target; None waits as long as a deployment may.
    """
    for target in targets.active(settings):
        raw = target.read(raw, settings, environment, timeouts)
    return raw


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
    return assemble.snapshot(propose(seen, Branch(paths), settings).after)
