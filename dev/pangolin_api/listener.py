"""Serves HTTP on a port of 127.0.0.1, with one thread for each connection."""

import contextlib
import json
import socket
import ssl
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread

from dev.pangolin_api.messages import Answer, Request

IDLE = 5  # seconds until an unused connection is closed

Handle = Callable[[Request], Answer | None]
"""Answers a request; None closes the connection without an answer."""


class Listener(ThreadingHTTPServer):
    """The server between one start and its end.

    Attributes:
        dead: Set when the server has ended.
    """

    daemon_threads = True
    allow_reuse_port = True
    request_queue_size = 128

    def __init__(self, port: int, handle: Handle, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.dead = Event()
        self.handle_one = handle
        self._tls = tls
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self._thread = Thread(target=self.serve_forever, args=[0.02], daemon=True)
        self._thread.start()

    def kill(self) -> None:
        """Refuse new connections and cut the open ones."""
        self.dead.set()
        self.shutdown()
        self.socket.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Kill the server and wait until its thread has ended."""
        self.kill()
        self._thread.join()

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Serve one connection; a broken one is no error, because clients cut them on purpose."""
        connection: socket.socket = request  # type: ignore[assignment]
        try:
            connection.settimeout(IDLE)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with self._lock:
                self._open.add(connection)
            _Handler(connection, client_address, self)
        except OSError:
            pass
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = IDLE
    wbufsize = -1  # sends an answer in one piece
    server: Listener

    def _answer(self) -> None:
        length = self.headers.get("Content-Length", "0")
        body = self.rfile.read(int(length)) if length.isdigit() else b""
        key = self.headers.get("Authorization", "")
        answer = self.server.handle_one(Request(self.command, self.path, key, body))
        if answer is None or self.server.dead.is_set():
            self.close_connection = True
            return
        self._send(answer)

    def _send(self, answer: Answer) -> None:
        is_html = isinstance(answer.body, str)
        content = answer.body.encode() if is_html else json.dumps(answer.body).encode()  # type: ignore[union-attr]
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        kind = "text/html" if is_html else "application/json"
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        """Print nothing: `Pangolin` has a log."""

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _answer  # noqa: N815
