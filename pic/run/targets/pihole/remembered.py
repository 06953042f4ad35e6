"""Compares the records of Pi-hole with the register, for `pic doctor`."""

from collections.abc import Iterable, Mapping

from pic.cluster import listing
from pic.cluster.listing import Timeouts
from pic.core.errors import ClusterError
from pic.core.model import LiveRecord, record_id
from pic.core.register import Register
from pic.settings.kinds import CONFIG_MAP
from pic.settings.parse import Settings
from pic.snapshot import register

# Shorter than for a run: a user waits for the answer.
TIMEOUTS = Timeouts(connect=5.0)


def lost(
    records: Iterable[LiveRecord],
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: Timeouts = TIMEOUTS,
) -> tuple[str, ...]:
    """Return the records that the register of the stack has and Pi-hole does not, sorted.

    A cluster that does not answer shows none: the checks of the cluster report that.

    Args:
        records: All records of the Pi-hole.
        settings: Name the register and the stack.
        environment: Holds KUBECONFIG.
        timeouts: How long to wait for the cluster.
    """
    if not settings.stack_id or not settings.register_namespace:
        return ()
    try:
        transport = listing.connect(settings, environment, timeouts)
        bodies = listing.read_register(transport, settings).get(CONFIG_MAP, ())
    except ClusterError:
        return ()
    live = set(map(record_id, records))
    return tuple(
        sorted(
            name
            for stored in register.read(bodies).values()
            if _is_of(stored, settings.stack_id)
            for name, entry in stored.records.items()
            if not entry.gone and name not in live
        )
    )


def _is_of(stored: Register, stack_id: str) -> bool:
    return any(bucket.stack_id == stack_id for bucket in stored.buckets.values())
