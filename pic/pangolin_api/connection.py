"""Sends HTTP requests to the Integration API: at most four at once, with bounded retries.

Pangolin verifies argon2 for each request in one process, so more than four would only wait there. A
`PUT` creates something, so it is repeated only while no connection exists. Everything else may be
sent twice. The client follows no redirect, because that would show the key to another host, and no
error message contains the key or a body.
"""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit

import urllib3
from urllib3.util.ssl_ import create_urllib3_context

from pic.core.errors import FailureClass, PangolinError
from pic.core.json_values import Raw

KEY = "PANGOLIN_API_KEY"
IN_FLIGHT = 4
_PREFIX = "/v1"
_RETRIED = (429, 500, 502, 503, 504)
_LONGEST_QUOTE = 200  # characters of an answer in a message


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long to wait, in seconds, and how often to try again.

    Attributes:
        connect: For a connection.
        read: Until the next byte of an answer arrives.
        retry_after: The longest `Retry-After` to honour.
        backoff: The wait before the second retry; each further retry doubles it.
        retries: The number of retries of one request.
        health: For a new target to become healthy, before the one that it replaces goes.
    """

    connect: float = 5.0
    read: float = 20.0
    retry_after: int = 10
    backoff: float = 0.4
    retries: int = 3
    health: float = 30.0


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer of any status.

    Attributes:
        body: The decoded JSON object; None if the answer is anything else, such as HTML.
        text: The beginning of the answer if it is not a JSON object.
        retry_after: The seconds of its `Retry-After`; None if it has none.
    """

    status: int
    body: Raw | None = None
    text: str = ""
    retry_after: int | None = None


def api_key(environment: Mapping[str, str]) -> str:
    """Return the key, without a line break at its end.

    Raises:
        PangolinError: The variable is not set, or its value cannot be a key.
    """
    # A file that a secret is read from often ends with a line break.
    key = environment.get(KEY, "").strip()
    where = "in the dashboard of Pangolin under Organization > API Keys"
    if not key:
        raise PangolinError(f"{KEY} is not set: create a key {where}", kind=FailureClass.AUTH)
    name, dot, secret = key.partition(".")
    # Pangolin answers a key without a dot with 500, which looks like a fault of the server.
    if not (name and dot and secret) or not key.isascii() or not key.isprintable() or " " in key:
        raise PangolinError(
            f"{KEY} is not a key of Pangolin: a key has the form <id>.<secret>. Copy it whole, or"
            f" create another one {where}",
            kind=FailureClass.AUTH,
        )
    return key


def normalise(url: str) -> str:
    """Return the base URL of the Integration API, without the version that a user copied."""
    return url.rstrip("/").removesuffix(_PREFIX).rstrip("/")


@dataclass(frozen=True, slots=True)
class Connection:
    """Sends requests to one Integration API.

    Attributes:
        url: The base URL, without a path of the API.
        timeouts: Apply to every request.
    """

    url: str
    timeouts: Timeouts
    _key: str = field(repr=False)
    _pool: urllib3.PoolManager = field(repr=False)

    def send(
        self,
        method: str,
        path: str,
        body: Raw | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request and return its answer.

        Args:
            method: The HTTP method.
            path: The percent-encoded path below `/v1`.
            body: Sent as JSON.
            query: The parameters of the query.

        Raises:
            PangolinError: There is no answer, or it is a redirect.
        """
        parameters = f"?{urlencode(query)}" if query else ""
        try:
            response = self._pool.request(
                method,
                f"{self.url}{_PREFIX}{path}{parameters}",
                body=None if body is None else json.dumps(body).encode(),
                headers={
                    "Accept": "application/json",
                    "Authorization": f"Bearer {self._key}",
                    "Content-Type": "application/json",
                    "User-Agent": "pic",
                },
                timeout=urllib3.Timeout(connect=self.timeouts.connect, read=self.timeouts.read),
                retries=_retries(self.timeouts, creates=method == "PUT"),
                redirect=False,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._unanswered(error) from error
        if 300 <= response.status < 400:
            location = response.headers.get("Location", "nowhere")[:_LONGEST_QUOTE]
            raise PangolinError(
                f"{self.url} redirects to {location}: set pic:pangolinUrl to the URL of the"
                " Integration API itself",
                kind=FailureClass.INVALID,
            )
        return _answer(response)

    def _unanswered(self, error: Exception) -> PangolinError:
        # When all retries have failed, urllib3 wraps the last error.
        cause = getattr(error, "reason", None) or error
        cause = cause.args[0] if isinstance(cause, urllib3.exceptions.SSLError) else cause
        if isinstance(cause, ssl.SSLCertVerificationError):
            return PangolinError(
                f"pic does not accept the certificate of {self.url}: {cause.verify_message}. Let"
                " the server have a certificate of a public authority, or set pic:pangolinCa to a"
                " file with the certificate of its issuer",
                kind=FailureClass.AUTH,
            )
        return PangolinError(
            f"no answer from {self.url}: {_described(cause)}. Check that Pangolin runs with"
            " flags.enable_integration_api, and check pic:pangolinUrl"
        )


def open_connection(url: str, key: str, timeouts: Timeouts, ca: str = "") -> Connection:
    """Prepare requests; send nothing.

    Args:
        url: An http or https URL of the Integration API; a certificate is always verified.
        key: The key.
        timeouts: Apply to every request.
        ca: A PEM file with the certificate of an authority or of the server; empty uses the
            authorities of this machine.

    Raises:
        PangolinError: The certificate file is not readable.
    """
    base = normalise(url)
    pool = urllib3.PoolManager(
        num_pools=1,
        maxsize=IN_FLIGHT,
        block=True,
        ssl_context=_context(ca) if urlsplit(base).scheme == "https" else None,
    )
    return Connection(base, timeouts, key, pool)


def _context(ca: str) -> ssl.SSLContext:
    context = create_urllib3_context()
    if not ca:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(ca)
    except OSError as error:
        raise PangolinError(
            f"pic:pangolinCa is {ca!r}: {error.strerror or error}; set it to a PEM file of"
            " certificates",
            kind=FailureClass.INVALID,
        ) from error
    # The file may hold the certificate of the server itself instead of an authority's.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def _retries(timeouts: Timeouts, *, creates: bool) -> urllib3.Retry:
    return urllib3.Retry(
        total=timeouts.retries,
        read=0 if creates else None,
        # The server may have created something although the connection broke.
        other=0 if creates else None,
        status=0 if creates else None,
        # urllib3 does not wait before the first retry, and waits twice the factor before the next.
        backoff_factor=timeouts.backoff / 2,
        retry_after_max=timeouts.retry_after,
        status_forcelist=_RETRIED,
        # None allows every method.
        allowed_methods=None,
        # After the last retry, the caller gets the answer with the message of Pangolin.
        raise_on_status=False,
    )


def _described(cause: object) -> str:
    match cause:
        case urllib3.exceptions.ReadTimeoutError():
            return "it is silent for too long"
        case urllib3.exceptions.NewConnectionError() | urllib3.exceptions.ConnectTimeoutError():
            return "the connection was refused or timed out"
        case _:
            return type(cause).__name__


def _answer(response: urllib3.BaseHTTPResponse) -> Answer:
    try:
        body = json.loads(response.data)
    except (ValueError, RecursionError):
        body = None
    after = response.headers.get("Retry-After", "")
    retry_after = int(after) if after.isdecimal() else None
    if isinstance(body, dict):
        return Answer(response.status, body, retry_after=retry_after)
    quote = response.data[:_LONGEST_QUOTE].decode(errors="replace").strip()
    return Answer(response.status, None, quote, retry_after)
