"""A Pi-hole for each test; those that ask DNS are skipped where there is no dnsmasq."""

from collections.abc import Iterator

import pytest

from dev.pihole import Clock, PiHole, dnsmasq


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pihole(clock: Clock) -> Iterator[PiHole]:
    with PiHole(password="secret", app_password="for programs", clock=clock) as made:  # noqa: S106
        yield made


@pytest.fixture
def needs_dnsmasq() -> None:
    if dnsmasq() is None:
        pytest.skip("no dnsmasq: `make servers` gets it")
