"""A small web server of a few pages: bounded in connections and in time, silent, read-only."""

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
# The kubelet and Prometheus need one each.
MAX_CONNECTIONS = 16
CLIENT_SECONDS, POLL_SECONDS = 5.0, 0.1
ALLOWED_METHODS = ("GET", "HEAD")


class HttpPage(NamedTuple):
    """An answer."""

    status: int
    body: bytes
    kind: str = PLAIN_TEXT


Pages = Mapping[str, Callable[[], HttpPage]]
_Request = socket.socket | tuple[bytes, socket.socket]


@contextmanager
def serve(address: tuple[str, int], pages: Pages, seconds: float = CLIENT_SECONDS) -> Iterator[int]:
    """Serve pages by path until the block ends, and yield the port.

    Args:
        address: Host and port; port 0 is any free one.
        pages: By path; called by many threads at once.
        seconds: How long a client may take.

    Raises:
        SettingsError: Nothing can be served there.
    """
    server = _bound(address, pages, seconds)
    thread = threading.Thread(
        target=server.serve_forever, args=(POLL_SECONDS,), name="web", daemon=True
    )
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.cut(older_than=0.0)
        server.server_close()  # waits for the connections


def _bound(address: tuple[str, int], pages: Pages, seconds: float) -> "_Server":
    try:
        return _Server(address, pages, seconds)
    except (OSError, OverflowError) as error:
        host, port = address
        raise SettingsError([f"cannot listen on {host or '*'}:{port}: {error}"]) from error


class _Server(ThreadingHTTPServer):
    """At most `CONNECTIONS` at once, each for a bounded time, however slow its client."""

    daemon_threads = False
    request_queue_size = MAX_CONNECTIONS

    def __init__(self, address: tuple[str, int], pages: Pages, seconds: float) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self.pages, self.seconds = pages, seconds
        self._lock = threading.Lock()
        self._open: dict[socket.socket, float] = {}
        super().__init__(address, _Handler)

    def server_bind(self) -> None:
        """Bind, without asking a name server for the name of this host."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()

    def verify_request(self, request: _Request, _: object) -> bool:
        """Take a connection if there is room for it."""
        with self._lock:
            room = len(self._open) < MAX_CONNECTIONS
            if room:
                self._open[cast("socket.socket", request)] = time.monotonic()
        return room

    def close_request(self, request: _Request) -> None:
        """Forget a connection."""
        with self._lock:
            self._open.pop(cast("socket.socket", request), None)
        super().close_request(request)

    def service_actions(self) -> None:
        """End connections that take too long; called at every turn of the loop."""
        self.cut(older_than=self.seconds)

    def cut(self, older_than: float) -> None:
        """End connections that are open for longer than some seconds."""
        due = time.monotonic() - older_than
        with self._lock:
            for request, since in self._open.items():
                if since <= due:
                    with contextlib.suppress(OSError):  # the client was faster
                        request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, *_: object) -> None:
        """Say nothing of a client that went away."""


class _Handler(BaseHTTPRequestHandler):
    """Answers one request of a connection, as HTTP/1.0 does."""

    server: _Server

    def do_GET(self) -> None:
        """Answer with a page."""
        path = self.path.partition("?")[0]
        page = self.server.pages.get(path)
        self._answer(page() if page else HttpPage(HTTPStatus.NOT_FOUND, b"there is no such page\n"))

    do_HEAD = do_GET  # noqa: N815 - the library's name

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is none, or of another method, in a line."""
        del explain
        if code == HTTPStatus.NOT_IMPLEMENTED:
            self._answer(HttpPage(HTTPStatus.METHOD_NOT_ALLOWED, b"only GET and HEAD\n"))
        else:
            self._answer(HttpPage(code, f"{message or HTTPStatus(code).phrase}\n".encode()))

    def _answer(self, page: HttpPage) -> None:
        # A request that is none is not of HTTP/0.9, which has no status.
        self.request_version = self.protocol_version
        self.send_response_only(page.status)
        if page.status == HTTPStatus.METHOD_NOT_ALLOWED:
            self.send_header("Allow", ", ".join(ALLOWED_METHODS))
        self.send_header("Content-Type", page.kind)
        self.send_header("Content-Length", str(len(page.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(page.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
        """Say nothing: the kubelet asks every few seconds."""
