"""The connection to an API server: how it is found, asked, and listened to."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import urllib3

from pic.cluster import endpoint, kubeconfig
from pic.cluster.endpoint import Access
from pic.cluster.kubeconfig import no_access_error
from pic.core.errors import ClusterError
from pic.core.json_values import text
from pic.settings.parse import Settings

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
CHUNK = 64 * 1024


class StatusError(Exception):
    """The API server's own no.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


class Transport(Protocol):
    """Asks the API server."""

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path.

        Raises:
            StatusError: The API server said no.
            ClusterError: There was no answer, or not a whole one.
        """

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer, or raise as `get`.

        The method APPLY is a PATCH by server-side apply; a PATCH is a merge patch.
        """


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How many seconds an API server may take.

    Attributes:
        retry_after: The longest wait that it may ask for.
        backoff: The wait before a second retry; each further one doubles it.
        retries: How often a question is asked again.
    """

    connect: float = 5.0
    read: float = 60.0
    retry_after: int = 10
    backoff: float = 0.4
    retries: int = 3


TIMEOUTS = Timeouts()


@dataclass(slots=True)
class Credentials:
    """What is sent to prove who asks.

    Attributes:
        header: The Authorization header; empty sends none.
        renew: Finds it anew.
    """

    header: str
    renew: Callable[[], str]

    def refresh(self) -> bool:
        """Find it anew, after it was not accepted, and say whether it is another one."""
        before, self.header = self.header, self.renew()
        return self.header != before


@dataclass(frozen=True, slots=True)
class ApiTransport:
    """A pool of connections, with JSON as it comes."""

    pool: urllib3.PoolManager
    server: str
    timeouts: Timeouts
    credentials: Credentials

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path."""
        return self.request("GET", path, None)

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer."""
        answer = self._send(method, path, body)
        if answer.status == 401 and self.credentials.refresh():
            answer = self._send(method, path, body)
        return _decoded(answer.status, answer.data, f"{self.server}{path}")

    def _send(self, method: str, path: str, body: object) -> urllib3.BaseHTTPResponse:
        with _answered_by(self.server):
            return self.pool.request(
                "PATCH" if method == "APPLY" else method,
                f"{self.server}{path}",
                body=None if body is None else json.dumps(body).encode(),
                headers={"Accept": "application/json", **_content(method), **self._credentials()},
                timeout=urllib3.Timeout(connect=self.timeouts.connect, read=self.timeouts.read),
            )

    def stream(self, path: str, silence: float) -> "Stream":
        """Ask for an answer that comes line by line, such as a watch.

        Args:
            path: Where.
            silence: After how many seconds without a byte the connection counts as broken.

        Raises:
            StatusError: The API server said no.
            ClusterError: There was no answer.
        """
        with _answered_by(self.server):
            answer = self.pool.request(
                "GET",
                f"{self.server}{path}",
                headers={"Accept": "application/json", **self._credentials()},
                timeout=urllib3.Timeout(connect=self.timeouts.connect, read=silence),
                preload_content=False,
                retries=False,
            )
            if answer.status >= 400:
                _decoded(answer.status, answer.read(), f"{self.server}{path}")
        return Stream(answer, self.server)

    def _credentials(self) -> dict[str, str]:
        header = self.credentials.header
        return {"Authorization": header} if header else {}


class Stream:
    """An answer without an end of its own, each line of it an object."""

    def __init__(self, answer: urllib3.BaseHTTPResponse, server: str) -> None:
        self._answer = answer
        self._server = server

    def __iter__(self) -> Iterator[object]:
        """Yield each line decoded, as it comes; what breaks off within a line is left out.

        Raises:
            ClusterError: The connection broke, or a line is not JSON.
        """
        rest = b""
        while chunk := self._chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (_decoded(200, line, self._server) for line in lines)

    def _chunk(self) -> bytes:
        with _answered_by(self._server):
            return self._answer.read1(CHUNK)

    def stop(self) -> None:
        """End it, from another thread as well, where one waits for the next line."""
        try:
            self._answer.shutdown()
        except (ValueError, RuntimeError, OSError):
            # It has ended, or its connection is gone.
            return

    def close(self) -> None:
        """Give up the connection, which cannot be used again."""
        self._answer.close()


@contextmanager
def _answered_by(server: str) -> Iterator[None]:
    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        cause = getattr(error, "reason", None) or error
        raise ClusterError(
            f"no answer from {server}: {cause}. Check the network, KUBECONFIG and pic:context"
        ) from error


def _content(method: str) -> dict[str, str]:
    # A merge patch is what every kind understands, and all JSON is YAML.
    kind = {"PATCH": "merge-patch+json", "APPLY": "apply-patch+yaml"}.get(method, "json")
    return {} if method == "GET" else {"Content-Type": f"application/{kind}"}


def _decoded(status: int, data: bytes, where: str) -> object:
    try:
        found = json.loads(data)
    except ValueError as error:
        if status < 400:
            raise ClusterError(f"{where} answered with something that is not JSON") from error
        found = {}
    if status >= 400:
        raw = found if isinstance(found, dict) else {}
        raise StatusError(status, text(raw.get("message")) or "no reason given")
    return found


def connect(
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: Timeouts = TIMEOUTS,
    *,
    in_subprocess: bool = False,
) -> ApiTransport:
    """Connect as kubectl would: pic:kubeconfig, KUBECONFIG or in the cluster; then pic:context.

    Args:
        settings: Name a kubeconfig and a context.
        environment: That of this process.
        timeouts: With the API server.
        in_subprocess: A kubeconfig is read by a process of its own, which saves this one memory.

    Raises:
        ClusterError: There is no usable configuration.
    """
    way = _way(settings, environment, in_subprocess=in_subprocess)
    found = way()
    retries = urllib3.Retry(
        total=timeouts.retries,
        backoff_factor=timeouts.backoff / 2,
        retry_after_max=timeouts.retry_after,
        status_forcelist=(429, 500, 502, 503, 504),
        allowed_methods={"GET"},
        raise_on_status=False,
    )
    try:
        pool = endpoint.connection_pool(found, retries)
    except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
        raise no_access_error(str(error)) from error
    credentials = Credentials(found.authorization, lambda: way().authorization)
    return ApiTransport(pool, found.server, timeouts, credentials)


def _way(
    settings: Settings, environment: Mapping[str, str], *, in_subprocess: bool
) -> Callable[[], Access]:
    paths = settings.kubeconfig or environment.get("KUBECONFIG") or ""
    if not paths and not settings.context and environment.get("KUBERNETES_SERVICE_HOST"):
        return lambda: _of_pod(environment)
    if in_subprocess:
        return lambda: kubeconfig.read_in_subprocess(paths, settings.context, environment)
    return lambda: kubeconfig.to_access(kubeconfig.load_configuration(paths, settings.context))


def _of_pod(environment: Mapping[str, str]) -> Access:
    try:
        return endpoint.in_cluster(environment, SERVICE_ACCOUNT)
    except (OSError, ValueError, KeyError) as error:
        raise no_access_error(str(error)) from error
