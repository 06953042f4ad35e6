"""Decides which resources get an Event for each change: not if very many change at once.

The namespaces share the Events of a run. If the hosts of a namespace need more than its share, pic
posts none for them: a plan shows many changes better. The other namespaces keep theirs.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter

from pic.cluster.events import EVENTS_A_RUN
from pic.core import shares
from pic.core.model import LiveRecord, Owner, Record, record_id
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges

Owners = Mapping[str, Sequence[Owner]]

# How many namespaces a message names.
NAMED = 5


@dataclass(frozen=True, slots=True)
class EventShares:
    """Which changes of a run become Events.

    Attributes:
        quiet: The namespaces that get no Event for each change.
        silent: The resources whose changes are no Events, by Pulumi name. Each call of a hook costs
            time, so they do not bind the hooks.
        count: How many changes the quiet namespaces have.
    """

    quiet: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    count: int = 0

    @property
    def message(self) -> str:
        """What to log; empty if every change becomes an Event."""
        if not self.quiet:
            return ""
        names = sorted(self.quiet)
        rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return (
            f"{self.count} hosts change at once in {', '.join(names[:NAMED])}{rest}, so pic posts"
            " no Events for them"
        )


def event_shares(changes: Changes, owners: Owners, unrecorded: frozenset[str]) -> EventShares:
    """Share out the Events of a run.

    Args:
        changes: What the run changes.
        owners: The Ingresses of DNS records, by host.
        unrecorded: The planned resources that the state does not have, by Pulumi name.
    """
    expected = [*_of_hosts(changes), *_of_records(changes.records, owners)]
    counts = _by_namespace(expected)
    given = _by_namespace(shares.shared_out(expected, EVENTS_A_RUN, itemgetter(0)))
    quiet = frozenset(name for name, count in counts.items() if given[name] < count)
    silent = {name for namespace, name in expected if namespace in quiet}
    # What is unrecorded and does not change is only imported.
    imported = unrecorded - {name for _, name in expected}
    if len(imported) > EVENTS_A_RUN:
        silent |= imported
    return EventShares(quiet, frozenset(silent), sum(counts[name] for name in quiet))


def _by_namespace(expected: Sequence[tuple[str, str]]) -> Counter[str]:
    return Counter(namespace for namespace, _ in expected)


def _of_hosts(changes: Changes) -> Iterator[tuple[str, str]]:
    """Yield the namespace and the Pulumi name of each Event of a PangolinResource."""
    for resource in changes.created:
        yield resource.namespace, resource.host
    for update in changes.updated:
        yield update.resource.namespace, update.resource.host
    for live in changes.removed:
        yield live.namespace, live.host
    for move in changes.moved:
        yield move.live.namespace, move.live.host
        yield move.resource.namespace, move.resource.host


def _of_records(changes: RecordChanges, owners: Owners) -> Iterator[tuple[str, str]]:
    """Yield the namespace and the Pulumi name of each Event of a DNS record."""
    planned = (*changes.created, *(update.record for update in changes.updated))
    records: list[Record | LiveRecord] = [*planned, *changes.removed]
    for record in records:
        for owner in owners.get(record.host, ()):
            yield owner.namespace, record_id(record)
