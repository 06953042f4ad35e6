"""Serves HTTP on a port of 127.0.0.1, with one thread for each connection."""

import contextlib
import json
import socket
import ssl
from collections.abc import Callable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from threading import Event, Lock, Thread, current_thread
from time import perf_counter

from dev.pihole.messages import Answer, Died, Request

IDLE = 5  # seconds until an unused connection is closed
HEAD_LIMIT = 16_384  # bytes of a request without its body

Handle = Callable[[Request], Answer | None]
"""Answers a request; None closes the connection without an answer."""


class Listener:
    """The server between one start and its end.

    Attributes:
        dead: Set when the server has ended.
    """

    def __init__(self, port: int, handle: Handle, tls: ssl.SSLContext | None) -> None:
        self.dead = Event()
        self.handle = handle
        self._tls = tls
        self._open: dict[Thread, socket.socket] = {}
        self._lock = Lock()
        self._socket = _listen(port)
        self._thread = Thread(target=self._accept, name="pihole", daemon=True)
        self._thread.start()

    def pause(self, seconds: float) -> None:
        """Wait for some seconds.

        Raises:
            Died: The server has ended meanwhile.
        """
        if self.dead.wait(seconds) if seconds else self.dead.is_set():
            raise Died

    def kill(self) -> None:
        """Refuse new connections and cut the open ones."""
        self.dead.set()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        with self._lock:
            for connection in self._open.values():
                _shut(connection)

    def close(self) -> None:
        """Kill the server and wait until all its threads have ended."""
        self.kill()
        with self._lock:
            threads = [self._thread, *self._open]
        for thread in threads:
            if thread is not current_thread():
                thread.join()

    def _accept(self) -> None:
        while not self.dead.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            thread = Thread(target=self._serve, args=[connection], daemon=True)
            self._register(thread, connection)
            thread.start()

    def _register(self, thread: Thread, connection: socket.socket) -> None:
        with self._lock:
            self._open[thread] = connection
            if self.dead.is_set():
                _shut(connection)

    def _serve(self, connection: socket.socket) -> None:
        # Clients of the tests cut connections on purpose, so a broken one is not an error.
        with contextlib.suppress(OSError, Died):
            connection.settimeout(IDLE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._with_tls(connection, self._tls)
            _Handler(connection, ("127.0.0.1", 0), self)  # type: ignore[arg-type]
        with self._lock:
            self._open.pop(current_thread())
            connection.close()

    def _with_tls(self, connection: socket.socket, tls: ssl.SSLContext) -> ssl.SSLSocket:
        # From here on, `kill` must shut the TLS socket: wrapping has detached the plain one.
        wrapped = tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        self._register(current_thread(), wrapped)
        try:
            wrapped.do_handshake()
        except OSError:
            wrapped.close()
            raise
        return wrapped


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE
    wbufsize = -1  # sends an answer in one piece
    server: Listener  # type: ignore[assignment]

    def setup(self) -> None:
        super().setup()
        self._count = 0

    def _answer(self) -> None:
        start = perf_counter()
        self._count += 1
        # Unlike `self.path`, the request line has all slashes at its beginning.
        target = self.requestline.split()[1]
        request = Request(
            self.command, target, self.headers, b"", self.server.pause, self._count > 1
        )
        answer = _malformed(self.requestline, request)
        self.close_connection |= answer is not None  # the body is still unread
        if answer is None:
            answer = self.server.handle(replace(request, body=self._body()))
        if answer is None:
            raise Died
        self._send(answer, perf_counter() - start)

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        return self.rfile.read(int(length)) if length.isdigit() else b""

    def _send(self, answer: Answer, seconds: float) -> None:
        content, kind = _encoded(answer, seconds)
        if self.server.dead.is_set():
            raise Died
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache, no-store, must-revalidate, private, max-age=0")
        self.send_header("Content-Type", kind)
        if answer.status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Print nothing: `PiHole` has a log."""

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _answer  # noqa: N815


def _encoded(answer: Answer, seconds: float) -> tuple[bytes, str]:
    body = answer.body
    if body is None:
        return b"", "text/html"
    if isinstance(body, str):
        return body.encode(), "text/plain; charset=utf-8"
    return json.dumps(
        {**body, **({"took": seconds} if answer.timed else {})}
    ).encode(), "application/json; charset=utf-8"


def _malformed(line: str, request: Request) -> Answer | None:
    fields = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
    if len(line) + fields > HEAD_LIMIT:
        return Answer(400, "Malformed message")
    if any(code in request.path.lower() for code in ("%0a", "%0d")):
        return Answer(400, "Error 400: Bad Request\nInvalid URI")
    return None


def _listen(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(128)
    return listener


def _shut(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
