"""Creates, updates and deletes resources of one organisation, safe at every point.

A caller needs this of the package: `connect`, and then `Client`, whose methods are safe to call
from many threads; four requests are in flight at most.

- `client.reader` lists sites, domains, roles, users and resources, and reads one resource deeply.
- `client.create(wanted)` publishes a host. It looks for the host first, in one list that all
  creates share. It takes over what a killed create of ours has left, and refuses the host of anyone
  else. Pangolin may answer a second create of a host with success, so nothing relies on its 409.
- `client.update(live, wanted)` sends what differs, in the order of `steps`. `live` comes from
  `client.reader.live`, or from what the caller remembers, which saves two requests.
- `client.delete(id)` unpublishes, and tolerates that the resource does not exist. `removing` looks
  besides that it is gone.

A create whose answer is lost is never sent again without a look: the client reads what Pangolin
has and decides again. After any failure, what Pangolin has is closed rather than open, and the next
call continues from there.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import MalformedError
from pic.pangolin_api import answers, naming, parse, reading, steps
from pic.pangolin_api.connection import Timeouts, api_key, open_connection
from pic.pangolin_api.errors import ConflictError, GoneError, UnfinishedError, is_passing
from pic.pangolin_api.model import ListedResource, Live, Wanted
from pic.pangolin_api.openapi import Dialect
from pic.pangolin_api.reading import Reader
from pic.pangolin_api.steps import Step, Steps

ATTEMPTS = 3
_POLL = 1.0  # seconds between two looks at the health of a target


@dataclass(frozen=True, slots=True)
class Server:
    """Where the Integration API is.

    Attributes:
        url: The base URL of the Integration API.
        org: The id of the organisation.
        ca: A PEM file with the authority of its certificate; empty uses those of this machine.
    """

    url: str
    org: str
    ca: str = ""


def connect(
    server: Server,
    environment: Mapping[str, str],
    timeouts: Timeouts | None = None,
    dialect: Dialect | None = None,
) -> "Client":
    """Connect to an organisation.

    Args:
        server: Where it is.
        environment: Holds the key.
        timeouts: Apply to every request.
        dialect: What the server can do, if the caller remembers it; None asks the server.

    Raises:
        PangolinError: The key is malformed, or the server is unreachable, no Pangolin or too old.
    """
    timeouts = timeouts or Timeouts()
    connection = open_connection(server.url, api_key(environment), timeouts, server.ca)
    dialect = dialect or reading.dialect(connection)
    return Client(Reader(connection, dialect, server.org))


class Catalogue:
    """The resources that the organisation had, by one list that many callers share.

    A list that failed is not tried again: each of many hosts would wait as long for the same error.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._lock = Lock()
        self._rows: dict[int, ListedResource] | None = None
        self._hosts: set[str] = set()
        self._failure: PangolinError | None = None

    def may_have(self, host: str) -> bool:
        """Say whether a host had a resource when the list was read, or has been added since."""
        with self._lock:
            self._listed()
            return host in self._hosts

    def add(self, host: str) -> None:
        """Note that a host has a resource now, or may have."""
        with self._lock:
            self._hosts.add(host)

    def row(self, resource: int) -> ListedResource | None:
        """Return a resource as the list had it; None if it did not have it."""
        with self._lock:
            return self._listed().get(resource)

    def _listed(self) -> dict[int, ListedResource]:
        if self._failure:
            raise self._failure
        if self._rows is None:
            try:
                self._rows = {row.id: row for row in self._reader.resources()}
            except PangolinError as error:
                self._failure = error
                raise
            self._hosts |= {row.host for row in self._rows.values()}
        return self._rows


@dataclass(slots=True)
class Client:
    """Writes to one organisation.

    Attributes:
        reader: Reads it.
        sleep: Waits between attempts.
    """

    reader: Reader
    sleep: Callable[[float], None] = time.sleep
    catalogue: Catalogue = field(init=False)

    def __post_init__(self) -> None:
        self.catalogue = Catalogue(self.reader)

    def create(self, wanted: Wanted) -> int:
        """Publish a host, and return the id of its resource.

        Raises:
            ConflictError: A resource that is not ours has the host.
            UnfinishedError: The host has a resource of ours, which is not yet as wanted.
            PangolinError: The host is not published.
        """
        _refuse(wanted)
        is_listed = self.catalogue.may_have(wanted.host)
        self.catalogue.add(wanted.host)
        rows = self.reader.at(wanted.host) if is_listed else ()
        attempt = 0
        while not rows:
            try:
                live = self._create(wanted)
            except PangolinError as error:
                attempt += 1
                rows = self._after_failure(error, wanted, attempt)
            else:
                return self._finish(live, wanted)
        return self._take_over(rows, wanted)

    def _after_failure(
        self, error: PangolinError, wanted: Wanted, attempt: int
    ) -> tuple[ListedResource, ...]:
        """Look what a failed create has left; none means that it may be sent again."""
        is_taken = isinstance(error, ConflictError)
        if not is_taken and not is_passing(error):
            raise error
        self._pause(error, attempt)
        rows = self.reader.at(wanted.host)
        if not rows and is_taken:
            raise ConflictError(
                f"host {wanted.host}: {error}. No resource of this organisation has it, so another"
                " organisation, a wildcard or the dashboard has it",
                kind=FailureClass.INVALID,
            ) from error
        if not rows and attempt == ATTEMPTS:
            raise error
        return rows

    def update(self, live: Live, wanted: Wanted) -> None:
        """Make a live resource the wanted one; send nothing if nothing differs.

        Raises:
            GoneError: Pangolin does not have the resource.
            UnfinishedError: The resource is not as wanted, but perhaps changed.
            PangolinError: Nothing was sent.
        """
        _refuse(wanted)
        self._finish(live, wanted)

    def delete(self, resource: int) -> None:
        """Unpublish a host: delete its resource with all that belongs to it, if it exists.

        Raises:
            PangolinError: The resource still exists, as far as pic knows.
        """
        try:
            self.reader.request("DELETE", self.reader.path(resource), "deleteResource")
        except GoneError:
            return

    def _create(self, wanted: Wanted) -> Live:
        path = f"{self.reader.org_path}/{self.reader.dialect.word}"
        fields = self.reader.dialect.create
        kind = {"mode": "http"} if "mode" in fields else {"http": True, "protocol": "tcp"}
        place = {"domainId": wanted.domain_id, "subdomain": wanted.subdomain}
        body = {"name": wanted.host, **place, **kind}
        row = self.reader.request("PUT", path, "createResource", body)
        try:
            live = parse.live(row)
        except MalformedError as error:
            raise answers.broken(f"PUT {path}", str(error)) from error
        if live.host != wanted.host:
            # Nothing is public yet, so it can go without a trace.
            self.delete(live.id)
            raise PangolinError(
                f"Pangolin made {live.host} of the host {wanted.host}: check the base domain",
                kind=FailureClass.INVALID,
            )
        return live

    def _take_over(self, rows: tuple[ListedResource, ...], wanted: Wanted) -> int:
        """Take over the resource of a host, if it is ours."""
        ours = [row for row in rows if naming.is_ours(row, wanted.nice_id)]
        others = [row for row in rows if row not in ours]
        if others:
            names = ", ".join(sorted(f"{row.nice_id} ({row.name})" for row in others))
            raise ConflictError(
                f"host {wanted.host}: another resource of Pangolin has it, {names}. Delete that"
                " resource in the dashboard, or let pic take it over",
                kind=FailureClass.INVALID,
            )
        # The one with our marker counts; otherwise the oldest.
        first = min(ours, key=lambda row: (row.nice_id != wanted.nice_id, row.id))
        live = self.reader.live(first.id, wanted)
        if live is None:
            raise PangolinError(f"host {wanted.host}: its resource was deleted meanwhile")
        self._finish(live, wanted)
        for row in ours:
            if row.id != first.id:
                self.delete(row.id)
        return first.id

    def _finish(self, live: Live, wanted: Wanted) -> int:
        try:
            self._bring_about(live, wanted)
        except GoneError:
            raise
        except PangolinError as error:
            raise UnfinishedError(live.id, error) from error
        return live.id

    def _bring_about(self, live: Live, wanted: Wanted) -> None:
        attempt = 0
        while True:
            try:
                return self._send(live.id, steps.plan(live, wanted, self.reader.dialect))
            except PangolinError as error:
                attempt += 1
                if attempt == ATTEMPTS or not is_passing(error):
                    raise
                self._pause(error, attempt)
            live = self._look(live.id, wanted)

    def _look(self, resource: int, wanted: Wanted) -> Live:
        live = self.reader.live(resource, wanted)
        if live is None:
            raise GoneError(
                f"host {wanted.host}: its resource {resource} was deleted meanwhile",
                kind=FailureClass.TEMPORARY,
            )
        return live

    def _send(self, resource: int, change: Steps) -> None:
        for step in (*change.tighten, *change.new):
            self._step(resource, step)
        if change.wait_for_health:
            self._wait_for_health(resource, {step.path for step in change.old})
        for step in (*change.old, *change.loosen):
            self._step(resource, step)

    def _step(self, resource: int, step: Step) -> None:
        is_target = step.path.startswith("/target/")
        path = step.path if is_target else f"{self.reader.path(resource)}{step.path}"
        try:
            self.reader.request(step.method, path, step.action, step.body)
        except GoneError:
            # A retry of a delete whose answer was lost, or someone else was faster.
            if step.method != "DELETE":
                raise

    def _wait_for_health(self, resource: int, old: set[str]) -> None:
        """Wait until the new targets are in the pool, because the old ones are about to go."""
        waited = 0.0
        while True:
            live = self.reader.live(resource)
            targets = live.targets if live else ()
            rows = [row.fields for row in targets if f"/target/{row.id}" not in old]
            if all(row.get("hcHealth") != "unhealthy" for row in rows if row.get("hcEnabled")):
                return
            if waited >= self.reader.connection.timeouts.health:
                raise PangolinError(
                    f"a new target is not healthy after {waited:g} s, so the old one stays; check"
                    " the path of its health check",
                    kind=FailureClass.INVALID,
                )
            self.sleep(_POLL)
            waited += _POLL

    def _pause(self, error: PangolinError, attempt: int) -> None:
        timeouts = self.reader.connection.timeouts
        after = error.retry_after
        backoff = timeouts.backoff * 2 ** (attempt - 1)
        self.sleep(backoff if after is None else min(float(after), timeouts.retry_after))


def _refuse(wanted: Wanted) -> None:
    problems = steps.problems(wanted)
    if problems:
        raise PangolinError(f"host {wanted.host}: {'; '.join(problems)}", kind=FailureClass.INVALID)
