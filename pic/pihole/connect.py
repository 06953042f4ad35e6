"""Opens a session with a Pi-hole: takes the lock of this machine, logs in, and undoes both."""

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
from pic.pihole.lock import LockTimeouts, hold_lock
from pic.pihole.protocol import Hosts
from pic.pihole.v6 import V6
from pic.pihole.v6_session import Session
from pic.settings.parse import PiholeApi, Settings

PASSWORD = "PIHOLE_PASSWORD"  # noqa: S105 - the name of a variable
TOKEN = "PIHOLE_API_TOKEN"  # noqa: S105 - the name of a variable

Environment = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SessionTimeouts:
    """How long to wait for other runs and for answers.

    Attributes:
        sleep: Waits between login attempts.
    """

    lock: LockTimeouts = field(default_factory=LockTimeouts)
    http: HttpTimeouts = field(default_factory=HttpTimeouts)
    sleep: Callable[[float], None] = time.sleep


def password(environment: Environment) -> str:
    """Return the password or token of Pi-hole, without a line break at its end.

    Raises:
        PiholeError: Neither variable is set, or they differ.
    """
    # A file that a secret is read from often ends with a line break.
    secrets = {environment.get(name, "").rstrip("\r\n") for name in (PASSWORD, TOKEN)} - {""}
    if not secrets:
        raise PiholeError(
            f"{PASSWORD} is not set: set it (or {TOKEN}) to a password of Pi-hole, preferably an"
            " app password; a Pi-hole without a password accepts any text",
            kind=FailureClass.AUTH,
        )
    if len(secrets) > 1:
        raise PiholeError(
            f"{PASSWORD} and {TOKEN} differ: set only one of them", kind=FailureClass.AUTH
        )
    return secrets.pop()


def open_session(
    settings: Settings,
    cluster_id: str,
    environment: Environment,
    owned: frozenset[str] = frozenset(),
    timeouts: SessionTimeouts | None = None,
) -> AbstractContextManager[Hosts]:
    """Open a session with a Pi-hole, as the only pic on this machine.

    The session logs out and releases the lock when its block ends.

    Args:
        settings: The URL and the interface of Pi-hole, and the id of the stack.
        cluster_id: The id of the cluster. Both ids are in the marker of our records.
        environment: Holds the password.
        owned: The hosts whose records are ours, for the interface that has no marker.
        timeouts: How long to wait.

    Raises:
        PiholeError: A setting or the password is missing. On entering the block: Pi-hole does not
            answer, or refuses the login.
    """
    timeouts = timeouts or SessionTimeouts()
    client = new_client(settings, timeouts)
    # With an empty id, two clusters could delete each other's records: they would share one marker.
    if not cluster_id:
        raise PiholeError(
            "the id of the cluster is unknown, and pic marks its records with it: set"
            " pic:clusterId",
            kind=FailureClass.INVALID,
        )
    secret = password(environment)
    if settings.pihole_api is PiholeApi.V6:
        take_over = settings.pihole_take_over
        rules = hosts_lines.rules_for(cluster_id, settings.stack_id, take_over=take_over)
        return _v6(client, secret, rules, timeouts)
    hosts = DnsLocal(client, _token(secret), owned, take_over=settings.pihole_take_over)
    return _dns_local(client, hosts, timeouts)


def new_client(settings: Settings, timeouts: SessionTimeouts) -> Client:
    """Return a client for the Pi-hole of a stack; sends nothing.

    Raises:
        PiholeError: The URL is not set, or the certificate file is not readable.
    """
    if not settings.pihole_url:
        raise PiholeError(
            "the URL of Pi-hole is not set: set pic:piholeUrl", kind=FailureClass.INVALID
        )
    trust = Trust(settings.pihole_ca, settings.pihole_server_name, settings.pihole_insecure)
    return Client(settings.pihole_url, trust, timeouts.http)


@contextlib.contextmanager
def logged_in(
    client: Client, environment: Environment, timeouts: SessionTimeouts
) -> Iterator[Session]:
    """Open a session of version 6 for requests of any kind, as `pic doctor` needs them.

    Raises:
        PiholeError: The password is missing, Pi-hole does not answer, or it refuses the login.
    """
    secret = password(environment)
    with hold_lock(client.url, timeouts.lock), Session(client, secret, timeouts.sleep) as session:
        yield session


@dataclass(frozen=True, slots=True)
class Reading:
    """What Pi-hole has.

    Attributes:
        shadows: What it answers for a host in place of its record, by host.
    """

    records: tuple[LiveRecord, ...]
    shadows: Mapping[str, str] = field(default_factory=dict)


def read(
    settings: Settings,
    cluster_id: str,
    environment: Environment,
    timeouts: SessionTimeouts | None = None,
) -> Reading:
    """Read every record of a Pi-hole, in a session of its own.

    The arguments are those of `open_session`.

    Raises:
        PiholeError: The session could not be opened, or Pi-hole did not return all records.
    """
    with open_session(settings, cluster_id, environment, timeouts=timeouts) as hosts:
        return Reading(hosts.read(), hosts.shadows())


@contextlib.contextmanager
def _v6(client: Client, secret: str, rules: Rules, timeouts: SessionTimeouts) -> Iterator[Hosts]:
    # First the lock: a run that waits for it must not use up one of Pi-hole's 16 sessions.
    with hold_lock(client.url, timeouts.lock), Session(client, secret, timeouts.sleep) as session:
        yield V6(session, rules)


@contextlib.contextmanager
def _dns_local(client: Client, hosts: DnsLocal, timeouts: SessionTimeouts) -> Iterator[Hosts]:
    with hold_lock(client.url, timeouts.lock):
        yield hosts


def _token(secret: str) -> str:
    # The token becomes a header. A line break in it would start another header.
    if not secret.isascii() or not secret.isprintable():
        raise PiholeError(
            f"{TOKEN} contains characters that an HTTP header cannot hold: set it to printable"
            " ASCII on one line",
            kind=FailureClass.AUTH,
        )
    return secret
