"""Combines what pic remembers of its hosts: the register, and the engine's state where it was read.

Live objects can be written by the people of their namespaces. So an object is ours only if the
register or the state has it, as soon as there is a register. Before the first register, the labels
of an object decide (docs/promises.md).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pic.core import names
from pic.core.model import LiveResource, Snapshot
from pic.core.register import (
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    expired,
    moment,
    timestamp,
)
from pic.planning.limits import Limits
from pic.planning.ownership import OwnerKind, Ownership
from pic.settings.kinds import register_namespace
from pic.settings.parse import Settings

NO_REGISTER = Register()


@dataclass(frozen=True, slots=True)
class Memory:
    """What pic remembers.

    Attributes:
        register: The register, completed from the state and from the earlier stack.
        stored: The register as it is in the cluster.
        strict: Whether only what is remembered is ours. It is so once a register has begun.
        hosts: The host of each object that pic remembers, by the object's namespace and name.
        earlier_keys: Those of the stack in `pic:adoptFrom`; None if it has no register.
        now: The time of the API server; empty if it is unknown.
    """

    ownership: Ownership
    limits: Limits
    register: Register = NO_REGISTER
    stored: Register = NO_REGISTER
    strict: bool = False
    hosts: Mapping[tuple[str, str], str] = field(default_factory=dict)
    earlier_keys: frozenset[tuple[str, str]] | None = None
    now: str = ""

    @property
    def other_stack_id(self) -> str:
        """The id of another stack that wrote the register; empty if none has."""
        ids = {bucket.stack_id for bucket in self.stored.buckets.values()}
        others = ids - {"", self.ownership.stack_id}
        return next(iter(sorted(others)), "")

    def entry(self, host: str) -> HostEntry | None:
        """Return the entry of a host, unless the host has been gone for long enough."""
        entry = self.register.hosts.get(host)
        if entry is None or expired(entry.gone, self.now, self.limits.move_after):
            return None
        return entry

    def record(self, record: str) -> RecordEntry | None:
        """Return the entry of a DNS record, as `entry` does for a host."""
        entry = self.register.records.get(record)
        if entry is None or expired(entry.gone, self.now, self.limits.move_after):
            return None
        return entry

    def as_made(self, live: LiveResource) -> LiveResource:
        """Return an object with the host that pic gave it.

        The people of its namespace can edit the host of an object of ours. With the edited host it
        would look as if their namespace had the host of another one.
        """
        made_for = self.hosts.get(live.key, live.host)
        return live if made_for == live.host else replace(live, host=made_for)

    def kind_of(self, live: LiveResource) -> OwnerKind:
        """Return who owns a live object."""
        kind = self.ownership.of(live)
        # No tenant writes to Pangolin, so there the marker of the stack is proof enough.
        if live.published:
            return kind
        if kind is OwnerKind.EARLIER and self.earlier_keys is not None:
            return kind if live.key in self.earlier_keys else OwnerKind.STRANGER
        if kind is OwnerKind.STRIPPED:
            # The name of the field manager is the same in every stack, and anyone may use it.
            return kind if live.key in self.hosts else self.ownership.without_manager(live)
        if kind is not OwnerKind.OURS or not self.strict or live.key in self.hosts:
            return kind
        is_new = self.entry(live.host) is None and self.ownership.could_have_made(live)
        return OwnerKind.OURS if is_new else OwnerKind.STRANGER


def recall(snapshot: Snapshot, ownership: Ownership, settings: Settings) -> Memory:
    """Return what pic remembers in this run."""
    registers = snapshot.registers
    register = _register(registers, ownership.stack, settings)
    earlier = (registers or {}).get(ownership.earlier)
    complete = _with_state(register, snapshot)
    strict = register.status is RegisterStatus.READ or _bears_our_id(snapshot.live, ownership)
    return Memory(
        ownership,
        Limits(settings),
        _with_protection(complete, earlier),
        register,
        strict=strict and bool(ownership.stack),
        hosts=dict(_hosts(complete, snapshot)),
        earlier_keys=frozenset(entry.key for entry in earlier.hosts.values()) if earlier else None,
        now=timestamp(moment(snapshot.now)) if snapshot.now else "",
    )


def _register(registers: Mapping[str, Register] | None, stack: str, settings: Settings) -> Register:
    if registers is not None:
        return registers.get(stack, Register(RegisterStatus.ABSENT))
    configured = bool(register_namespace(settings))
    return Register(RegisterStatus.FORBIDDEN if configured else RegisterStatus.UNSET)


def _with_state(register: Register, snapshot: Snapshot) -> Register:
    """Add what only the state knows; where both know a host, the protecting value counts."""
    state = snapshot.state
    if state is None:
        return register
    hosts = dict(register.hosts)
    for entry in state.hosts:
        hosts[entry.host] = _protected(hosts.get(entry.host, entry), entry)
    records = {entry.record: entry for entry in state.records}
    return replace(register, hosts=hosts, records={**records, **register.records})


def _with_protection(register: Register, earlier: Register | None) -> Register:
    """Add the entries of the earlier stack for hosts that this stack does not remember."""
    if earlier is None:
        return register
    return replace(
        register,
        hosts={**earlier.hosts, **register.hosts},
        records={**earlier.records, **register.records},
    )


def _protected(entry: HostEntry, other: HostEntry) -> HostEntry:
    return replace(
        entry,
        sso=entry.sso or other.sso,
        block_access=entry.block_access or other.block_access,
    )


def _hosts(register: Register, snapshot: Snapshot) -> Iterator[tuple[tuple[str, str], str]]:
    yield from ((entry.key, entry.host) for entry in register.hosts.values())
    # Both may name one host differently, for example after a register of an old backup.
    if snapshot.state:
        yield from ((entry.key, entry.host) for entry in snapshot.state.hosts)


def _bears_our_id(live: Iterable[LiveResource], ownership: Ownership) -> bool:
    """Say whether a run with a register has made one of the objects."""
    return bool(ownership.stack_id) and any(
        resource.labels.get(names.STACK_LABEL) == ownership.stack
        and resource.labels.get(names.STACK_ID_LABEL) == ownership.stack_id
        for resource in live
    )
