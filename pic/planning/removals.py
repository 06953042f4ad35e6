"""Counts what pic removes over a window of time, in each namespace and in all of them.

Removals that come one by one count like removals that come at once. One namespace cannot use up
what the others may remove: it counts for all at most up to its own limit.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from pic.core.register import GoneBy, HostEntry, RecordEntry, expired
from pic.planning.memory import Memory


@dataclass(frozen=True, slots=True)
class Removal:
    """A host or a record that pic would remove now."""

    name: str
    namespace: str


def beyond_limits(
    removals: Sequence[Removal],
    entries: Collection[HostEntry] | Collection[RecordEntry],
    memory: Memory,
    live: Mapping[str, int],
) -> list[Removal]:
    """Return the removals that no limit lets through.

    Args:
        removals: What pic would remove now.
        entries: What the register remembers of the same kind of things.
        memory: Has the limits and the time.
        live: How many things each namespace has live, which counts before the first register.
    """
    names = {removal.name for removal in removals}
    earlier = Counter(
        entry.namespace for entry in counted(entries, memory) if _name(entry) not in names
    )
    now = Counter(removal.namespace for removal in removals)
    sizes = Counter(entry.namespace for entry in entries if not entry.gone)
    limits = {
        namespace: memory.limits.removals(max(sizes[namespace], live.get(namespace, 0)))
        for namespace in {*now, *earlier}
    }
    over = {name for name in now if now[name] + earlier[name] > limits[name]}
    passing = [removal for removal in removals if removal.namespace not in over]
    total = sum(
        min(earlier[name] + (0 if name in over else now[name]), limits[name]) for name in limits
    )
    if total > memory.limits.removals(max(sizes.total(), sum(live.values()))) and passing:
        return list(removals)
    return [removal for removal in removals if removal.namespace in over]


def counted(
    entries: Iterable[HostEntry] | Iterable[RecordEntry], memory: Memory
) -> list[HostEntry | RecordEntry]:
    """Return the entries whose removal still counts: pic did it within the window."""
    window = memory.limits.settings.removal_window
    return [
        entry
        for entry in entries
        if entry.gone_by is GoneBy.PIC
        and not expired(entry.gone, memory.now, window)
        and not memory.limits.is_ephemeral(entry.namespace)
    ]


def _name(entry: HostEntry | RecordEntry) -> str:
    return entry.host if isinstance(entry, HostEntry) else entry.record
