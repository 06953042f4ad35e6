"""Connects to a Kubernetes API server, sends requests to it, and streams watches from it.

Answers are decoded JSON, without a client library: a run needs five verbs of the API, and the
official client takes more memory than everything else in a watcher.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Protocol

import urllib3

from pic.cluster import endpoint
from pic.cluster.access import SERVICE_ACCOUNT, ClusterAccess, resolve
from pic.cluster.pinned import no_access_error
from pic.core.errors import ClusterError
from pic.core.json_values import Raw, text
from pic.core.register import timestamp
from pic.settings.parse import Settings

CHUNK = 64 * 1024  # bytes of a watch to read at once, at most


class StatusError(Exception):
    """An answer of the API server with an error status; the text is the server's own message.

    Attributes:
        status: The HTTP status.
        namespace_gone: Whether the reason is that the namespace is being deleted or does not exist.
    """

    def __init__(self, status: int, reason: str, *, namespace_gone: bool = False) -> None:
        self.status = status
        self.namespace_gone = namespace_gone
        super().__init__(reason)


class Transport(Protocol):
    """Sends requests to the API server."""

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path.

        Raises:
            StatusError: The API server answered with an error status.
            ClusterError: No answer arrived, or only a part of one.
        """

    def now(self) -> str:
        """Return the time of the API server in RFC 3339, as its last answer gave it."""

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer.

        Args:
            method: An HTTP method. PATCH sends a merge patch; APPLY is a server-side apply, which
                is a PATCH with another content type.
            path: The path and the query, without the server.
            body: JSON; None sends no body.

        Raises:
            StatusError: The API server answered with an error status.
            ClusterError: No answer arrived, or only a part of one.
        """


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait for an API server, in seconds, and how often to retry.

    Attributes:
        connect: Until a connection is open.
        read: Until the next byte of an answer arrives.
        retry_after: The longest `Retry-After` to honour.
        backoff: The wait before the second retry; each further retry doubles it.
        retries: The number of retries of one request.
    """

    connect: float = 5.0
    read: float = 60.0
    retry_after: int = 10
    backoff: float = 0.4
    retries: int = 3


TIMEOUTS = Timeouts()


@dataclass(slots=True)
class Credentials:
    """The credentials that each request carries.

    Attributes:
        header: The value of the Authorization header; empty sends no header.
        renew: Reads the header again from its source, such as a rotated token file.
    """

    header: str
    renew: Callable[[], str]

    def refresh(self) -> bool:
        """Renew the header after the API server rejected it, and say whether it changed."""
        before, self.header = self.header, self.renew()
        return self.header != before


@dataclass(slots=True)
class ServerClock:
    """Tells the time of the API server, from the `Date` of its answers.

    The clock of this machine may be wrong. What the register remembers must not expire for that.

    Attributes:
        ahead: How far the server's clock is ahead of the local one.
    """

    ahead: timedelta = timedelta()

    def set(self, date: str | None) -> None:
        """Set the clock from the header of an answer, if it has one."""
        with suppress(TypeError, ValueError):
            self.ahead = parsedate_to_datetime(date or "") - datetime.now(UTC)

    def now(self) -> str:
        """Return the time in RFC 3339."""
        return timestamp(datetime.now(UTC) + self.ahead)


@dataclass(frozen=True, slots=True)
class ApiTransport:
    """Sends requests through a pool of connections."""

    pool: urllib3.PoolManager
    server: str
    timeouts: Timeouts
    credentials: Credentials
    clock: ServerClock = field(default_factory=ServerClock)

    def now(self) -> str:
        """Return the time of the API server, as `Transport.now` does."""
        return self.clock.now()

    def get(self, path: str) -> object:
        """Return the decoded JSON of a path, as `Transport.get` does."""
        return self.request("GET", path, None)

    def request(self, method: str, path: str, body: object) -> object:
        """Send a body to a path and return the decoded JSON of the answer."""
        answer = self._send(method, path, body)
        # The tokens of service accounts and of exec plugins expire while a watcher runs. Kubernetes
        # renews the file of a service account, and an exec plugin returns a new token.
        if answer.status == 401 and self.credentials.refresh():
            answer = self._send(method, path, body)
        self.clock.set(answer.headers.get("Date"))
        return _decode(answer.status, answer.data, f"{self.server}{path}")

    def _send(self, method: str, path: str, body: object) -> urllib3.BaseHTTPResponse:
        with _network_errors(self.server):
            return self.pool.request(
                "PATCH" if method == "APPLY" else method,
                f"{self.server}{path}",
                body=None if body is None else json.dumps(body).encode(),
                headers={"Accept": "application/json", **_content(method), **self._credentials()},
                timeout=urllib3.Timeout(connect=self.timeouts.connect, read=self.timeouts.read),
            )

    def stream(self, path: str, silence: float) -> "Stream":
        """Request an answer that arrives line by line, such as a watch.

        Args:
            path: The path and the query, without the server.
            silence: The number of seconds without a byte after which the connection is broken.

        Raises:
            StatusError: The API server answered with an error status.
            ClusterError: No answer arrived.
        """
        with _network_errors(self.server):
            # A watch has no end to wait for, and its caller decides when to try again.
            answer = self.pool.request(
                "GET",
                f"{self.server}{path}",
                headers={"Accept": "application/json", **self._credentials()},
                timeout=urllib3.Timeout(connect=self.timeouts.connect, read=silence),
                preload_content=False,
                retries=False,
            )
            if answer.status >= 400:
                _decode(answer.status, answer.read(), f"{self.server}{path}")
        return Stream(answer, self.server)

    def _credentials(self) -> dict[str, str]:
        header = self.credentials.header
        return {"Authorization": header} if header else {}


class Stream:
    """An answer that stays open; each line is one JSON object."""

    def __init__(self, answer: urllib3.BaseHTTPResponse, server: str) -> None:
        self._answer = answer
        self._server = server

    def __iter__(self) -> Iterator[object]:
        """Yield each line decoded, as soon as it arrives; drop a last line that is incomplete.

        Raises:
            ClusterError: The connection broke, or a line is not JSON.
        """
        rest = b""
        while chunk := self._chunk():
            *lines, rest = (rest + chunk).split(b"\n")
            yield from (_decode(200, line, self._server) for line in lines)

    def _chunk(self) -> bytes:
        # Unlike `read`, `read1` returns as soon as any bytes are available.
        with _network_errors(self._server):
            return self._answer.read1(CHUNK)

    def stop(self) -> None:
        """End the stream; another thread may be waiting for its next line."""
        # `close` would not wake up that thread.
        try:
            self._answer.shutdown()
        except (ValueError, RuntimeError, OSError):
            # The stream has ended already, or the connection is closed.
            return

    def close(self) -> None:
        """Close the connection, which cannot be reused in the middle of an answer."""
        self._answer.close()


@contextmanager
def _network_errors(server: str) -> Iterator[None]:
    """Turn each network error into a ClusterError that names the server."""
    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        # When all retries have failed, urllib3 wraps the last error.
        cause = getattr(error, "reason", None) or error
        raise ClusterError(
            f"no answer from {server}: {cause}. Check the network, KUBECONFIG and pic:context"
        ) from error


def _content(method: str) -> dict[str, str]:
    # Every kind accepts a merge patch, but custom resources reject a strategic one. The media type
    # of an apply is YAML, and JSON is YAML too.
    media_type = {"PATCH": "merge-patch+json", "APPLY": "apply-patch+yaml"}.get(method, "json")
    return {} if method == "GET" else {"Content-Type": f"application/{media_type}"}


def _decode(status: int, data: bytes, url: str) -> object:
    """Return the JSON of an answer.

    Raises:
        StatusError: The status is an error, with or without JSON.
        ClusterError: The answer is a success without JSON, as a captive portal sends it.
    """
    try:
        answer = json.loads(data)
    except ValueError as error:
        if status < 400:
            raise ClusterError(f"{url} answered with something that is not JSON") from error
        answer = {}
    if status >= 400:
        body = answer if isinstance(answer, dict) else {}
        reason = text(body.get("message")) or "no reason given"
        raise StatusError(status, reason, namespace_gone=_is_namespace_gone(status, body))
    return answer


def _is_namespace_gone(status: int, body: Raw) -> bool:
    match body.get("details"):
        case {"kind": "namespaces"}:
            return status == 404
        case {"causes": [{"reason": "NamespaceTerminating"}, *_]}:
            return True
        case _:
            return False


def connect(
    settings: Settings,
    environment: Mapping[str, str],
    timeouts: Timeouts = TIMEOUTS,
    *,
    service_account: Path = SERVICE_ACCOUNT,
) -> ApiTransport:
    """Connect to the cluster that kubectl would use, as `access.resolve` finds it.

    Args:
        settings: Name the kubeconfig and the context.
        environment: Holds KUBECONFIG, or the address of the API server in a pod.
        timeouts: Apply to every request.
        service_account: The folder with the files of a pod's service account.

    Raises:
        ClusterError: The configuration is missing or unusable.
    """
    return connect_to(resolve(settings, environment, service_account=service_account), timeouts)


def connect_to(cluster: ClusterAccess, timeouts: Timeouts = TIMEOUTS) -> ApiTransport:
    """Connect to the cluster of a run.

    Raises:
        ClusterError: The configuration is unusable.
    """
    access = cluster.first()
    retries = urllib3.Retry(
        total=timeouts.retries,
        # urllib3 does not wait before the first retry, and waits twice the factor before the next.
        backoff_factor=timeouts.backoff / 2,
        retry_after_max=timeouts.retry_after,
        # The API server answers 429 with Retry-After when it limits the rate of requests.
        status_forcelist=(429, 500, 502, 503, 504),
        # The API server may have done a write although its answer was lost.
        allowed_methods={"GET"},
        # After the last retry, the caller gets the answer with the message of the API server.
        raise_on_status=False,
    )
    try:
        pool = endpoint.connection_pool(access, retries)
    except OSError as error:
        raise no_access_error(str(error)) from error
    except (ValueError, urllib3.exceptions.HTTPError) as error:
        # The text of the error has the whole URL, and so a password in it.
        raise no_access_error("the URL of the server or of its proxy is malformed") from error
    credentials = Credentials(access.authorization, lambda: cluster.renewed().authorization)
    return ApiTransport(pool, access.server, timeouts, credentials)
