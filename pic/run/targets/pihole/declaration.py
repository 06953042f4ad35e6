"""Declares planned DNS records as resources of pic's own Pi-hole provider."""

from pic.core import model
from pic.core.model import Plan, Record, Snapshot
from pic.pihole import provider_config
from pic.run.targets.interface import Declaration, Declarations, HookSet, Provider
from pic.settings.parse import Settings

DELETE_TIMEOUT = "5m"


def declarations(plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
    """Return the records of a plan as they are declared; those that are live are imported."""
    addresses: dict[str, set[str]] = {}
    for live in snapshot.records or ():
        if live.ours:
            addresses.setdefault(model.record_id(live), set()).add(live.ip)
    return Declarations(
        model.RECORD_TYPE,
        "",  # Pulumi.yaml names the plugin, so there is no version to ask for.
        provider(snapshot.cluster_id, settings),
        HookSet.RECORD,
        DELETE_TIMEOUT,
        [_declaration(record, addresses) for record in plan.records],
    )


def provider(cluster_id: str, settings: Settings) -> Provider:
    """Return the one provider, bound to this Pi-hole and this cluster.

    It reads the password from the environment by itself: no password enters the state.
    """
    return Provider("pihole", "pihole", provider_config.write(settings, cluster_id))


def _declaration(record: Record, addresses: dict[str, set[str]]) -> Declaration:
    name = model.record_id(record)
    # A record with another address is imported and then updated. With several live addresses the
    # engine could import any of them, so the record is created: the provider sorts them out.
    is_live = len(addresses.get(name, ())) == 1
    return Declaration(name, {"host": record.host, "ip": record.ip}, name if is_live else "")
