"""Where a Pi-hole is entered: its lock, its session, its records; all given back at the end."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import LiveRecord
from pic.pihole import hosts_lines
from pic.pihole.dns_local import DnsLocal
from pic.pihole.hosts_lines import Rules
from pic.pihole.http import Client, HttpTimeouts, Trust
from pic.pihole.lock import Waiting, alone
from pic.pihole.protocol import Hosts
from pic.pihole.v6 import V6
from pic.pihole.v6_session import Session
from pic.settings.parse import PiholeApi, Settings

PASSWORD = "PIHOLE_PASSWORD"  # noqa: S105 - the name of a variable
TOKEN = "PIHOLE_API_TOKEN"  # noqa: S105 - the name of a variable

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SessionTimeouts:
    """How long to wait: for other runs, for answers, and between logins that are refused."""

    waiting: Waiting = field(default_factory=Waiting)
    patience: HttpTimeouts = field(default_factory=HttpTimeouts)
    sleep: Callable[[float], None] = time.sleep


def password(environment: Environment) -> str:
    """Return what Pi-hole is entered with; a line break that ends it is no part of it.

    Raises:
        PiholeError: There is none, or there are two.
    """
    given = {environment.get(name, "").rstrip("\r\n") for name in (PASSWORD, TOKEN)} - {""}
    if not given:
        raise PiholeError(
            f"set {PASSWORD} (or {TOKEN}) to the password of Pi-hole, an app password at best; a"
            " Pi-hole without a password takes any text",
            kind=FailureClass.AUTH,
        )
    if len(given) > 1:
        raise PiholeError(f"{PASSWORD} and {TOKEN} differ: set one of them", kind=FailureClass.AUTH)
    return given.pop()


def session(
    settings: Settings,
    cluster_id: str,
    environment: Environment,
    owned: frozenset[str] = frozenset(),
    pace: SessionTimeouts | None = None,
) -> AbstractContextManager[Hosts]:
    """Work with a Pi-hole, as the only one on this machine; logged out and released at the end.

    Args:
        settings: Where it is, and what it speaks.
        cluster_id: What marks our records.
        environment: Has the password.
        owned: The hosts whose records are ours, where the interface has no room for a marker.
        pace: How long to wait.

    Raises:
        PiholeError: A setting or the password is missing; on entering: it cannot be entered.
    """
    pace = pace or SessionTimeouts()
    client = reach(settings, pace)
    if not cluster_id:
        raise PiholeError(
            "the id of the cluster is not known: it marks records", kind=FailureClass.INVALID
        )
    secret = password(environment)
    if settings.pihole_api is PiholeApi.V6:
        rules = Rules(hosts_lines.marker(cluster_id), settings.pihole_take_over)
        return _v6(client, secret, rules, pace)
    hosts = DnsLocal(client, _token(secret), owned, take_over=settings.pihole_take_over)
    return _dns_local(client, hosts, pace)


def reach(settings: Settings, pace: SessionTimeouts) -> Client:
    """Return what sends requests to the Pi-hole of a stack; nothing is sent.

    Raises:
        PiholeError: It is not known where it is, or its certificates cannot be read.
    """
    if not settings.pihole_url:
        raise PiholeError(
            "it is not known where Pi-hole is: set pic:piholeUrl", kind=FailureClass.INVALID
        )
    trust = Trust(settings.pihole_ca, settings.pihole_server_name, settings.pihole_insecure)
    return Client(settings.pihole_url, trust, pace.patience)


@contextlib.contextmanager
def logged_in(client: Client, environment: Environment, pace: SessionTimeouts) -> Iterator[Session]:
    """Hold a session of version 6, for what `session` does not ask; else as that.

    Raises:
        PiholeError: There is no password; on entering: it cannot be entered.
    """
    secret = password(environment)
    with alone(client.url, pace.waiting), Session(client, secret, pace.sleep) as held:
        yield held


def read(
    settings: Settings,
    cluster_id: str,
    environment: Environment,
    owned: frozenset[str] = frozenset(),
    pace: SessionTimeouts | None = None,
) -> tuple[LiveRecord, ...]:
    """Return every record of a Pi-hole in a session of its own, or raise as `session`."""
    with session(settings, cluster_id, environment, owned, pace) as hosts:
        return hosts.read()


@contextlib.contextmanager
def _v6(client: Client, secret: str, rules: Rules, pace: SessionTimeouts) -> Iterator[Hosts]:
    with alone(client.url, pace.waiting), Session(client, secret, pace.sleep) as held:
        yield V6(held, rules)


@contextlib.contextmanager
def _dns_local(client: Client, hosts: DnsLocal, pace: SessionTimeouts) -> Iterator[Hosts]:
    with alone(client.url, pace.waiting):
        yield hosts


def _token(secret: str) -> str:
    if not secret.isascii() or not secret.isprintable():
        raise PiholeError(
            f"{TOKEN} has characters that a token cannot have: needed is printable ASCII on one"
            " line",
            kind=FailureClass.AUTH,
        )
    return secret
