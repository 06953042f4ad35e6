"""Planned DNS records as Pulumi resources."""

from collections.abc import Iterable, Sequence

import pulumi

from pic.core import model
from pic.core.model import LiveRecord, Record
from pic.engine.hooks import Bindings
from pic.engine.targets.registration import Batch, Declaration, Kind
from pic.pihole import provider_config
from pic.settings.parse import Settings

TYPE = "pihole:index:DnsRecord"
DELETE_TIMEOUT = "5m"


def provider(cluster_id: str, settings: Settings) -> pulumi.ProviderResource:
    """Declare the one provider, bound to this Pi-hole and this cluster.

    It finds the password in the environment by itself: none enters the state.
    """
    return pulumi.ProviderResource("pihole", "pihole", provider_config.write(settings, cluster_id))


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
            there.setdefault(model.record_id(each), set()).add(each.ip)
    # The project names the plugin, so there is no version to ask for.
    kind = Kind(TYPE, "", pihole, hooks, DELETE_TIMEOUT)
    return Batch(kind, [_declaration(each, there) for each in records])


def _declaration(record: Record, there: dict[str, set[str]]) -> Declaration:
    name = model.record_id(record)
    # What is imported with another address is updated then. Which of several would be imported
    # nobody can say: a creation sorts them out.
    found = len(there.get(name, ())) == 1
    return Declaration(name, {"host": record.host, "ip": record.ip}, name if found else "")
