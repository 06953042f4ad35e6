"""Tests the notices about all PangolinResources together."""

import pytest

from pic.core.notices import Notice, Reason, Ref
from tests.support.memories import entry
from tests.support.tenants import cluster, ingress, live, plan, settled

HOSTS = [f"h{number}.example.com" for number in range(20)]


def notices(*more: str, given_up: str = "", limit: int = 20) -> tuple[Notice, ...]:
    """Plan 20 hosts that are live and some more; one may be live only."""
    objects = [live(host) for host in (*HOSTS, *filter(None, [given_up]))]
    known = [entry(host) for host in HOSTS]
    snapshot = cluster([ingress(*HOSTS, *more)], objects, known)
    return plan(snapshot, settled(operator_limit=limit)).notices


def warning(count: int) -> Notice:
    return Notice(
        Reason.TOO_MANY_HOSTS,
        Ref("Setting", "", "operatorLimit"),
        f"there are {count} PangolinResources, but the operators that pic knows find only 20 in"
        " Pangolin: the others may never be ready, and may not get a login or a block that is added"
        " later",
    )


def test_twenty_hosts_are_not_too_many() -> None:
    assert notices() == ()


def test_more_than_twenty_hosts_are_reported_once() -> None:
    assert notices("new.example.com", "newer.example.com") == (warning(22),)


def test_a_host_that_pic_gives_up_counts_because_pangolin_keeps_it() -> None:
    assert notices(given_up="old.example.com") == (warning(21),)


@pytest.mark.parametrize("limit", [0, 21])
def test_the_limit_of_the_operator_can_be_set(limit: int) -> None:
    assert notices("new.example.com", limit=limit) == ()
