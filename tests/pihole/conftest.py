"""Fixtures: a Pi-hole for each test, and a skip for DNS tests without dnsmasq."""

from collections.abc import Iterator

import pytest

from dev.pihole import Clock, PiHole, dnsmasq


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pihole(clock: Clock) -> Iterator[PiHole]:
    with PiHole(password="secret", app_password="for programs", clock=clock) as pihole:  # noqa: S106
        yield pihole


@pytest.fixture
def needs_dnsmasq() -> None:
    if dnsmasq() is None:
        pytest.skip("no dnsmasq: run `make servers` to get it")
