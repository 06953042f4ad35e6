"""Holds the changes of DNS records that need an acknowledgement, as `pic.planning.holds` does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pic.core.held import Held, Verdict, digest_of
from pic.core.model import LiveRecord, Owner, Record, record_id
from pic.core.register import RecordEntry
from pic.planning import record_ownership, removals
from pic.planning.removals import Removal
from pic.planning.request import PlanRequest
from pic.planning.trail import Trail


@dataclass(frozen=True, slots=True)
class RecordCandidate:
    """A change of a record that needs an acknowledgement.

    Attributes:
        live: Our live record, which is declared again while the change is held; None without one.
    """

    held: Held
    live: LiveRecord | None


class RecordGuard:
    """Judges the changes of DNS records."""

    def __init__(
        self, request: PlanRequest, planned: Mapping[str, Record], trail: Trail | None = None
    ) -> None:
        self._departures = (trail or Trail()).departures
        self._settings, self._snapshot = request.settings, request.snapshot
        self._memory, self._limits = request.memory, request.memory.limits
        self._planned = planned
        ours = record_ownership.counted(self._snapshot.records or (), planned)
        self._live = {record_id(record): record for record in ours}

    def candidates(self) -> list[RecordCandidate]:
        """Return every change that a limit does not let through."""
        # Without an answer of Pi-hole, nothing there is known, and pic removes nothing.
        if self._snapshot.records is None:
            return []
        moves, retargeted = list(self._moves()), list(self._retargeted())
        return [
            *(moves if len(moves) > self._limits.moves else ()),
            *(retargeted if len(retargeted) > self._limits.retargeted(len(self._live)) else ()),
            *(() if self.nothing_survives else self._removals()),
        ]

    @property
    def nothing_survives(self) -> bool:
        """Whether pic would remove every live record, and no Ingress of theirs keeps one."""
        owners = {(it.namespace, f"Ingress/{it.name}") for it in self._owners()}
        entries = [self._memory.record(name) for name in self._live]
        keeping = any(entry and (entry.namespace, entry.source) in owners for entry in entries)
        return bool(self._live) and not self._live.keys() & self._planned.keys() and not keeping

    def _owners(self) -> Iterator[Owner]:
        for record in self._planned.values():
            yield from record.owners

    def _moves(self) -> Iterator[RecordCandidate]:
        for name, record in self._planned.items():
            entry = self._memory.record(name)
            namespace = record.owners[0].namespace if record.owners else ""
            if entry is None or self._settings.host_policy is not None:
                continue
            if namespace and entry.namespace not in ("", namespace):
                change = (f"{entry.namespace} ({entry.ip})", f"{namespace} ({record.ip})")
                reason = f"Ingress {namespace}/{record.owners[0].name} requests it"
                yield self._candidate(Verdict.MOVED, name, change, reason)

    def _retargeted(self) -> Iterator[RecordCandidate]:
        for name, record in self._planned.items():
            live = self._live.get(name)
            if live and live.ip != record.ip:
                reason = "too many records would change in one run (pic:maxRetargeted)"
                yield self._candidate(Verdict.RETARGETED, name, (live.ip, record.ip), reason)

    def _removals(self) -> Iterator[RecordCandidate]:
        counted = []
        for name in sorted(self._live.keys() - self._planned.keys()):
            entry = self._memory.record(name)
            namespace = entry.namespace if entry else ""
            listed = self._settings.namespaces
            if namespace and listed and namespace not in listed:
                reason = f"pic:namespaces does not list {namespace}"
                yield self._candidate(Verdict.OUTSIDE, name, (self._live[name].ip, ""), reason)
            elif not self._limits.is_ephemeral(namespace):
                counted.append(Removal(name, namespace))
        entries = self._memory.register.records.values()
        # Before the first register, the namespaces are unknown, and all records count together.
        live = {"": len(self._live)}
        for removal in removals.beyond_limits(counted, entries, self._memory, live):
            reason = "pic has removed as many records as it may (pic:maxRemovals)"
            record = self._live[removal.name]
            why, change = self._departures.get(record.key), (record.ip, "")
            reason = f"{why.text}, but {reason}" if why else reason
            yield self._candidate(Verdict.REMOVED, removal.name, change, reason)

    def _candidate(
        self, verdict: Verdict, name: str, change: tuple[str, str], reason: str
    ) -> RecordCandidate:
        entry = self._memory.record(name) or RecordEntry(name, "", "")
        digest = digest_of(
            self._snapshot.cluster_id,
            self._memory.ownership.stack,
            name,
            verdict,
            *change,
            entry.serial,
            entry.since,
        )
        held = Held(name, verdict, entry.namespace, *change, reason, digest)
        return RecordCandidate(held, self._live.get(name))


def apply(planned: Mapping[str, Record], waiting: Sequence[RecordCandidate]) -> dict[str, Record]:
    """Return the planned records by their id, with what waits as it is."""
    records = dict(planned)
    for candidate in waiting:
        name, live = candidate.held.host, candidate.live
        if live:
            owners = planned[name].owners if name in planned else ()
            held_owners = owners if candidate.held.verdict is Verdict.RETARGETED else ()
            records[name] = Record(live.host, live.ip, held_owners, held=True)
        else:
            records.pop(name, None)
    return records
