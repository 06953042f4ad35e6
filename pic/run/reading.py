"""Reads the cluster and Pi-hole, or a snapshot file in their place."""

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
from pic.snapshot.manifests import FileOptions

if TYPE_CHECKING:
    from pic.cluster.listing import Transport


def read_cluster_or_file(
    settings: Settings, environment: Mapping[str, str], snapshot_path: str = ""
) -> RawSnapshot:
    """Read the snapshot file if there is a path, or else the cluster and the targets.

    Args:
        settings: The settings of the run.
        environment: Holds the kubeconfig and credentials.
        snapshot_path: The path of a snapshot file, or `-` for standard input.

    Raises:
        ClusterError: The cluster could not be read completely.
        SettingsError: The file cannot be read.
    """
    if snapshot_path:
        from pic.snapshot import snapshot_file  # noqa: PLC0415 - only runs on such a file need it

        return snapshot_file.read(snapshot_path, settings, sys.stdin.buffer)
    # The Kubernetes client takes a fifth of a second to import. Runs on files do not need it.
    from pic.cluster import listing  # noqa: PLC0415

    return read(listing.connect(settings, environment), settings, environment)


def read(transport: "Transport", settings: Settings, environment: Mapping[str, str]) -> RawSnapshot:
    """Read the cluster, and then the active targets.

    If a target does not answer, the run goes on without its contents: `unanswered` has the reason.

    Raises:
        ClusterError: The cluster could not be read completely.
    """
    from pic.cluster import listing  # noqa: PLC0415 - as in read_cluster_or_file

    return read_targets(listing.read_snapshot(transport, settings), settings, environment)


def read_targets(
    raw: RawSnapshot,
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: ReadTimeouts | None = None,
) -> RawSnapshot:
    """Add the contents of the active targets, such as DNS records, to those of the cluster.

    If a target does not answer, the snapshot has the reason instead.

    Args:
        raw: The contents of the cluster.
        settings: Names the targets, and where to reach them.
        environment: Holds their credentials.
        timeouts: How long to wait for a target. None waits as long as a deployment may.
    """
    for target in targets.active(settings):
        raw = target.read(raw, settings, environment, timeouts)
    return raw


def live_snapshot(
    settings: Settings,
    environment: Mapping[str, str],
    paths: Sequence[str] = (),
    snapshot_path: str = "",
    options: FileOptions | None = None,
) -> Snapshot:
    """Return the snapshot of the cluster, with manifest files laid over it.

    Args:
        settings: The settings of the run.
        environment: Holds the kubeconfig and credentials.
        paths: The manifest files.
        snapshot_path: The path of a snapshot file, or `-` for standard input.
        options: How to read the manifest files; None takes the defaults.

    Raises:
        ClusterError: The cluster could not be read completely.
        ManifestError: A file cannot be read.
    """
    raw = read_cluster_or_file(settings, environment, snapshot_path)
    branch = Branch(paths, options=options or FileOptions())
    return assemble.snapshot(propose(raw, branch, settings).after)
