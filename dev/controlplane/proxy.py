"""Runs a reverse proxy in front of a real API server; a rule can replace or spoil its answers.

The proxy serves plain HTTP on 127.0.0.1 and forwards over TLS, with the credentials of the client.
The Kubernetes plugin sends no credentials without TLS, so the proxy adds its own to such requests.
"""

import contextlib
import json
import os
import shutil
import socket
import ssl
import struct
import sys
import tempfile
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import assert_never
from urllib.parse import urlsplit

import yaml

from dev.controlplane.access import write_private
from dev.controlplane.errors import ControlPlaneError
from dev.controlplane.faults import (
    Answer,
    Exchange,
    Fault,
    Request,
    Reset,
    Rule,
    Slow,
    Truncated,
    forward,
)
from dev.controlplane.plane import ControlPlane

# No request of the engine takes longer. A watch without events ends after that, as servers end it.
IDLE_SECONDS = 60.0
PIECE = 65536
# RFC 9110, 7.6.1: these headers are about one connection. Host names the proxy, not the server.
OWN_HEADERS = {"connection", "keep-alive", "te", "transfer-encoding", "upgrade", "host"}
# The other side has closed the connection, or the proxy has cut it.
CLOSED = (OSError, HTTPException)


@dataclass
class Proxy:
    """Represents a running proxy.

    Attributes:
        rule: Decides about each request before it is forwarded; may be replaced at any time.
        log: Every answered request, in the order in which the answers began.
        received: The number of requests so far, answered or not.
    """

    url: str
    kubeconfig: Path
    rule: Rule
    server: "_Server" = field(repr=False)
    log: list[Exchange] = field(default_factory=list, repr=False)
    received: int = 0

    def cut_watches(self) -> int:
        """Cut every open watch, and return how many there were."""
        return self.server.cut_watches()


@contextmanager
def proxied(plane: ControlPlane, rule: Rule = forward, user: str = "admin") -> Iterator[Proxy]:
    """Serve a proxy in front of a control plane; its kubeconfig is that of one user.

    At the end of the block the proxy cuts every connection and ends every thread.

    Raises:
        ControlPlaneError: The rule, or the proxy itself, raised an error.
    """
    folder = Path(tempfile.mkdtemp(prefix="pic-proxy-"))
    config = yaml.safe_load(plane.kubeconfig_for(user).read_text())
    authority = b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    server = _Server(plane.server, authority, plane.token(user))
    url = f"http://127.0.0.1:{server.server_port}"
    config["clusters"][0]["cluster"] = {"server": url}
    kubeconfig = write_private(folder / "kubeconfig", yaml.safe_dump(config))
    server.proxy = proxy = Proxy(url, kubeconfig, rule, server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.cut()
        server.server_close()  # waits for the threads
        shutil.rmtree(folder)
    if server.errors:
        raise ControlPlaneError(f"a rule of the proxy raised an error: {server.errors!r}")


class _Server(ThreadingHTTPServer):
    proxy: Proxy
    daemon_threads = False
    request_queue_size = 128

    def __init__(self, upstream: str, authority: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self._port = urlsplit(upstream).port or 443
        self._tls = ssl.create_default_context(cadata=authority)
        self.credentials = {"Authorization": f"Bearer {token}"}
        self._sockets: set[socket.socket] = set()
        self._watches: dict[socket.socket, socket.socket] = {}
        self._lock, self.stopped = threading.Lock(), threading.Event()
        self.errors: list[BaseException | None] = []

    def connect(self) -> HTTPSConnection:
        """Open a connection to the API server."""
        upstream = HTTPSConnection("127.0.0.1", self._port, context=self._tls, timeout=IDLE_SECONDS)
        upstream.connect()
        self.add(upstream.sock)
        return upstream

    def add(self, connection: socket.socket) -> None:
        """Remember a socket, so that `cut` can close it."""
        with self._lock:
            self._sockets.add(connection)
            if self.stopped.is_set():
                _cut(connection)

    def remove(self, connection: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(connection)

    def cut(self) -> None:
        """Cut every connection, and every later one as soon as it opens."""
        self.stopped.set()
        with self._lock:
            for connection in self._sockets:
                _cut(connection)

    @contextmanager
    def watching(self, client: socket.socket, upstream: socket.socket) -> Iterator[None]:
        """Remember a watch of a client, so that `cut_watches` can end it."""
        with self._lock:
            self._watches[client] = upstream
        try:
            yield
        finally:
            with self._lock:
                del self._watches[client]

    def cut_watches(self) -> int:
        """Cut every open watch, and return how many there were."""
        with self._lock:
            for client, upstream in self._watches.items():
                _cut(client)
                # Otherwise the thread would notice only when the next event comes.
                _cut(upstream)
            return len(self._watches)

    def handle_error(self, *_: object) -> None:
        """Record an error, except for one that a closed connection explains."""
        error = sys.exception()
        if not isinstance(error, CLOSED):
            self.errors.append(error)


def _cut(connection: socket.socket) -> None:
    # The method of a TLS socket would drop the TLS state while another thread reads.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Serves one connection of a client through one connection to the API server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    upstream: HTTPSConnection | None = None
    upstream_socket: socket.socket

    def setup(self) -> None:
        super().setup()
        self.server.add(self.connection)

    def finish(self) -> None:
        self.server.remove(self.connection)
        self._drop()
        super().finish()

    def _drop(self) -> None:
        if self.upstream:
            self.server.remove(self.upstream_socket)
            self.upstream.close()
            self.upstream = None

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = self._request(body)
        self.server.proxy.received += 1
        fault = self.server.proxy.rule(request)
        try:
            self._handle(fault, request)
        except CLOSED:
            # The client sees a closed connection, as it would without the proxy.
            self.close_connection = True
            self._drop()

    def _handle(self, fault: Fault | None, request: Request) -> None:
        match fault:
            case Answer():
                self._log(request, fault.status)
                self._answer(fault)
            case Reset():
                self._reset(request, done=fault.done)
            case Slow():
                self.server.stopped.wait(fault.seconds)
                self._serve(request)
            case Truncated():
                self._serve(request, truncate=True)
            case None:
                self._serve(request)
            case _:
                assert_never(fault)

    def _serve(self, request: Request, *, truncate: bool = False) -> None:
        response = self._forward(request.body)
        self._log(request, response.status)
        if truncate:
            self._truncate(response)
        elif request.is_watch:
            with self.server.watching(self.connection, self.upstream_socket):
                self._pass_on(response, is_watch=True)
        else:
            self._pass_on(response, is_watch=False)

    def _reset(self, request: Request, *, done: bool) -> None:
        if done:
            self._forward(request.body).read()
        self._log(request, 0)
        self.server.remove(self.connection)
        # Closed with a linger time of 0, the socket sends a reset and not the end of the answer.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def _truncate(self, response: HTTPResponse) -> None:
        """Begin an answer, and close the connection in the middle of it."""
        piece = response.read1(PIECE)
        self._head(response)
        if response.chunked:
            self.wfile.write(b"%x\r\n" % len(piece))
        self.wfile.write(piece[: len(piece) // 2])
        raise ConnectionAbortedError

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - http.server gives the names

    def _request(self, body: bytes) -> Request:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        headers.pop("authorization", None)
        return Request(self.command, path, query, headers, body)

    def _log(self, request: Request, status: int) -> None:
        self.server.proxy.log.append(Exchange(request, status))

    def _answer(self, answer: Answer) -> None:
        data = json.dumps(answer.body).encode()
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _forward(self, body: bytes) -> HTTPResponse:
        if self.upstream:
            try:
                return self._send(self.upstream, body)
            except CLOSED:  # the API server has closed the idle connection
                self._drop()
        self.upstream = self.server.connect()
        self.upstream_socket = self.upstream.sock
        return self._send(self.upstream, body)

    def _send(self, upstream: HTTPSConnection, body: bytes) -> HTTPResponse:
        headers = {k: v for k, v in self.headers.items() if k.lower() not in OWN_HEADERS}
        if "Authorization" not in self.headers:
            headers |= self.server.credentials
        upstream.request(self.command, self.path, body or None, headers)
        return upstream.getresponse()

    def _head(self, response: HTTPResponse) -> None:
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in OWN_HEADERS:
                self.send_header(name, value)
        if response.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        if response.will_close:
            self.send_header("Connection", "close")
        self.end_headers()

    def _pass_on(self, response: HTTPResponse, *, is_watch: bool) -> None:
        self._head(response)
        if response.chunked:
            self._stream(response, is_watch=is_watch)
        else:
            self.wfile.write(response.read())
        if response.will_close:
            self._drop()

    def _stream(self, response: HTTPResponse, *, is_watch: bool) -> None:
        """Pass on each chunk as it arrives."""
        try:
            while piece := response.read1(PIECE):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        except TimeoutError:
            if not is_watch:
                raise
            self._drop()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server gives the name
        pass
