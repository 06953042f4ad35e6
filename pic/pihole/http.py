"""The one door to Pi-hole: one HTTP request at a time, each on a connection of its own.

Pi-hole dies of requests that come while it writes, and on a connection that is kept a request takes
40 ms longer. Proxies are never used, redirects never followed: both would show the password to
somebody else. No error has a header or a body of a request in it.
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

LARGEST = 16 * 1024 * 1024  # bytes of an answer
_SHOWN = 200  # characters of what Pi-hole says

_one_at_a_time = threading.Lock()


@dataclass(frozen=True, slots=True)
class Trust:
    """When a Pi-hole that speaks TLS is believed.

    Attributes:
        ca: A file of certificates in PEM, of an authority or of Pi-hole itself; empty takes the
            authorities of this machine.
        server_name: The name in the certificate; empty is the one in the URL.
        insecure: Any certificate will do.
    """

    ca: str = ""
    server_name: str = ""
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class HttpTimeouts:
    """How long to wait, in seconds: for a connection, each part of an answer, and all of it."""

    connect: float = 5.0
    read: float = 30.0
    whole: float = 60.0


@dataclass(frozen=True, slots=True)
class Response:
    """What Pi-hole answered.

    Attributes:
        data: The body, if it is a JSON object; else nothing.
        text: The beginning of a body that is something else.
    """

    status: int
    data: Raw = field(default_factory=dict)
    text: str = ""


def normalised(url: str) -> str:
    """Return where the interfaces of a Pi-hole are: what people copy from a browser is taken off.

    Args:
        url: A checked http or https URL, perhaps with `/admin`, `/api` or `/admin/api` at its end.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for ending in ("/api", "/admin"):
        path = path.removesuffix(ending).rstrip("/")
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    port = "" if parts.port in (None, usual) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{path}"


def encoded(body: object) -> bytes:
    """Return a body as it is sent: JSON in ASCII, without spaces."""
    return json.dumps(body, separators=(",", ":")).encode()


class Client:
    """Sends requests to one Pi-hole.

    Attributes:
        url: Where it is, normalised.
        settled: The last request got its answer; if not, Pi-hole may still be busy with it.
    """

    def __init__(
        self, url: str, trust: Trust | None = None, patience: HttpTimeouts | None = None
    ) -> None:
        """Prepare; nothing is sent.

        Raises:
            PiholeError: The file of certificates cannot be read.
        """
        self.url = normalised(url)
        self.settled = True
        self._parts = urlsplit(self.url)
        self._trust = trust or Trust()
        self._patience = patience or HttpTimeouts()
        self._tls = _context(self._trust) if self._parts.scheme == "https" else None

    def send(
        self,
        method: str,
        path: str,
        body: Raw | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """Send a request, wait for its turn first, and return the answer whatever its status.

        Args:
            method: Such as GET.
            path: Below the URL, percent-encoded.
            body: Becomes JSON.
            headers: Latin-1 without line breaks.

        Raises:
            PiholeError: There was no answer, or it leads elsewhere.
        """
        with _one_at_a_time:
            self.settled = False
            try:
                answer = self._sent(method, path, body, headers or {})
            except (OSError, http.client.HTTPException) as error:
                raise self._unanswered(error) from error
            self.settled = True
            return answer

    def _sent(
        self, method: str, path: str, body: Raw | None, headers: Mapping[str, str]
    ) -> Response:
        connection = self._connection()
        try:
            connection.connect()
            connection.sock.settimeout(self._patience.read)
            with _cut_off_after(self._patience.whole, connection.sock):
                connection.request(
                    method,
                    f"{self._parts.path}{path}",
                    None if body is None else encoded(body),
                    {**_SAME_FOR_ALL, **headers},
                )
                return self._received(connection.getresponse())
        finally:
            connection.close()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._tls is None:
            return http.client.HTTPConnection(host, port, timeout=self._patience.connect)
        name = self._trust.server_name or host
        return _Secured(host, port, self._patience.connect, (self._tls, name))

    def _received(self, response: http.client.HTTPResponse) -> Response:
        content = response.read(LARGEST)
        if response.length:
            raise http.client.IncompleteRead(content[:0], response.length)
        if 300 <= response.status < 400:
            place = (response.getheader("Location") or "nowhere")[:_SHOWN]
            raise PiholeError(
                f"{self.url} leads to {place}: set pic:piholeUrl to where Pi-hole itself answers",
                kind=FailureClass.INVALID,
            )
        return _answer(response.status, content)

    def _unanswered(self, error: Exception) -> PiholeError:
        match error:
            case ssl.SSLCertVerificationError():
                return self._distrusted(error)
            case ssl.SSLError():
                problem = f"it does not speak TLS as expected ({error.reason or error})"
                advice = "check whether pic:piholeUrl has to begin with http:// instead"
            case TimeoutError():
                problem = str(error) if isinstance(error, _LateError) else self._silence
                advice = "Pi-hole may be busy or stuck: look at its web interface"
            case OSError():
                problem = error.strerror or str(error) or type(error).__name__
                advice = "check that Pi-hole runs, and pic:piholeUrl"
            case _:
                problem = f"the answer is broken ({type(error).__name__})"
                advice = "check that pic:piholeUrl is that of a Pi-hole"
        return PiholeError(f"no answer from {self.url}: {problem}; {advice}")

    @property
    def _silence(self) -> str:
        return f"nothing within {self._patience.read:g} s"

    def _distrusted(self, error: ssl.SSLCertVerificationError) -> PiholeError:
        name = self._trust.server_name or self._parts.hostname
        return PiholeError(
            f"the certificate of {self.url} is not accepted: {error.verify_message.rstrip('.')}."
            f" {remedy(error.verify_code, name)}",
            kind=FailureClass.AUTH,
        )


class _LateError(TimeoutError):
    """An answer that comes and comes, and does not end."""


@contextlib.contextmanager
def _cut_off_after(seconds: float, connected: socket.socket) -> Iterator[None]:
    """Bound what a timeout for each part leaves open: an answer that drips.

    Raises:
        TimeoutError: The connection was cut off.
    """
    late = threading.Event()

    def cut_off() -> None:
        late.set()
        with contextlib.suppress(OSError):
            # Not that of a TLS socket, which another thread may be reading from.
            socket.socket.shutdown(connected, socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut_off)
    timer.daemon = True
    timer.start()
    why = f"no whole answer within {seconds:g} s"
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        if late.is_set():
            raise _LateError(why) from error
        raise
    finally:
        timer.cancel()
    # Where only its end tells how long an answer is, a cut looks like one.
    if late.is_set():
        raise _LateError(why)


class _Secured(http.client.HTTPConnection):
    """A connection with TLS, where the name in the certificate may be another than the host's."""

    default_port = http.client.HTTPS_PORT

    def __init__(
        self, host: str, port: int | None, timeout: float, tls: tuple[ssl.SSLContext, str]
    ) -> None:
        super().__init__(host, port, timeout=timeout)
        self._tls, self._name = tls

    def connect(self) -> None:
        super().connect()
        self.sock = self._tls.wrap_socket(self.sock, server_hostname=self._name)


_SAME_FOR_ALL = {
    "Accept": "application/json",
    "Connection": "close",
    "Content-Type": "application/json",
    "User-Agent": "pic",
}
# What OpenSSL calls a certificate for another name, and for another address.
_OTHER_NAME = (62, 64)
_EXPIRED = 10


def _context(trust: Trust) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=trust.ca or None)
    except OSError as error:
        raise PiholeError(
            f"pic:piholeCa is {trust.ca!r}: {error.strerror or error}; needed is a file of"
            " certificates in PEM",
            kind=FailureClass.INVALID,
        ) from error
    # Pi-hole's own certificate may be given itself, and lacks what newer Pythons insist on.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    if trust.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def remedy(code: int, name: str | None) -> str:
    """Return what to do about a certificate that is not accepted.

    Args:
        code: What is wrong with it, as OpenSSL numbers it.
        name: What it should be for.
    """
    if code in _OTHER_NAME:
        return (
            f"It is not for {name}. The one that Pi-hole makes for itself is for the name pi.hole"
            " alone, and for no address: set pic:piholeServerName to the name it has"
        )
    if code == _EXPIRED:
        return "Renew it; Pi-hole makes its own anew at a restart"
    return (
        "Set pic:piholeCa to a file with the certificate of who signed it. For the one that Pi-hole"
        " makes for itself that is its /etc/pihole/tls_ca.crt, which is another one after each"
        " renewal, every 45 days; a certificate of your own lasts. pic:piholeInsecure accepts any"
    )


def _answer(status: int, content: bytes) -> Response:
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        data = None
    if isinstance(data, dict):
        return Response(status, data)
    return Response(status, text=content[:_SHOWN].decode(errors="replace").strip())
