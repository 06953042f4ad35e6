"""A reverse proxy before a real API server, with rules that may spoil or give its answers.

It is plain HTTP on 127.0.0.1; what it forwards goes over TLS, with the client's credentials. The
engine's plugin sends none without TLS, so that who sends none is the proxy's user.
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
    Asked,
    Exchange,
    Fault,
    Reset,
    Rule,
    Slow,
    Truncated,
    forward,
)
from dev.controlplane.plane import ControlPlane

# No request of the engine takes longer; a watch that is quiet for so long ends, as servers end it.
IDLE_SECONDS = 60.0
PIECE = 65536
# RFC 9110, 7.6.1: they are about one connection. The host is the server's own.
OWN_HEADERS = {"connection", "keep-alive", "te", "transfer-encoding", "upgrade", "host"}
# Closed from the other side, or cut as the proxy stops.
GONE = (OSError, HTTPException)


@dataclass
class Proxy:
    """A proxy that runs.

    Attributes:
        rule: Asked before each request is forwarded; may be replaced at any time.
        log: Every request, in the order in which the answers began.
        asked: How many requests have come, be they answered or not.
    """

    url: str
    kubeconfig: Path
    rule: Rule
    server: "_Server" = field(repr=False)
    log: list[Exchange] = field(default_factory=list, repr=False)
    asked: int = 0

    def cut_watches(self) -> int:
        """Cut every watch that is open, and say how many there were."""
        return self.server.cut_watches()


@contextmanager
def proxied(plane: ControlPlane, rule: Rule = forward, user: str = "admin") -> Iterator[Proxy]:
    """Serve a proxy before a control plane, with a kubeconfig of a user that leads to it.

    When the block ends, every connection is cut and every thread has ended.
    """
    folder = Path(tempfile.mkdtemp(prefix="pic-proxy-"))
    config = yaml.safe_load(plane.kubeconfig_for(user).read_text())
    authority = b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
    server = _Server(plane.server, authority, plane.token(user))
    url = f"http://127.0.0.1:{server.server_port}"
    config["clusters"][0]["cluster"] = {"server": url}
    kubeconfig = write_private(folder / "kubeconfig", yaml.safe_dump(config))
    server.proxy = made = Proxy(url, kubeconfig, rule, server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.cut()
        server.server_close()  # waits for the threads
        shutil.rmtree(folder)
    if server.errors:
        raise ControlPlaneError(f"a rule of the proxy failed: {server.errors!r}")


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
        made = HTTPSConnection("127.0.0.1", self._port, context=self._tls, timeout=IDLE_SECONDS)
        made.connect()
        self.opened(made.sock)
        return made

    def opened(self, made: socket.socket) -> None:
        """Remember a socket, to cut it in the end."""
        with self._lock:
            self._sockets.add(made)
            if self.stopped.is_set():
                _cut(made)

    def closed(self, gone: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(gone)

    def cut(self) -> None:
        """Cut every connection, and those to come."""
        self.stopped.set()
        with self._lock:
            for each in self._sockets:
                _cut(each)

    @contextmanager
    def watching(self, client: socket.socket, upstream: socket.socket) -> Iterator[None]:
        """Remember that events are passed on to a client."""
        with self._lock:
            self._watches[client] = upstream
        try:
            yield
        finally:
            with self._lock:
                del self._watches[client]

    def cut_watches(self) -> int:
        """Cut every watch that is open, and say how many there were."""
        with self._lock:
            for client, upstream in self._watches.items():
                _cut(client)
                # Else its thread would learn of it with the next event.
                _cut(upstream)
            return len(self._watches)

    def handle_error(self, *_: object) -> None:
        """Keep what goes wrong, but say nothing of clients that were killed."""
        error = sys.exception()
        if not isinstance(error, GONE):
            self.errors.append(error)


def _cut(each: socket.socket) -> None:
    # Not the method of a TLS socket, which would take its state from the thread that reads.
    with contextlib.suppress(OSError):
        socket.socket.shutdown(each, socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    """Serves one connection of a client, by one of its own to the API server."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server
    upstream: HTTPSConnection | None = None
    upstream_socket: socket.socket

    def setup(self) -> None:
        super().setup()
        self.server.opened(self.connection)

    def finish(self) -> None:
        self.server.closed(self.connection)
        self._drop()
        super().finish()

    def _drop(self) -> None:
        if self.upstream:
            self.server.closed(self.upstream_socket)
            self.upstream.close()
            self.upstream = None

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        asked = self._asked(body)
        self.server.proxy.asked += 1
        fault = self.server.proxy.rule(asked)
        try:
            self._obey(fault, asked)
        except GONE:
            # The client sees of a dead server what it would see without the proxy.
            self.close_connection = True
            self._drop()

    def _obey(self, fault: Fault | None, asked: Asked) -> None:
        match fault:
            case Answer():
                self._log(asked, fault.status)
                self._answer(fault)
            case Reset():
                self._reset(asked, done=fault.done)
            case Slow():
                self.server.stopped.wait(fault.seconds)
                self._serve(asked)
            case Truncated():
                self._serve(asked, torn=True)
            case None:
                self._serve(asked)
            case _:
                assert_never(fault)

    def _serve(self, asked: Asked, *, torn: bool = False) -> None:
        response = self._forward(asked.body)
        self._log(asked, response.status)
        if torn:
            self._tear(response)
        elif asked.is_watch:
            with self.server.watching(self.connection, self.upstream_socket):
                self._pass_on(response, is_watch=True)
        else:
            self._pass_on(response, is_watch=False)

    def _reset(self, asked: Asked, *, done: bool) -> None:
        if done:
            self._forward(asked.body).read()
        self._log(asked, 0)
        self.server.closed(self.connection)
        # Closed like this it sends a reset, and not the end of the answer.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())
        self.close_connection = True

    def _tear(self, response: HTTPResponse) -> None:
        """Begin an answer, and end the connection in the middle of it."""
        piece = response.read1(PIECE)
        self._head(response)
        if response.chunked:
            self.wfile.write(b"%x\r\n" % len(piece))
        self.wfile.write(piece[: len(piece) // 2])
        raise ConnectionAbortedError

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815 - the library's names

    def _asked(self, body: bytes) -> Asked:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        headers.pop("authorization", None)
        return Asked(self.command, path, query, headers, body)

    def _log(self, asked: Asked, status: int) -> None:
        self.server.proxy.log.append(Exchange(asked, status))

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
            except GONE:  # the API server has closed it, being idle
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
        """Pass on each piece as it comes."""
        try:
            while piece := response.read1(PIECE):
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
        except TimeoutError:
            if not is_watch:
                raise
            self._drop()
        self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
        pass
