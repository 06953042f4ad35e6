"""Planned DNS records as Pulumi resources."""

from collections.abc import Iterable, Sequence

import pulumi

from pic import passes
from pic.config import Settings
from pic.hooks import Bindings
from pic.model import LiveRecord, Record
from pic.pihole import configuration
from pic.targets.registration import Batch, Declaration, Kind

TYPE = "pihole:index:DnsRecord"
DELETE_TIMEOUT = "5m"


def provider(cluster_id: str, settings: Settings) -> pulumi.ProviderResource:
    """Declare the one provider, bound to this Pi-hole and this cluster.

    It finds the password in the environment by itself: none enters the state.
    """
    return pulumi.ProviderResource("pihole", "pihole", configuration.write(settings, cluster_id))


def batch(
    records: Sequence[Record],
    live: Iterable[LiveRecord],
    pihole: pulumi.ProviderResource,
    hooks: Bindings,
) -> Batch:
    """Return the records as they are declared: those that are there already are imported."""
    there: dict[str, set[str]] = {}
    for each in live:
        if each.ours:
            there.setdefault(passes.record_id(each), set()).add(each.ip)
    # The project names the plugin, so there is no version to ask for.
    kind = Kind(TYPE, "", pihole, hooks, DELETE_TIMEOUT)
    return Batch(kind, [_declaration(each, there) for each in records])


def _declaration(record: Record, there: dict[str, set[str]]) -> Declaration:
    name = passes.record_id(record)
    # What is imported with another address is updated then. Which of several would be imported
    # nobody can say: a creation sorts them out.
    found = len(there.get(name, ())) == 1
    return Declaration(name, {"host": record.host, "ip": record.ip}, name if found else "")
