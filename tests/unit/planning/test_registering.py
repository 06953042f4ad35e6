"""Tests what the register is after a run, and which of its buckets a run writes."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pytest

from pic.core.model import (
    HttpConfig,
    LiveResource,
    Owner,
    Record,
    Resource,
    Snapshot,
    Spec,
    TunnelRef,
)
from pic.core.names import STACK_LABEL
from pic.core.register import (
    Bucket,
    GoneBy,
    HostEntry,
    RecordEntry,
    Register,
    RegisterStatus,
    StateMemory,
    bucket_of,
)
from pic.planning import registering
from pic.planning.inventory import Inventory
from pic.planning.memory import Memory, recall
from pic.planning.ownership import Ownership
from pic.planning.registering import Registrar
from pic.settings.parse import Settings
from tests.support.memories import CLUSTER, NOW, OURS, STACK_ID, entry, register, remembering

A, B = "a.example.com", "b.example.com"
SETTINGS = Settings(stack_id=STACK_ID, register_namespace="pic")
RECENTLY, LONG_AGO = "2026-01-01T12:00:00Z", "2025-12-31T00:00:00Z"


def resource(remembered: HostEntry, *, held: bool = False) -> Resource:
    """Return the resource that becomes an entry."""
    source = remembered.source.removeprefix("Ingress/")
    namespace, _, name = remembered.tunnel.partition("/")
    return Resource(
        remembered.host,
        remembered.namespace,
        remembered.name,
        (Owner(remembered.namespace, source, "uid"),),
        {},
        Spec(
            tunnel=TunnelRef(name, namespace),
            http=HttpConfig(sso=remembered.sso, block_access=remembered.block_access),
        ),
        held=held,
    )


def after(  # noqa: PLR0913 - one argument for each thing that the register depends on
    memory: Memory,
    resources: Iterable[Resource] = (),
    records: Iterable[Record] = (),
    reasons: Mapping[str, GoneBy] = {},
    *,
    settings: Settings = SETTINGS,
    serials: Mapping[str, int] = {},
    live: Iterable[LiveResource] = (),
) -> Register:
    registrar = Registrar(memory, Inventory(live, memory), settings, CLUSTER, serials)
    written = registrar.register(
        {it.host: it for it in resources},
        {f"{it.host}/A": it for it in records},
        reasons,
    )
    assert written is not None
    return written


def begun() -> Memory:
    return recall(Snapshot(CLUSTER, registers={}, now=NOW), OURS, SETTINGS)


def buckets(*hosts: str, serial: int = 1) -> dict[str, Bucket]:
    return {bucket_of(host): Bucket(STACK_ID, CLUSTER, serial) for host in hosts}


@pytest.mark.parametrize(
    ("snapshot", "ownership", "settings"),
    [
        (Snapshot(), OURS, Settings()),
        (Snapshot(), OURS, SETTINGS),
        (Snapshot(registers={}), Ownership(""), SETTINGS),
    ],
)
def test_without_a_namespace_a_reading_or_a_stack_no_register_is_written(
    snapshot: Snapshot, ownership: Ownership, settings: Settings
) -> None:
    memory = recall(snapshot, ownership, settings)
    registrar = Registrar(memory, Inventory((), memory), settings, CLUSTER, {})

    assert registrar.register({A: resource(entry(A))}, {}, {}) is None


def test_the_first_register_has_every_host_and_record_since_now() -> None:
    wanted = entry(A, sso=True, block_access=True)
    record = Record(B, "192.0.2.1", (Owner("lab", "nas", "uid"),))

    assert after(begun(), [resource(wanted)], [record]) == Register(
        RegisterStatus.READ,
        {A: replace(wanted, since=NOW, serial=1)},
        {f"{B}/A": RecordEntry(f"{B}/A", "192.0.2.1", "lab", "Ingress/nas", NOW, 1)},
        buckets(A, B),
    )


def test_a_resource_without_owner_and_tunnel_is_remembered_without_them() -> None:
    bare = replace(resource(entry(A)), owners=(), spec=Spec())

    assert after(begun(), [bare]).hosts == {
        A: HostEntry(A, "prod", entry(A).name, since=NOW, serial=1)
    }


def test_a_run_that_changes_nothing_keeps_every_serial() -> None:
    record = RecordEntry(f"{A}/A", "192.0.2.1", "prod", "Ingress/web", "t", 4)
    stored = register([entry(A, serial=3)], [record])
    wanted = Record(A, "192.0.2.1", (Owner("prod", "web", "uid"),))

    written = after(remembering(stored), [resource(entry(A))], [wanted])

    assert written == stored
    assert registering.changed_buckets(written, stored) == ()


@pytest.mark.parametrize(
    "change",
    [
        {"sso": True},
        {"block_access": True},
        {"tunnel": "net/other"},
        {"source": "Ingress/other"},
        {"name": "by-hand"},
    ],
)
def test_the_serial_of_an_entry_rises_with_each_change_and_its_bucket_with_it(
    change: dict[str, object],
) -> None:
    stored = register([entry(A, serial=3), entry(B)])
    changed = replace(entry(A, serial=3), **change)  # type: ignore[arg-type]

    written = after(remembering(stored), [resource(changed), resource(entry(B))])

    assert written.hosts == {A: replace(changed, serial=4), B: entry(B)}
    assert written.buckets == {**buckets(B), **buckets(A, serial=2)}
    assert registering.changed_buckets(written, stored) == (bucket_of(A),)


def test_a_host_that_moves_begins_anew_with_the_next_serial() -> None:
    written = after(
        remembering(register([entry(A, sso=True, serial=3)])), [resource(entry(A, "team"))]
    )

    assert written.hosts == {A: entry(A, "team", since=NOW, serial=4)}


def test_a_host_that_comes_back_is_not_gone_any_more() -> None:
    gone = entry(A, serial=3, gone=RECENTLY, gone_by=GoneBy.PIC)

    written = after(remembering(register([gone])), [resource(entry(A))])

    assert written.hosts == {A: entry(A, serial=4)}


@pytest.mark.parametrize("reason", list(GoneBy))
def test_a_host_and_a_record_that_go_leave_a_tombstone_with_its_reason(reason: GoneBy) -> None:
    record = RecordEntry(f"{A}/A", "192.0.2.1", "prod")
    stored = register([entry(A, sso=True)], [record])

    written = after(remembering(stored), reasons={A: reason, f"{A}/A": reason})

    assert written.hosts == {A: entry(A, sso=True, gone=NOW, gone_by=reason)}
    assert written.records == {f"{A}/A": replace(record, gone=NOW, gone_by=reason)}
    assert written.buckets == buckets(A, serial=2)


def test_without_a_reason_pic_has_removed_a_host() -> None:
    [tombstone] = after(remembering(register([entry(A)]))).hosts.values()

    assert (tombstone.gone, tombstone.gone_by) == (NOW, GoneBy.PIC)


def test_a_tombstone_stays_as_it_is() -> None:
    stored = register([entry(A, gone=RECENTLY, gone_by=GoneBy.OWNER)])

    assert after(remembering(stored), reasons={A: GoneBy.PIC}) == stored


def same_bucket(host: str) -> str:
    """Return another host of the same bucket."""
    return next(
        other
        for other in (f"h{at}.example.com" for at in range(1000))
        if bucket_of(other) == bucket_of(host)
    )


def test_an_expired_tombstone_is_pruned_only_with_the_next_write_of_its_bucket() -> None:
    expired = entry(A, gone=LONG_AGO, gone_by=GoneBy.PIC)
    stored, neighbour = register([expired]), same_bucket(A)

    assert after(remembering(stored)) == stored
    assert after(remembering(stored), [resource(entry(B))]).hosts.keys() == {A, B}
    assert after(remembering(stored), [resource(entry(neighbour))]).hosts.keys() == {neighbour}


def test_a_tombstone_is_kept_as_long_as_the_window_or_the_reservation_lasts() -> None:
    neighbour = same_bucket(A)
    stored = register([entry(A, gone=RECENTLY, gone_by=GoneBy.PIC)])
    later = remembering(stored, now="2026-01-02T12:00:00Z")

    assert after(remembering(stored), [resource(entry(neighbour))]).hosts.keys() == {A, neighbour}
    assert after(later, [resource(entry(neighbour))]).hosts.keys() == {neighbour}


def test_a_bucket_in_which_everything_has_expired_goes_when_something_changes_there() -> None:
    gone = entry(A, gone=LONG_AGO, gone_by=GoneBy.PIC)
    stored = replace(register([gone]), buckets={bucket_of(A): Bucket("", CLUSTER, 1)})

    written = after(remembering(stored))

    assert (written.hosts, written.buckets) == ({}, {})
    assert registering.changed_buckets(written, stored) == (bucket_of(A),)


@pytest.mark.parametrize(
    ("bucket", "serials", "serial"),
    [
        (Bucket("", CLUSTER, 1), {}, 2),
        (Bucket(STACK_ID, "cluster-0", 1), {}, 2),
        (Bucket(STACK_ID, CLUSTER, 1), {bucket_of(A): 7}, 8),
        (Bucket(STACK_ID, CLUSTER, 7), {bucket_of(A): 7}, 7),
        (Bucket(STACK_ID, CLUSTER, 7), {bucket_of(B): 9}, 7),
    ],
)
def test_a_bucket_of_another_id_or_below_the_serial_of_the_outputs_is_written_again(
    bucket: Bucket, serials: Mapping[str, int], serial: int
) -> None:
    stored = replace(register([entry(A)]), buckets={bucket_of(A): bucket})

    written = after(remembering(stored), [resource(entry(A))], serials=serials)

    assert written.buckets == buckets(A, serial=serial)


def test_without_a_stack_id_a_bucket_keeps_the_one_it_has() -> None:
    stored = register([entry(A)])

    assert after(remembering(stored), [resource(entry(A))], settings=Settings()) == stored


def test_what_only_the_state_knows_is_written_into_the_register() -> None:
    snapshot = Snapshot(CLUSTER, registers={}, state=StateMemory((entry(A, sso=True),)), now=NOW)

    written = after(recall(snapshot, OURS, SETTINGS), [resource(entry(A, sso=True))])

    assert (written.hosts, written.buckets) == ({A: entry(A, sso=True)}, buckets(A))


def test_a_held_host_keeps_the_tunnel_and_the_protection_that_are_live() -> None:
    protected = LiveResource(
        "prod",
        entry(A).name,
        "uid",
        A,
        {STACK_LABEL: OURS.stack},
        spec=Spec(http=HttpConfig(sso=True, block_access=True)),
    )
    stored = register([entry(A, tunnel="far/default")])

    held = after(remembering(stored), [resource(entry(A), held=True)], live=[protected])
    free = after(remembering(stored), [resource(entry(A))], live=[protected])
    new = after(begun(), [resource(entry(A), held=True)])

    assert [(it.tunnel, it.sso, it.block_access) for it in held.hosts.values()] == [
        ("far/default", True, True)
    ]
    assert free.hosts == {A: entry(A, serial=2)}
    assert [it.tunnel for it in new.hosts.values()] == ["prod/default"]


def test_a_held_record_without_owners_keeps_the_namespace_that_the_register_has() -> None:
    record = RecordEntry(f"{A}/A", "192.0.2.1", "prod", "Ingress/web", "t", 2)

    written = after(
        remembering(register((), [record])),
        records=[Record(A, "192.0.2.1", (), held=True), Record(B, "192.0.2.2", ())],
    )

    assert written.records == {
        record.record: record,
        f"{B}/A": RecordEntry(f"{B}/A", "192.0.2.2", "", "", NOW, 1),
    }


def test_a_live_object_is_remembered_like_a_resource() -> None:
    wanted = entry(A, "prod", "web", sso=True, since="", serial=0)
    spec = Spec(tunnel=TunnelRef("default", "prod"), http=HttpConfig(sso=True))
    live = LiveResource("prod", wanted.name, "u", A, {}, (Owner("prod", "web", "u"),), spec)
    bare = LiveResource("prod", wanted.name, "u", A, {})
    own = replace(live, spec=Spec(tunnel=TunnelRef("default")))

    assert registering.entry_of_live(live) == wanted
    assert registering.entry_of_live(bare) == HostEntry(A, "prod", wanted.name)
    assert registering.entry_of_live(own).tunnel == "prod/default"


def test_a_plan_without_a_register_changes_no_bucket() -> None:
    assert registering.changed_buckets(None, register([entry(A)])) == ()
