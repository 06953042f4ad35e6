"""Decides what the register is after a run: an entry for each host and record of the plan.

An entry that stays the same keeps its serial, so that a run that changes nothing writes nothing. A
host that is gone keeps its entry for a while: it stays reserved for its namespace, and the guard
counts it (`pic.planning.removals`).
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from pic.core.model import LiveResource, Record, Resource, TunnelRef
from pic.core.register import (
    BUCKETS,
    Bucket,
    GoneBy,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    bucket_of,
    expired,
)
from pic.planning.forms import form
from pic.planning.inventory import Inventory
from pic.planning.memory import Memory
from pic.settings.parse import Settings

Entry = TypeVar("Entry", HostEntry, RecordEntry)
_UNREAD = (RegisterStatus.UNSET, RegisterStatus.FORBIDDEN)


@dataclass(frozen=True, slots=True)
class Registrar:
    """Writes the next register.

    Attributes:
        serials: The serial of each bucket that the last deployment wrote, by its digit.
        waiting: The hosts and records with a change that waits.
        used: Those with a change that this run lets through, since it is acknowledged.
        keeps_hosts: Whether the hosts stay as they are, since Pangolin did not answer.
    """

    memory: Memory
    inventory: Inventory
    settings: Settings
    cluster_id: str
    serials: Mapping[str, int]
    waiting: Collection[str] = ()
    used: Collection[str] = ()
    keeps_hosts: bool = False

    def register(
        self,
        resources: Mapping[str, Resource],
        records: Mapping[str, Record],
        reasons: Mapping[str, GoneBy],
    ) -> Register | None:
        """Return the register after a run; None if this run may not write one.

        Args:
            resources: The planned resources by host.
            records: The planned records by their id.
            reasons: Why hosts and records leave the plan, by host and by id. What is not in the map
                is removed because no Ingress asks for it.
        """
        old = self.memory.register
        if self.memory.stored.status in _UNREAD or not self.memory.ownership.stack:
            return None
        known = {**old.hosts, **dict(self._given_up(resources))}
        hosts = dict(self._after(known, dict(self._hosts(resources)), reasons))
        if self.keeps_hosts:
            hosts = dict(self.memory.stored.hosts)
        entries = dict(self._after(old.records, dict(self._records(records)), reasons))
        return self._with_buckets(hosts, entries)

    def _given_up(self, resources: Mapping[str, Resource]) -> Iterator[tuple[str, HostEntry]]:
        """Yield the hosts that go now while another namespace waits for them.

        The register may not know them, and without it the other namespace would get them next.
        """
        for live in self.inventory.ours:
            old = self._known(self.memory.register.hosts.get(live.host))
            if old is None and live.host in self.waiting and live.host not in resources:
                yield live.host, entry_of_live(live)

    def _hosts(self, resources: Mapping[str, Resource]) -> Iterator[tuple[str, HostEntry]]:
        for host, resource in resources.items():
            lives = self.inventory.ours_for(host) if resource.held else ()
            old = self.memory.register.hosts.get(host) if resource.held else None
            http = [resource.spec.http, *(live.spec.http for live in lives)]
            yield (
                host,
                HostEntry(
                    host,
                    resource.namespace,
                    resource.name,
                    _source(resource),
                    # A held host declares only the fields that pic owns, but keeps its tunnel.
                    old.tunnel if old else tunnel_of(resource),
                    sso=any(it.sso for it in http),
                    block_access=any(it.block_access for it in http),
                    form=form(resource.spec) if self.settings.publishes else "",
                ),
            )

    def _records(self, records: Mapping[str, Record]) -> Iterator[tuple[str, RecordEntry]]:
        for name, record in records.items():
            old = self.memory.register.records.get(name)
            owner = record.owners[0] if record.owners else None
            namespace = owner.namespace if owner else old.namespace if old else ""
            source = f"Ingress/{owner.name}" if owner else old.source if old else ""
            yield name, RecordEntry(name, record.ip, namespace, source)

    def _after(
        self, old: Mapping[str, Entry], new: Mapping[str, Entry], reasons: Mapping[str, GoneBy]
    ) -> Iterator[tuple[str, Entry]]:
        for name, entry in new.items():
            before = self._known(old.get(name))
            if name in self.used:
                yield name, self._next(self._continued(before, entry), before)
            elif name in self.waiting:
                # The digest that this run prints names the serial, so it must stay.
                known = before or entry
                yield name, replace(entry, since=known.since, serial=known.serial)
            else:
                yield name, self._continued(before, entry)
        for name, entry in old.items():
            if name not in new:
                yield name, self._gone(entry, reasons.get(name, GoneBy.PIC))

    def _known(self, entry: Entry | None) -> Entry | None:
        """Return an entry that counts: an expired one counts as absent."""
        is_gone = entry and expired(entry.gone, self.memory.now, self.memory.limits.move_after)
        return None if is_gone else entry

    def _continued(self, old: Entry | None, new: Entry) -> Entry:
        if old is None or old.namespace != new.namespace:
            serial = old.serial + 1 if old else 1
            return replace(new, since=self.memory.now, serial=serial)
        # What only the state knows has no time and no serial yet.
        since, serial = old.since or self.memory.now, old.serial or 1
        same = replace(new, since=since, serial=serial)
        return same if same == replace(old, since=since, serial=serial) else self._next(same, same)

    @staticmethod
    def _next(entry: Entry, before: Entry | None) -> Entry:
        """Return an entry with a serial that no digest has named yet."""
        return replace(entry, serial=max(entry.serial, before.serial + 1 if before else 1))

    def _gone(self, entry: Entry, gone_by: GoneBy) -> Entry:
        if entry.gone:
            return entry
        # The serial stays, or the digest that this run prints would be void at once.
        return replace(entry, gone=self.memory.now, gone_by=gone_by)

    def _with_buckets(
        self, hosts: Mapping[str, HostEntry], records: Mapping[str, RecordEntry]
    ) -> Register:
        """Renew the buckets that change, and drop from them what has expired."""
        stored = self.memory.stored
        old_hosts, old_records = _by_bucket(stored.hosts), _by_bucket(stored.records)
        new_hosts, new_records = _by_bucket(hosts), _by_bucket(records)
        kept_hosts: dict[str, HostEntry] = {}
        kept_records: dict[str, RecordEntry] = {}
        buckets: dict[str, Bucket] = {}
        for digit in BUCKETS:
            bucket = stored.buckets.get(digit)
            in_hosts, in_records = new_hosts.get(digit, {}), new_records.get(digit, {})
            unchanged = (in_hosts, in_records) == (
                old_hosts.get(digit, {}),
                old_records.get(digit, {}),
            )
            if bucket is None or not unchanged or not self._is_current(digit, bucket):
                in_hosts, in_records = self._kept(in_hosts), self._kept(in_records)
                bucket = self._renewed(digit, bucket or Bucket())
            if in_hosts or in_records:
                kept_hosts.update(in_hosts)
                kept_records.update(in_records)
                buckets[digit] = bucket
        return Register(RegisterStatus.READ, kept_hosts, kept_records, buckets)

    def _is_current(self, digit: str, bucket: Bucket) -> bool:
        ids = (self.settings.stack_id or bucket.stack_id, self.cluster_id)
        is_stale = bucket.serial < self.serials.get(digit, 0)
        return (bucket.stack_id, bucket.cluster_id) == ids and not is_stale

    def _renewed(self, digit: str, bucket: Bucket) -> Bucket:
        serial = max(bucket.serial, self.serials.get(digit, 0)) + 1
        return Bucket(self.settings.stack_id or bucket.stack_id, self.cluster_id, serial)

    def _kept(self, entries: Mapping[str, Entry]) -> dict[str, Entry]:
        """Return the entries that still matter to a plan: an expired one counts as absent."""
        limits = self.memory.limits
        age = max(limits.move_after, limits.settings.removal_window)
        now = self.memory.now
        return {name: it for name, it in entries.items() if not expired(it.gone, now, age)}


def _by_bucket(entries: Mapping[str, Entry]) -> dict[str, dict[str, Entry]]:
    buckets: dict[str, dict[str, Entry]] = {}
    for name, entry in entries.items():
        buckets.setdefault(bucket_of(entry.host), {})[name] = entry
    return buckets


def changed_buckets(planned: Register | None, stored: Register) -> tuple[str, ...]:
    """Return the digits of the buckets that a run has to write or delete."""
    if planned is None:
        return ()
    return tuple(
        digit for digit in BUCKETS if planned.buckets.get(digit) != stored.buckets.get(digit)
    )


def entry_of_live(live: LiveResource) -> HostEntry:
    """Return what pic would remember of a live object that no register has."""
    http = live.spec.http
    source = f"Ingress/{live.owners[0].name}" if live.owners else ""
    return HostEntry(
        live.host,
        live.namespace,
        live.name,
        source,
        _tunnel(live.spec.tunnel, live.namespace),
        sso=bool(http.sso),
        block_access=bool(http.block_access),
    )


def tunnel_of(resource: Resource) -> str:
    """Return the namespace and the name of the tunnel of a resource; empty if it has none."""
    return _tunnel(resource.spec.tunnel, resource.namespace)


def _tunnel(tunnel: TunnelRef | None, namespace: str) -> str:
    return f"{tunnel.namespace or namespace}/{tunnel.name}" if tunnel else ""


def _source(resource: Resource) -> str:
    return f"Ingress/{resource.owners[0].name}" if resource.owners else ""
