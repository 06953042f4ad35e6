"""Tests how the bench of the Pi-hole target evaluates its figures."""

from typing import Any

import pytest

from bench import pihole
from bench.errors import BenchError


def figures(**other: Any) -> dict[str, Any]:
    probed = {"seconds": 2.0, "writes": 3, "probes": 1_000, "missing": 0, "strange": 0}
    idle = {"seconds": 1.0, "writes": 0}
    return {
        "hosts": 100,
        "resolvable": [3.0, 9.0, 4.0],
        "cold": [4.0, 10.0, 5.0],
        "writes": 20,
        "one": probed,
        "all": probed,
        "noop": idle,
        "lost": idle,
        "at_once": 1,
        "by_hand": True,
        **other,
    }


def unmet(results: dict[str, Any]) -> list[tuple[str, str]]:
    return [(what, measured) for what, _, measured, met in pihole.checks(results) if not met]


def test_good_figures_meet_every_goal() -> None:
    assert unmet(figures()) == []


def test_the_median_of_the_rounds_is_compared_with_the_goal() -> None:
    assert unmet(figures(resolvable=[6.0, 1.0, 5.5])) == [
        ("100 hosts: first deployment, until the last name resolves", "5.5 s")
    ]
    assert pihole.times(figures()) == ["100", "4.0", "5.0", "1.0", "2.0", "2.0", "1.0"]


def test_gaps_extra_writes_and_changed_records_do_not_meet_the_goals() -> None:
    gap = {"seconds": 2.0, "writes": 3, "probes": 1_000, "missing": 2, "strange": 1}
    busy = {"seconds": 1.0, "writes": 4}

    assert unmet(figures(one=gap, noop=busy, by_hand=False, at_once=2)) == [
        ("100 hosts: one address changed, gaps", "3 of 1,000 probes"),
        ("100 hosts: nothing to do, writes", "4"),
        ("100 hosts: concurrent requests", "2"),
        ("100 hosts: records made by hand", "changed"),
    ]


def test_many_writes_and_a_slow_change_of_every_address_do_not_meet_the_goals() -> None:
    change = {"seconds": 15.5, "writes": 21, "probes": 1_000, "missing": 0, "strange": 0}

    assert unmet(figures(hosts=1_000, writes=22, all=change)) == [
        ("1,000 hosts: all addresses changed", "15.5 s"),
        ("1,000 hosts: first deployment, writes", "22"),
        ("1,000 hosts: all addresses changed, writes", "21"),
    ]


def test_numbers_come_from_the_environment() -> None:
    environment = {"BENCH_HOSTS": "10, 20", "BENCH_ROUNDS": "few"}

    assert pihole.numbers("BENCH_HOSTS", (1,), environment) == [10, 20]
    assert pihole.numbers("BENCH_NONE", (1,), environment) == (1,)
    with pytest.raises(BenchError, match="BENCH_ROUNDS is few; allowed: whole numbers from 1"):
        pihole.numbers("BENCH_ROUNDS", (1,), environment)
