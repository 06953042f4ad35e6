"""Serves a few pages over HTTP: read-only, without a log, and limited in connections and time.

Anything in the cluster may be able to connect, so a slow or hostile client must not use up threads
or block the kubelet (docs/monitoring.md).
"""

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, cast

from pic.core.errors import SettingsError

PLAIN_TEXT = "text/plain; charset=utf-8"
# More than enough: the kubelet and Prometheus use one each.
MAX_CONNECTIONS = 16
# How long a connection may last, and how soon the server notices that it has to stop.
CLIENT_SECONDS, POLL_SECONDS = 5.0, 0.1
ALLOWED_METHODS = ("GET", "HEAD")


class HttpPage(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    content_type: str = PLAIN_TEXT


Pages = Mapping[str, Callable[[], HttpPage]]
_Request = socket.socket | tuple[bytes, socket.socket]


@contextmanager
def serve(address: tuple[str, int], pages: Pages, seconds: float = CLIENT_SECONDS) -> Iterator[int]:
    """Serve pages until the block ends, and yield the port.

    Args:
        address: Host and port; with port 0 the system chooses a free one.
        pages: The pages by path; several threads may call one at once.
        seconds: How long a connection may last.

    Raises:
        SettingsError: The address cannot be used.
    """
    server = _bind(address, pages, seconds)
    thread = threading.Thread(
        target=server.serve_forever, args=(POLL_SECONDS,), name="web", daemon=True
    )
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.shut_connections(older_than=0.0)
        server.server_close()  # waits for the threads of the connections


def _bind(address: tuple[str, int], pages: Pages, seconds: float) -> "_Server":
    try:
        return _Server(address, pages, seconds)
    except (OSError, OverflowError) as error:
        host, port = address
        raise SettingsError([f"cannot listen on {host or '*'}:{port}: {error}"]) from error


class _Server(ThreadingHTTPServer):
    """Has at most `MAX_CONNECTIONS` at once, each for a limited time, however slow the client."""

    # The base class waits for the threads of its connections only if they are not daemons.
    daemon_threads = False
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, address: tuple[str, int], pages: Pages, seconds: float) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.pages, self.seconds = pages, seconds
        self._lock = threading.Lock()
        self._connections: dict[socket.socket, float] = {}
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind without a DNS query: the base class looks up the name of this host."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def verify_request(self, request: _Request, _: object) -> bool:
        """Accept a connection unless there are too many."""
        with self._lock:
            has_room = len(self._connections) < MAX_CONNECTIONS
            if has_room:
                self._connections[cast("socket.socket", request)] = time.monotonic()
        return has_room

    def close_request(self, request: _Request) -> None:
        """Forget a connection."""
        with self._lock:
            self._connections.pop(cast("socket.socket", request), None)
        super().close_request(request)

    def service_actions(self) -> None:
        """End connections that last too long; called at each turn of the server's loop."""
        self.shut_connections(older_than=self.seconds)

    def shut_connections(self, older_than: float) -> None:
        """End the connections that are older than some seconds."""
        newest = time.monotonic() - older_than
        with self._lock:
            for request, since in self._connections.items():
                if since <= newest:
                    with contextlib.suppress(OSError):  # the client has closed it already
                        request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """Log nothing when a client disconnects."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request per connection, as HTTP/1.0 does."""

    server: _Server

    def do_GET(self) -> None:
        """Answer with a page."""
        path = self.path.partition("?")[0]
        page = self.server.pages.get(path)
        self._answer(page() if page else HttpPage(HTTPStatus.NOT_FOUND, b"page not found\n"))

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a malformed request, or one with another method, in one line."""
        del explain
        if code == HTTPStatus.NOT_IMPLEMENTED:
            self._answer(HttpPage(HTTPStatus.METHOD_NOT_ALLOWED, b"use GET or HEAD\n"))
        else:
            self._answer(HttpPage(code, f"{message or HTTPStatus(code).phrase}\n".encode()))

    def _answer(self, page: HttpPage) -> None:
        # The base class takes a malformed request for HTTP/0.9, whose answers have no status line.
        self.request_version = self.protocol_version
        self.send_response_only(page.status)
        if page.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", ", ".join(ALLOWED_METHODS))
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
        """Log nothing: the kubelet probes every few seconds."""
