"""Reads the cluster and Pi-hole, or a snapshot file."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pic.core.errors import PiholeError
from pic.core.model import Snapshot, Unanswered
from pic.planning import dns_records
from pic.settings import kinds
from pic.settings.parse import PiholeApi, Settings, TargetName
from pic.snapshot import assemble
from pic.snapshot.assemble import RawSnapshot
from pic.snapshot.branch import Branch, proposal

if TYPE_CHECKING:
    from pic.cluster.listing import Transport
    from pic.pihole.connect import SessionTimeouts


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

    return registered(listing.read(transport, settings), settings, environment)


def registered(
    seen: RawSnapshot,
    settings: Settings,
    environment: Mapping[str, str],
    pace: "SessionTimeouts | None" = None,
) -> RawSnapshot:
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


def _owned(seen: RawSnapshot, settings: Settings) -> frozenset[str]:
    """Return the hosts whose records are ours where they can bear no marker."""
    if settings.pihole_api is PiholeApi.V6:
        return frozenset()
    of_ingresses = {kinds.INGRESS: seen.objects.get(kinds.INGRESS, ())}
    ingresses = assemble.snapshot(RawSnapshot(of_ingresses)).ingresses
    found = dns_records.managed_hosts(ingresses)
    if settings.pihole_annotate:
        return found
    # With nothing written back, what is wanted stays declared, and the provider tells whose it is.
    return found | dns_records.asked_for(ingresses, settings)


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
