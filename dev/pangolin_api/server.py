"""Runs the simulator for tests and demos."""

import json
import secrets
import ssl
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, RLock
from types import TracebackType
from typing import Literal, Self

from dev.controlplane.ports import ReservedPort
from dev.controlplane.workdir import WorkDir
from dev.pangolin_api import tls
from dev.pangolin_api.api import Api
from dev.pangolin_api.faults import Fault, Faults
from dev.pangolin_api.listener import Listener
from dev.pangolin_api.messages import Answer, Refusal, Request
from dev.pangolin_api.routes import Reach, Route, Visitor, routes_of
from dev.pangolin_api.schema import V1_18, Version
from dev.pangolin_api.store import ACTIONS, Key, Store

ORG = "home"
MEASURED = 0.028  # seconds for which argon2 verifies a key, one request at a time
HANG = 600  # seconds
_ORDER = {"nothing": 0, "blocked": 1, "denied": 2, "login": 3, "open": 4}


@dataclass(frozen=True)
class LogEntry:
    """One request in the log.

    Attributes:
        status: The status of the answer; 0 if the connection was cut instead.
    """

    method: str
    path: str
    status: int
    body: bytes = b""

    def __str__(self) -> str:
        """Return the method and the path, without the version of the API."""
        return f"{self.method} {self.path.removeprefix('/v1')}"


@dataclass(frozen=True)
class Moment:
    """What the proxy serves right after a request.

    Attributes:
        after: The request; its status says whether the client learned of it.
        routes: The routers.
    """

    after: LogEntry
    routes: tuple[Route, ...]

    def reach(self, host: str, path: str = "/", visitor: Visitor | None = None) -> Reach:
        """Say how far a visitor gets, as `Pangolin.reach` does."""
        return _reach(self.routes, host, path, visitor)


@dataclass(kw_only=True)
class Pangolin:
    """The Integration API of a Pangolin on 127.0.0.1, which runs for a `with` block.

    It begins with an organisation `home`, which has the base domain `example.com`, the site `Home`
    and a key that may do everything.

    Attributes:
        version: What it speaks, as one of the constants of `dev.pangolin_api`.
        tls: Whether it serves HTTPS, with the certificate `ca`.
        pace: The seconds for which it verifies a key, one request at a time; 0 does not wait.
        watch: Called after each request, before its answer is sent.
        dashboard: The host of the dashboard.
        key: The key of the organisation.
        busy: The seconds that it has worked so far, waiting for clients not included.
    """

    version: Version = V1_18
    tls: bool = False
    pace: float = 0.0
    watch: Callable[[Moment], None] | None = None
    dashboard: str = "pangolin.example.com"
    key: str = field(
        default_factory=lambda: f"{secrets.token_hex(7)}.{secrets.token_urlsafe(24)}", repr=False
    )

    def __post_init__(self) -> None:
        self.store = Store()
        self.store.org(ORG)
        self.domain_id = self.store.domain(ORG, "example.com")
        self.site_id = self.store.site(ORG, "Home")
        self.allow(self.key, ORG)
        self._api = Api(self.store, self.version, self.dashboard)
        self._faults = Faults()
        self._change = RLock()
        self._argon2 = Lock()
        self._flight = Lock()
        self._listener: Listener | None = None
        self._over = Event()
        self.in_flight = self.most_at_once = 0
        self.busy = 0.0
        self.deaths: list[str] = []
        self.log: list[LogEntry] = []

    def __enter__(self) -> Self:
        self._work = WorkDir()
        self._port = ReservedPort()
        self.ca: Path | None = tls.make(self._work.path) if self.tls else None
        self._start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._over.set()
        if self._listener is not None:
            self._listener.close()
        self._port.release()
        self._work.remove()

    @property
    def url(self) -> str:
        """The URL of the API, without a path; a restart keeps it."""
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._port.number}"

    @property
    def alive(self) -> bool:
        """Whether the server runs."""
        return self._listener is not None and not self._listener.dead.is_set()

    @property
    def writes(self) -> list[str]:
        """The requests of the log that are no reads."""
        return [str(entry) for entry in self.log if entry.method != "GET"]

    @property
    def routes(self) -> tuple[Route, ...]:
        """What the proxy serves now."""
        with self._change:
            tables = (self.store.resources, self.store.targets, self.store.rules)
            resources, targets, rules = (list(table.values()) for table in tables)
            return routes_of(resources, targets, rules, self.store.sites)

    def reach(self, host: str, path: str = "/", visitor: Visitor | None = None) -> Reach:
        """Say how far a visitor gets at a host and a path now.

        Returns:
            "nothing" if no router matches, "blocked" if the resource blocks all, "denied" if a rule
            drops the visitor, "login" if Pangolin asks for one, and "open" if the backend answers.
        """
        return _reach(self.routes, host, path, visitor)

    def allow(self, key: str, org: str | None, actions: Collection[str] = ACTIONS) -> None:
        """Accept a key of an organisation, or a root key, for some actions."""
        name, _, secret = key.partition(".")
        self.store.keys[name] = Key(secret, org, set(actions))

    def forbid(self, *actions: str) -> None:
        """Untick actions of the key."""
        self.store.keys[self.key.partition(".")[0]].actions -= set(actions)

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

    def ask(self, method: str, path: str, body: object = None) -> Answer:
        """Answer a request with the key, without the network, the log and the watch.

        Args:
            method: The HTTP method.
            path: The path below `/v1`.
            body: Sent as JSON.
        """
        content = b"" if body is None else json.dumps(body).encode()
        with self._change:
            return self._answer(Request(method, f"/v1{path}", f"Bearer {self.key}", content))

    def report_health(self, state: Literal["healthy", "unhealthy"]) -> None:
        """Let newt report the health of all targets that it checks."""
        with self._change:
            for row in self.store.targets.values():
                if row["hcEnabled"]:
                    row["hcHealth"] = state

    def die(self, reason: str) -> None:
        """Crash: cut all connections without an answer. The database stays."""
        if self._listener is not None and self.alive:
            self.deaths.append(reason)
            self._listener.kill()

    def restart(self) -> None:
        """Start again with the same database."""
        if self._listener is not None:
            self._listener.close()
        self._start()

    def _start(self) -> None:
        context: ssl.SSLContext | None = tls.context(self._work.path) if self.tls else None
        self._listener = Listener(self._port.number, self._handle, context)

    def _handle(self, request: Request) -> Answer | None:
        """Answer a request; None cuts the connection."""
        with self._flight:
            self.in_flight += 1
            self.most_at_once = max(self.most_at_once, self.in_flight)
        try:
            return self._respond(request, self._faults.of(request))
        finally:
            with self._flight:
                self.in_flight -= 1

    def _respond(self, request: Request, fault: Fault | None) -> Answer | None:
        if self.pace and not self._api.is_public(request):
            with self._argon2:
                time.sleep(self.pace)
                self.busy += self.pace
        with self._change:
            started = time.perf_counter()
            answer = self._answer(request) if fault is None or fault.effect else None
            if fault is not None:
                answer = fault.answer if fault.kind == "answer" else None
            entry = LogEntry(
                request.method, request.target, answer.status if answer else 0, request.body
            )
            self.log.append(entry)
            self.busy += time.perf_counter() - started
            if self.watch is not None:
                self.watch(Moment(entry, self.routes))
        if fault is not None:
            self._spoil(fault, request)
        return answer

    def _answer(self, request: Request) -> Answer:
        try:
            return self._api.answer(request)
        except Refusal as refusal:
            return refusal.answer

    def _spoil(self, fault: Fault, request: Request) -> None:
        match fault.kind:
            case "die":
                self.die(f"injected fault at {request.method} {request.path}")
            case "hang":
                self._over.wait(HANG)
            case _:
                pass


def _reach(routes: Sequence[Route], host: str, path: str, visitor: Visitor | None) -> Reach:
    matching = [route for route in routes if route.serves(host, path)]
    if not matching:
        return "nothing"
    first = max(matching, key=lambda route: (route.priority, len(route.rule)))
    # Two routers that are equal for Traefik: either may serve, so the more open one counts.
    equal = [r for r in matching if (r.priority, r.rule) == (first.priority, first.rule)]
    results = [route.reach(path, visitor or Visitor()) for route in equal]
    return max(results, key=_ORDER.__getitem__)
