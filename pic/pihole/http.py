"""Sends HTTP requests to Pi-hole: one at a time, each on a connection of its own.

Pi-hole can crash if a request arrives while it writes. On a kept connection, each request takes 40
ms longer. The client uses no proxy and follows no redirect, because both would show the password to
another host. No error message contains a header or a body of a request.
"""

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pic.core.errors import FailureClass, PiholeError
from pic.core.json_values import Raw

# Bytes of an answer. It is far more than a list of records needs, and keeps a server that is not a
# Pi-hole from filling the memory.
LARGEST_ANSWER = 16 * 1024 * 1024
_LONGEST_QUOTE = 200  # characters of an answer in a message

# One lock for all clients of this process, because two requests at once can crash Pi-hole.
_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Trust:
    """Which certificates the client accepts.

    Attributes:
        ca: A PEM file with the certificate of an authority or of Pi-hole itself; empty uses the
            authorities of this machine.
        server_name: The name in the certificate; empty uses the host of the URL.
        insecure: Whether to accept any certificate.
    """

    ca: str = ""
    server_name: str = ""
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """How long to wait, in seconds.

    Attributes:
        connect: For a connection.
        read: For each part of an answer.
        total: For a whole answer.
    """

    connect: float = 5.0
    read: float = 30.0
    total: float = 60.0


@dataclass(frozen=True, slots=True)
class Response:
    """An answer of Pi-hole.

    Attributes:
        data: The body if it is a JSON object, else empty.
        text: The beginning of any other body.
    """

    status: int
    data: Raw = field(default_factory=dict)
    text: str = ""


def normalise(url: str) -> str:
    """Return the base URL of a Pi-hole, without a path that a user copied from a browser.

    Args:
        url: A valid http or https URL, which may end with `/admin`, `/api` or `/admin/api`.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for ending in ("/api", "/admin"):
        path = path.removesuffix(ending).rstrip("/")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    # Two spellings of one URL must become equal, because the lock file is named after the URL.
    default_port = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in (None, default_port) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{path}"


def encode(body: object) -> bytes:
    """Return the bytes of a body as they are sent: ASCII JSON without spaces."""
    return json.dumps(body, separators=(",", ":")).encode()


class Client:
    """Sends requests to one Pi-hole.

    Attributes:
        url: The normalised URL.
        settled: Whether the last request got its answer. If not, Pi-hole may still work on it.
    """

    def __init__(
        self, url: str, trust: Trust | None = None, timeouts: HttpTimeouts | None = None
    ) -> None:
        """Prepare requests; send nothing.

        Raises:
            PiholeError: The certificate file is not readable.
        """
        self.url = normalise(url)
        self.settled = True
        self._parts = urlsplit(self.url)
        self._trust = trust or Trust()
        self._timeouts = timeouts or HttpTimeouts()
        self._tls = _context(self._trust) if self._parts.scheme == "https" else None

    def send(
        self,
        method: str,
        path: str,
        body: Raw | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Wait for other requests of this process, then send one and return its answer.

        Args:
            method: The HTTP method.
            path: The percent-encoded path below the URL.
            body: Sent as JSON.
            headers: Additional headers: Latin-1 without line breaks.

        Returns:
            An answer of any status.

        Raises:
            PiholeError: There is no answer, or it is a redirect.
        """
        with _one_at_a_time:
            self.settled = False
            try:
                answer = self._exchange(method, path, body, headers or {})
            except (OSError, http.client.HTTPException) as error:
                raise self._unanswered(error) from error
            self.settled = True
            return answer

    def _exchange(
        self, method: str, path: str, body: Raw | None, headers: Mapping[str, str]
    ) -> Response:
        connection = self._connection()
        try:
            # http.client has one timeout for the connection and the answer, so this sets it twice.
            connection.connect()
            connection.sock.settimeout(self._timeouts.read)
            with _time_limit(self._timeouts.total, connection.sock):
                connection.request(
                    method,
                    f"{self._parts.path}{path}",
                    None if body is None else encode(body),
                    {**_HEADERS, **headers},
                )
                return self._receive(connection.getresponse())
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=self._timeouts.connect)
        name = self._trust.server_name or host
        return _TlsConnection(host, port, self._timeouts.connect, (self._tls, name))

    def _receive(self, response: http.client.HTTPResponse) -> Response:
        content = response.read(LARGEST_ANSWER)
        # A limited read does not raise an error when the connection ends too early.
        if response.length:
            raise http.client.IncompleteRead(content[:0], response.length)
        if 300 <= response.status < 400:
            location = (response.getheader("Location") or "nowhere")[:_LONGEST_QUOTE]
            raise PiholeError(
                f"{self.url} redirects to {location}: set pic:piholeUrl to the URL of Pi-hole"
                " itself",
                kind=FailureClass.INVALID,
            )
        return _answer(response.status, content)

    def _unanswered(self, error: Exception) -> PiholeError:
        # The most specific class comes first: most of these are subclasses of OSError.
        match error:
            case ssl.SSLCertVerificationError():
                return self._untrusted(error)
            case ssl.SSLEOFError() | ConnectionResetError():
                problem = "Pi-hole closed the connection without an answer"
                advice = self._closed
            case ssl.SSLError():
                problem = f"the TLS handshake failed ({error.reason or error})"
                advice = "check whether pic:piholeUrl must begin with http:// instead"
            case TimeoutError():
                problem = str(error) if isinstance(error, _LateError) else self._silence
                advice = "Pi-hole may be busy or stuck: check its web interface"
            case OSError():
                problem = error.strerror or str(error) or type(error).__name__
                advice = "check that Pi-hole runs, and check pic:piholeUrl"
            case _:
                problem = f"the answer is broken ({type(error).__name__})"
                advice = "check that pic:piholeUrl is the URL of a Pi-hole"
        return PiholeError(f"no answer from {self.url}: {problem}; {advice}")

    @property
    def _closed(self) -> str:
        advice = "check that webserver.acl of Pi-hole allows this machine, and that Pi-hole runs"
        if self._tls is None:
            advice += "; if its port is one for https, pic:piholeUrl must begin with https://"
        return advice

    @property
    def _silence(self) -> str:
        return f"no data within {self._timeouts.read:g} s"

    def _untrusted(self, error: ssl.SSLCertVerificationError) -> PiholeError:
        name = self._trust.server_name or self._parts.hostname
        reason = error.verify_message.rstrip(".")
        return PiholeError(
            f"pic does not accept the certificate of {self.url}: {reason}."
            f" {certificate_remedy(error.verify_code, name)}",
            kind=FailureClass.AUTH,
        )


class _LateError(TimeoutError):
    """An answer that was not complete in time."""


@contextlib.contextmanager
def _time_limit(seconds: float, connected: socket.socket) -> Iterator[None]:
    """Cut off a connection that is still busy after some seconds.

    The timeout of a socket restarts with each part of an answer, so an answer that drips in slowly
    would never time out.

    Raises:
        TimeoutError: The connection was cut off.
    """
    late = threading.Event()

    def cut_off() -> None:
        late.set()
        with contextlib.suppress(OSError):
            # Not the method of the TLS socket, because the other thread may be using its TLS state.
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut_off)
    timer.daemon = True
    timer.start()
    message = f"no complete answer within {seconds:g} s"
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        if late.is_set():
            raise _LateError(message) from error
        raise
    finally:
        timer.cancel()
    # Without a Content-Length, a cut connection looks like the end of the answer.
    if late.is_set():
        raise _LateError(message)


class _TlsConnection(http.client.HTTPConnection):
    """A TLS connection; the name in the certificate may differ from the host of the URL."""

    default_port = http.client.HTTPS_PORT

    def __init__(
        self, host: str, port: int | None, timeout: float, tls: tuple[ssl.SSLContext, str]
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._tls, self._name = tls

    def connect(self) -> None:
        super().connect()
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


_HEADERS = {
    "Accept": "application/json",
    "Connection": "close",
    "Content-Type": "application/json",
    "User-Agent": "pic",
}
# OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH, IP_ADDRESS_MISMATCH and CERT_HAS_EXPIRED.
_OTHER_NAME = (62, 64)
_EXPIRED = 10


def _context(trust: Trust) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=trust.ca or None)
    except OSError as error:
        raise PiholeError(
            f"pic:piholeCa is {trust.ca!r}: {error.strerror or error}; set it to a PEM file of"
            " certificates",
            kind=FailureClass.INVALID,
        ) from error
    # The file may hold the certificate of Pi-hole itself instead of an authority's. That
    # certificate lacks extensions that Python requires by default since version 3.13.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if trust.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def certificate_remedy(code: int, name: str | None) -> str:
    """Return the remedy for a certificate that the client does not accept.

    Args:
        code: The problem, as a number of OpenSSL.
        name: The name that the certificate should have.
    """
    if code in _OTHER_NAME:
        return (
            f"It is not valid for {name}. The certificate that Pi-hole generates is only valid for"
            " the name pi.hole, and for no address: set pic:piholeServerName to its name"
        )
    if code == _EXPIRED:
        return "Renew it; Pi-hole generates a new one when it restarts"
    return (
        "Set pic:piholeCa to a file with the certificate of its issuer. For the certificate that"
        " Pi-hole generates, that is its /etc/pihole/tls_ca.crt, which changes with each renewal,"
        " every 45 days. A certificate of your own lasts longer. pic:piholeInsecure accepts any"
        " certificate"
    )


def _answer(status: int, content: bytes) -> Response:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return Response(status, data)
    return Response(status, text=content[:_LONGEST_QUOTE].decode(errors="replace").strip())
