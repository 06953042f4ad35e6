"""Runs the simulator for tests and demos."""

import secrets
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock, Timer
from types import TracebackType
from typing import Literal, Self

from dev.controlplane.ports import ReservedPort
from dev.controlplane.workdir import WorkDir
from dev.pihole import tls
from dev.pihole.auth import Auth, Logins, Secrets
from dev.pihole.config import Config
from dev.pihole.dns import Resolver
from dev.pihole.errors import PiHoleError
from dev.pihole.faults import Fault, Faults
from dev.pihole.flight import Flight
from dev.pihole.listener import Listener
from dev.pihole.local import DnsLocal, OnDuplicate
from dev.pihole.messages import Answer, Died, Refusal, Request
from dev.pihole.pace import QUICK, Pace
from dev.pihole.sessions import Sessions
from dev.pihole.v6 import V6

Overlap = Literal["die", "lose", "hang", "serialise"]


@dataclass(frozen=True)
class LogEntry:
    """One request in the log.

    Attributes:
        method: The HTTP method.
        path: The path as sent, without the query, which may hold a session id.
        status: The status of the answer; 0 if the connection was cut instead.
    """

    method: str
    path: str
    status: int


@dataclass(kw_only=True)
class PiHole:
    """A Pi-hole on 127.0.0.1, which runs for a `with` block.

    Attributes:
        password: The web password, or the bearer token of "dns-local"; "" sets no password.
        api: The interface.
        tls: Whether it serves HTTPS, with the authority `ca` and the only name `pi.hole`.
        records: The first lines of `dns.hosts`.
        app_password: The password for programs; "" sets none.
        app_sudo: Whether a session of a program may write.
        cli_password: The password of the command line; "" sets none.
        totp: The token of the second factor; "" sets none.
        env_hosts: Whether FTLCONF_dns_hosts sets the records.
        read_only: `misc.readOnly`.
        max_sessions: The number of seats.
        environment: More settings that variables set, such as `misc.readOnly`.
        file_is_mounted: Whether pihole.toml alone is mounted: a restart loses every write.
        cname_records: `dns.cnameRecords`, which win over the lines.
        dnsmasq_lines: `misc.dnsmasq_lines`.
        overlap: The effect of a write during another request. On a real Pi-hole it often loses the
            update of one of two writers, sometimes kills the server, and sometimes makes its API
            hang while DNS goes on. It can also wait, as no real one does.
        on_duplicate: The effect of a POST to "dns-local" for a domain that exists.
        dns: Whether DNS runs from the start; otherwise its first use starts it.
        pace: The durations of requests.
        clock: The time for sessions and for the rate limit, in seconds since 1970.
    """

    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)
    api: Literal["v6", "dns-local"] = "v6"
    tls: bool = False
    records: Sequence[str] = ()
    app_password: str = field(default="", repr=False)
    app_sudo: bool = False
    cli_password: str = field(default="", repr=False)
    totp: str = field(default="", repr=False)
    env_hosts: bool = False
    read_only: bool = False
    environment: Sequence[str] = ()
    file_is_mounted: bool = False
    cname_records: Sequence[str] = ()
    dnsmasq_lines: Sequence[str] = ()
    max_sessions: int = 16
    overlap: Overlap = "die"
    on_duplicate: OnDuplicate = "replace"
    dns: bool = False
    pace: Pace = QUICK
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        lines = tuple(self.records)
        self._config = Config(
            lines, lines, self.env_hosts, self.read_only, self.app_sudo, self.max_sessions
        )
        self._config.on_change = self._serve_names
        self._config.environment = frozenset(self.environment)
        self._config.file_is_mounted = self.file_is_mounted
        self._config.cname_records = tuple(self.cname_records)
        self._config.dnsmasq_lines = tuple(self.dnsmasq_lines)
        self._sessions = Sessions(self.max_sessions, self.clock)
        passwords = Secrets(self.password, self.app_password, self.cli_password, self.totp)
        self._auth = Auth(passwords, self._sessions, self.pace, self.clock)
        self._interface: V6 | DnsLocal = (
            V6(self._config, self._auth, self.pace)
            if self.api == "v6"
            else DnsLocal(self._config, self.password, self.pace, self.on_duplicate)
        )
        self._faults = Faults()
        self._flight = Flight()
        self._turn = RLock()
        self._change = RLock()
        self._listener: Listener | None = None
        self._resolver: Resolver | None = None
        self._edits: list[Timer] = []
        self._hangs = False
        self.deaths: list[str] = []
        self.log: list[LogEntry] = []

    def __enter__(self) -> Self:
        self._work = WorkDir()
        self._port = ReservedPort()
        try:
            self.ca: Path | None = tls.make(self._work.path) if self.tls else None
            self._start()
            if self.dns:
                self._resolve()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for edit in self._edits:
            edit.cancel()
        if self._listener is not None:
            self._listener.close()
        if self._resolver is not None:
            self._resolver.close()
        self._port.release()
        self._work.remove()

    @property
    def port(self) -> int:
        """The port of the API, which a restart keeps."""
        return self._port.number

    @property
    def url(self) -> str:
        """The URL of the API, without a path."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self.port}"

    @property
    def dns_port(self) -> int:
        """The port of the resolver, for UDP and TCP; the first access starts the resolver."""
        return self._resolve().port

    @property
    def resolver_pid(self) -> int:
        """The pid of the resolver; the first access starts the resolver.

        Raises:
            PiHoleError: The resolver is dead.
        """
        return self._resolve().pid

    @property
    def lines(self) -> list[str]:
        """`dns.hosts` in memory; setting it is an edit by hand, without validation."""
        return list(self._config.lines)

    @lines.setter
    def lines(self, lines: Sequence[str]) -> None:
        self._config.edit(lines)

    def edit_file(self, lines: Sequence[str], seconds: float = 1.0) -> None:
        """Edit `dns.hosts` in pihole.toml by hand, which Pi-hole notices after up to a second.

        A write through the API before that replaces the file, and the edit is lost.
        """
        self._config.saved = tuple(lines)
        edit = Timer(seconds, self._config.notice, [lines])
        edit.daemon = True
        self._edits.append(edit)
        edit.start()

    @property
    def saved(self) -> list[str]:
        """`dns.hosts` in pihole.toml, which a restart reads."""
        return list(self._config.saved)

    @property
    def writes(self) -> int:
        """The number of writes through the API."""
        return self._config.writes

    @property
    def sessions(self) -> int:
        """The number of seats in use."""
        return len(self._sessions.current())

    @property
    def most_at_once(self) -> int:
        """The largest number of requests at the same time."""
        return self._flight.most

    @property
    def in_flight(self) -> int:
        """The number of requests in progress."""
        return self._flight.number

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return self._listener is not None and not self._listener.dead.is_set()

    @property
    def logins(self) -> Logins:
        """Whether logins are accepted, or the way in which they fail; may be set."""
        return self._auth.logins

    @logins.setter
    def logins(self, logins: Logins) -> None:
        self._auth.logins = logins

    def inject(self, fault: Fault) -> None:
        """Inject a fault into some of the next requests."""
        self._faults.add(fault)

    @property
    def faults_left(self) -> Sequence[Fault]:
        """The faults that still wait for requests."""
        return self._faults.waiting()

    def heal(self) -> None:
        """Remove the faults that are left."""
        self._faults.clear()

    def change_password(self, password: str) -> None:
        """Set a new web password, which ends every session."""
        self.password = self._auth.secrets.password = password
        self._sessions.clear()

    def occupy(self, seats: int) -> None:
        """Take seats, like clients that never log out."""
        for _ in range(seats):
            if self._sessions.begin("admin", "another client") is None:
                raise PiHoleError("there are no more seats to take")

    def ask(self, name: str, kind: str = "A", seconds: float = 5.0) -> list[str]:
        """Query the resolver.

        Returns:
            The sorted data of the records of this kind; empty if the name has none.

        Raises:
            PiHoleError: The resolver does not run, or did not answer in time.
        """
        return self._resolve().ask(name, kind, seconds)

    def die(self, reason: str) -> None:
        """Crash: cut all connections without an answer and lose all sessions."""
        with self._change:
            if self._listener is None or not self.alive:
                return
            self.deaths.append(reason)
            self._listener.kill()
            self._sessions.clear()
            if self._resolver is not None:
                self._resolver.stop()

    def restart(self) -> None:
        """Start again with the lines of pihole.toml; sessions survive, except after a crash."""
        if self._listener is not None:
            self._listener.close()  # waits for its threads: one may be about to crash the server
        with self._change:
            self._hangs = False
            self._config.reload()
            self._start()
            if self._resolver is not None:
                self._resolver.stop()
                self._resolver.start(self._config.lines)

    def _start(self) -> None:
        context: ssl.SSLContext | None = tls.context(self._work.path) if self.tls else None
        self._flight.empty()
        self._listener = Listener(self.port, self._handle, context)

    def _resolve(self) -> Resolver:
        with self._change:
            if self._resolver is None:
                options = [f"--cname={record}" for record in self.cname_records]
                options += [f"--{line}" for line in self.dnsmasq_lines]
                resolver = Resolver(self._work.path, options)
                resolver.start(self._config.lines)
                self._resolver = resolver
            return self._resolver

    def _serve_names(self, lines: Sequence[str]) -> None:
        if self._resolver is not None:
            self._resolver.serve(lines)

    def _handle(self, request: Request) -> Answer | None:
        """Answer a request or die of it; None cuts the connection."""
        answer = self._respond(request)
        self.log.append(LogEntry(request.method, request.path, answer.status if answer else 0))
        return answer

    def _respond(self, request: Request) -> Answer | None:
        writes = self._interface.writes(request)
        death = self._flight.enter(request, writes=writes)
        try:
            if death is not None and self.overlap == "die":
                self.die(death)
                return None
            self._hangs |= death is not None and self.overlap == "hang"
            if self._hangs:
                self._flight.leave(request)  # a client that gives up may send the next request
                request.pause(float(HANG))
            fault = self._faults.of(request)
            if fault is None:
                return self._answer(request, in_turn=writes)
            return self._spoil(fault, request)
        except Died:
            return None
        finally:
            self._flight.leave(request)

    def _answer(self, request: Request, *, in_turn: bool) -> Answer:
        if in_turn and self.overlap == "serialise":
            with self._turn:
                return self._answer(request, in_turn=False)
        try:
            return self._interface.answer(request)
        except Refusal as refusal:
            return refusal.answer

    def _spoil(self, fault: Fault, request: Request) -> Answer | None:
        if fault.effect:
            self._answer(request, in_turn=self._interface.writes(request))
        match fault.kind:
            case "answer":
                return fault.answer
            case "die":
                self.die(f"injected fault at {request.method} {request.path}")
            case "hang":
                self._flight.leave(request)  # a client that gives up may send the next request
                request.pause(float(HANG))
            case "drop":
                pass
        return None


HANG = 600  # seconds
