"""Tests how removals are counted over a window, in each namespace and in all of them."""

from datetime import timedelta
from typing import Any

from pic.core.register import GoneBy, HostEntry, RecordEntry
from pic.planning.removals import Removal, beyond_limits, counted
from pic.settings.parse import Settings
from tests.support.memories import entry, register, remembering

RECENTLY, LONG_AGO = "2026-01-01T12:00:00Z", "2025-12-31T00:00:00Z"


def hosts(namespace: str, count: int, first: int = 0, **fields: Any) -> list[HostEntry]:
    return [
        entry(f"h{at}.{namespace}.example.com", namespace, **fields)
        for at in range(first, first + count)
    ]


def gone(namespace: str, count: int, first: int = 0, by: GoneBy = GoneBy.PIC) -> list[HostEntry]:
    return hosts(namespace, count, first, gone=RECENTLY, gone_by=by)


def removing(*entries: HostEntry) -> list[Removal]:
    return [Removal(it.host, it.namespace) for it in entries]


def held(
    removals: list[Removal],
    entries: list[HostEntry],
    settings: Settings | None = None,
    **live: int,
) -> list[Removal]:
    memory = remembering(register(entries), settings=settings)
    return beyond_limits(removals, entries, memory, live)


def test_removals_up_to_the_limit_of_their_namespace_pass() -> None:
    entries = hosts("a", 20)

    assert held(removing(*entries[:5]), entries) == []
    assert held(removing(*entries[:6]), entries) == removing(*entries[:6])


def test_the_share_counts_where_it_is_larger() -> None:
    entries = hosts("a", 100)

    assert held(removing(*entries[:20]), entries) == []
    assert held(removing(*entries[:21]), entries) == removing(*entries[:21])


def test_what_was_removed_within_the_window_counts() -> None:
    entries = [*gone("a", 5), *hosts("a", 2, 5)]

    assert held(removing(entries[5]), entries) == removing(entries[5])
    assert held(removing(entries[5]), entries[1:]) == []


def test_only_what_pic_removed_within_the_window_counts() -> None:
    old = hosts("a", 1, gone=LONG_AGO, gone_by=GoneBy.PIC)
    others = [gone("a", 1, at, by) for at, by in enumerate(GoneBy, 1)]
    preview = gone("pr-1", 1)
    entries = [*old, *(it for group in others for it in group), *preview, *hosts("a", 1, 9)]
    memory = remembering(register(entries), settings=Settings(ephemeral=("pr-*",)))

    assert counted(entries, memory) == others[list(GoneBy).index(GoneBy.PIC)]


def test_a_host_that_is_removed_again_counts_once() -> None:
    entries = [*gone("a", 1), *hosts("a", 4, 1)]

    assert held(removing(*entries), entries) == []


def test_one_namespace_uses_up_no_limit_of_another() -> None:
    a, b = hosts("a", 30), hosts("b", 30)

    # Of 60 hosts, 12 may go. Those of a are held, and count at most up to their own limit.
    assert held(removing(*a, *b[:6]), [*a, *b]) == removing(*a)


def test_bogus_hosts_of_another_namespace_raise_no_limit() -> None:
    victims, bogus = hosts("a", 30), hosts("b", 150)

    assert held(removing(*victims[:7]), [*victims, *bogus]) == removing(*victims[:7])


def test_more_than_the_limit_of_all_namespaces_is_held_as_a_whole() -> None:
    settings = Settings(max_removals=2, max_removal_ratio=0)
    a, b = hosts("a", 5), hosts("b", 5)

    assert held(removing(*a[:1], *b[:1]), [*a, *b], settings) == []
    assert held(removing(*a[:2], *b[:1]), [*a, *b], settings) == removing(*a[:2], *b[:1])


def test_what_is_held_in_its_own_namespace_lets_no_others_wait() -> None:
    settings = Settings(max_removals=2, max_removal_ratio=0.5)
    a, b = hosts("a", 10), hosts("b", 10)

    assert held(removing(*a[:6], *b[:2]), [*a, *b], settings) == removing(*a[:6])


def test_before_the_first_register_the_live_hosts_count() -> None:
    entries = hosts("a", 30)

    assert held(removing(*entries[:6]), [], a=30) == []
    assert held(removing(*entries[:7]), [], a=30) == removing(*entries[:7])
    assert held(removing(*entries[:6]), []) == removing(*entries[:6])


def test_the_window_is_a_setting() -> None:
    entries = [*gone("a", 5), *hosts("a", 1, 5)]
    settings = Settings(removal_window=timedelta(hours=12))

    assert held(removing(entries[5]), entries, settings) == []


def test_records_are_counted_by_their_id() -> None:
    records = [RecordEntry(f"h{at}/A", "192.0.2.1", "a") for at in range(7)]
    memory = remembering(register((), records))
    removals = [Removal(record.record, record.namespace) for record in records[:6]]

    assert beyond_limits(removals, records, memory, {}) == removals
    assert beyond_limits(removals[:5], records, memory, {}) == []
