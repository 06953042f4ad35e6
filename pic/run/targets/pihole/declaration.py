"""Declares planned DNS records as resources of pic's own Pi-hole provider."""

from pic.core import model
from pic.core.model import Plan, Record, Snapshot
from pic.pihole import provider_config
from pic.run.targets.interface import Declaration, Declarations, HookSet, Provider
from pic.settings.parse import Settings

DELETE_TIMEOUT = "5m"
# The provider makes one write of what the engine asks for at the same time, and each write of
# Pi-hole takes longer than a record takes in the engine.
RECORDS_AT_ONCE = 512


def declarations(plan: Plan, snapshot: Snapshot, settings: Settings) -> Declarations:
    """Return the declarations of all records of a plan. The engine imports those that are live."""
    addresses: dict[str, set[str]] = {}
    for live in snapshot.records or ():
        if live.ours:
            addresses.setdefault(model.record_id(live), set()).add(live.ip)
    return Declarations(
        model.RECORD_TYPE,
        "",  # Pulumi.yaml names the plugin, so no version is needed.
        provider(snapshot.cluster_id, settings),
        HookSet.RECORD,
        DELETE_TIMEOUT,
        [_declaration(record, addresses) for record in plan.records],
        RECORDS_AT_ONCE,
    )


def provider(cluster_id: str, settings: Settings) -> Provider:
    """Return the only provider, which is bound to this Pi-hole and this cluster.

    It reads the password from its environment, so no password enters the state.
    """
    return Provider("pihole", "pihole", provider_config.write(settings, cluster_id))


def _declaration(record: Record, addresses: dict[str, set[str]]) -> Declaration:
    name = model.record_id(record)
    # The engine imports a record with another address and then updates it. With several live
    # addresses it could import any of them. So it creates the record, and the provider resolves
    # the conflict.
    is_live = len(addresses.get(name, ())) == 1
    return Declaration(name, {"host": record.host, "ip": record.ip}, name if is_live else "")
