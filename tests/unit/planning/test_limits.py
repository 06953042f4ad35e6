"""Tests the limits of the guard for both kinds of cluster."""

import math
from datetime import timedelta

import pytest

from pic.planning.limits import Limits
from pic.settings.parse import Settings, Tenants

MANY, ONE = Settings(), Settings(tenants=Tenants.ONE)


@pytest.mark.parametrize(
    ("settings", "age"),
    [
        (MANY, timedelta(hours=24)),
        (ONE, timedelta()),
        (Settings(move_after=timedelta(hours=1)), timedelta(hours=1)),
        (Settings(tenants=Tenants.ONE, move_after=timedelta(hours=1)), timedelta(hours=1)),
    ],
)
def test_how_long_a_host_that_is_gone_stays_reserved(settings: Settings, age: timedelta) -> None:
    assert Limits(settings).move_after == age


@pytest.mark.parametrize(
    ("settings", "moves"),
    [
        (MANY, 0),
        (ONE, math.inf),
        (Settings(max_moves=3), 3),
        (Settings(tenants=Tenants.ONE, max_moves=0), 0),
    ],
)
def test_how_many_hosts_may_move(settings: Settings, moves: float) -> None:
    assert Limits(settings).moves == moves


@pytest.mark.parametrize(
    ("settings", "count", "allowed"),
    [
        (MANY, 0, 5),
        (MANY, 25, 5),
        (MANY, 30, 6),
        (Settings(max_removals=0, max_removal_ratio=0.29), 100, 29),
        (Settings(max_removals=0, max_removal_ratio=0), 100, 0),
        (Settings(max_removals=7, max_removal_ratio=0), 8, 7),
    ],
)
def test_the_larger_limit_of_removals_counts(settings: Settings, count: int, allowed: int) -> None:
    assert Limits(settings).removals(count) == allowed


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        (MANY, 0),
        (ONE, 20),
        (Settings(max_weakened=3), 3),
        (Settings(tenants=Tenants.ONE, max_weakened=0), 0),
    ],
)
def test_19_without_a_setting_no_host_may_lose_protection(settings: Settings, allowed: int) -> None:
    assert Limits(settings).weakened(100) == allowed


@pytest.mark.parametrize(("count", "allowed"), [(0, 10), (33, 10), (40, 12), (10_000, 3000)])
def test_how_many_hosts_one_run_may_lead_elsewhere(count: int, allowed: int) -> None:
    assert Limits(MANY).retargeted(count) == allowed
    assert Limits(Settings(max_retargeted=5000)).retargeted(count) == 5000


def test_a_preview_environment_is_a_namespace_that_a_pattern_matches() -> None:
    limits = Limits(Settings(ephemeral=("pr-*", "demo")))

    assert [name for name in ("pr-1", "demo", "pr", "demo-2") if limits.is_ephemeral(name)] == [
        "pr-1",
        "demo",
    ]
