"""Sessions with a simulated Pi-hole v6."""

import contextlib
from collections.abc import Iterator

from dev.pihole import PiHole
from pic.pihole import hosts_lines
from pic.pihole.http import Client
from pic.pihole.v6 import V6
from pic.pihole.v6_session import Session
from pic.settings.field import TakeOver
from tests.support.pihole_fakes import CLUSTER, no_sleep

FOREIGN = ["192.0.2.1 nas www # mine", "2001:db8::1 nas", "10.0.0.1 printer.lan"]
APP_PASSWORD = "of an app"  # noqa: S105 - of a simulated Pi-hole


@contextlib.contextmanager
def pihole(
    records: list[str], *, take_over: TakeOver = TakeOver.NONE
) -> Iterator[tuple[PiHole, V6]]:
    """Run a Pi-hole and log in; check that it got one request at a time and survived."""
    with PiHole(records=records) as server, logged_in(server, take_over=take_over) as hosts:
        yield server, hosts
        assert (server.most_at_once, server.deaths) == (1, [])


@contextlib.contextmanager
def logged_in(
    server: PiHole, password: str = "", *, take_over: TakeOver = TakeOver.NONE
) -> Iterator[V6]:
    with Session(Client(server.url), password or server.password, no_sleep) as session:
        yield V6(session, hosts_lines.rules_for(CLUSTER, "", take_over=take_over))
