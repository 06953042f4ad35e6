"""What the bench of the Pi-hole target makes of its figures."""

from typing import Any

import pytest

from bench import pihole
from bench.errors import BenchError


def figures(**other: Any) -> dict[str, Any]:
    seen = {"seconds": 2.0, "writes": 3, "probes": 1_000, "missing": 0, "strange": 0}
    still = {"seconds": 1.0, "writes": 0}
    return {
        "hosts": 100,
        "resolvable": [3.0, 9.0, 4.0],
        "cold": [4.0, 10.0, 5.0],
        "one": seen,
        "all": seen,
        "noop": still,
        "lost": still,
        "at_once": 1,
        "by_hand": True,
        **other,
    }


def unmet(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(what, seen) for what, _, seen, met in pihole.checks(found) if not met]


def test_all_is_well_where_every_goal_is_met() -> None:
    assert unmet(figures()) == []


def test_the_median_of_the_rounds_counts() -> None:
    assert unmet(figures(resolvable=[6.0, 1.0, 5.5])) == [
        ("100 hosts: resolvable from nothing", "5.5 s")
    ]
    assert pihole.times(figures()) == ["100", "4.0", "5.0", "1.0", "2.0", "2.0", "1.0"]


def test_a_gap_a_write_too_many_and_a_line_that_changed_are_told() -> None:
    gap = {"seconds": 2.0, "writes": 3, "probes": 1_000, "missing": 2, "strange": 1}
    busy = {"seconds": 1.0, "writes": 4}

    assert unmet(figures(one=gap, noop=busy, by_hand=False, at_once=2)) == [
        ("100 hosts: one address changed, gaps", "3 of 1,000 probes"),
        ("100 hosts: nothing to do, writes", "4"),
        ("100 hosts: requests at once", "2"),
        ("100 hosts: lines by hand", "changed"),
    ]


def test_numbers_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCH_HOSTS", "10, 20")
    monkeypatch.setenv("BENCH_ROUNDS", "few")

    assert [pihole.numbers("BENCH_HOSTS", (1,)), pihole.numbers("BENCH_NONE", (1,))] == [
        [10, 20],
        (1,),
    ]
    with pytest.raises(BenchError, match="BENCH_ROUNDS is few; allowed: whole numbers from 1"):
        pihole.numbers("BENCH_ROUNDS", (1,))
