"""Tests that the register is judged by the clock of the API server, and not by that of a laptop."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest

from pic.cluster import listing
from pic.cluster.connection import ServerClock
from pic.core.register import moment
from pic.settings.parse import Settings
from tests.support.api import serving

# The local clock moves on during a test.
MARGIN = timedelta(minutes=5)


def difference(clock: ServerClock) -> timedelta:
    """Return how far the clock is ahead of the local one."""
    return moment(clock.now()) - datetime.now(UTC)


def is_near(value: timedelta, expected: timedelta) -> bool:
    return abs(value - expected) < MARGIN


@pytest.mark.parametrize("hours", [-48, 0, 48])
def test_the_time_is_that_of_the_last_answer(hours: int) -> None:
    clock, ahead = ServerClock(), timedelta(hours=hours)

    clock.set(format_datetime(datetime.now(UTC) + timedelta(days=300), usegmt=True))
    clock.set(format_datetime(datetime.now(UTC) + ahead, usegmt=True))

    assert is_near(difference(clock), ahead)


@pytest.mark.parametrize("date", [None, "", "soon", "Thu, 01 Jan 2026 00:00:00 -0000"])
def test_an_answer_without_a_usable_time_leaves_the_clock_as_it_is(date: str | None) -> None:
    clock = ServerClock(timedelta(hours=7))

    clock.set(date)

    assert is_near(difference(clock), timedelta(hours=7))


def test_a_transport_has_the_time_of_its_api_server(tmp_path: Path) -> None:
    with serving() as api:
        environment = {"KUBECONFIG": api.kubeconfig(tmp_path / "config")}
        transport = listing.connect(Settings(), environment)
        transport.clock.ahead = timedelta(days=-300)

        transport.get(listing.IDENTITY)

    assert is_near(difference(transport.clock), timedelta())
    assert moment(transport.now()).microsecond == 0
