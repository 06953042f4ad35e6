"""A reverse proxy before a real API server, with rules that may answer in its place.

It is plain HTTP on 127.0.0.1; what it forwards goes over TLS, with the client's credentials. The
engine's plugin sends none without TLS, so that who sends none is the proxy's user.
"""

import contextlib
import json
import shutil
import socket
import ssl
import sys
import tempfile
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import yaml

from dev.controlplane import ControlPlane
from dev.controlplane.access import write_private
from dev.controlplane.api import APPLY, Api

# No request of the engine takes longer; a watch that is quiet for so long ends, as servers end it.
IDLE_SECONDS = 60.0
PIECE = 65536
PLUGIN, PIC = "pulumi-kubernetes", "python-urllib3"  # as they name themselves
# RFC 9110, 7.6.1: they are about one connection. The host is the server's own.
OWN_HEADERS = {"connection", "keep-alive", "te", "transfer-encoding", "upgrade", "host"}
# Closed from the other side, or cut as the proxy stops.
GONE = (OSError, HTTPException)


class Asked(NamedTuple):
    """One request, as rules see it.

    Attributes:
        headers: By lower-case name, without the credentials.
    """

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def agent(self) -> str:
        """The program that asks, without its version."""
        return self.headers.get("user-agent", "").partition("/")[0]


class Answer(NamedTuple):
    """What a rule says in the API server's place."""

    status: int
    body: object


# None where the API server is to answer. It is called by many threads at once.
Rule = Callable[[Asked], Answer | None]


class Exchange(NamedTuple):
    """A request and the status that it was answered with."""

    asked: Asked
    status: int


def forward(_: Asked) -> Answer | None:
    """Leave every answer to the API server."""
    return None


@dataclass
class Proxy:
    """A proxy that runs.

    Attributes:
        rule: Asked before each request is forwarded; may be replaced at any time.
        log: Every request, in the order in which the answers began.
    """

    url: str
    kubeconfig: Path
    rule: Rule
    log: list[Exchange] = field(default_factory=list, repr=False)


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
    server.proxy = made = Proxy(url, kubeconfig, rule)
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
    assert server.errors == [], "no rule fails"


def is_create(asked: Asked) -> bool:
    """Say whether the plugin, up to 4.28, makes a PangolinResource with this request.

    All that it writes it applies: a create without having looked, an update after a GET, and then
    an empty object by which it lets go of another manager's fields. Only a create asks for its
    fields to be validated (seen with 4.25).
    """
    return (
        asked.agent == PLUGIN
        and asked.method == "PATCH"
        and asked.headers.get("content-type") == APPLY
        and "/pangolinresources/" in asked.path
        and "fieldValidation=" in asked.query
    )


def refusing_creates(api: Api) -> Rule:
    """Return the rule that a create of what exists fails, as it does for plugins from 4.29 on.

    Those create by POST. Their previews keep silent about it, so a dry run is let through.
    """

    def rule(asked: Asked) -> Answer | None:
        if not is_create(asked) or "dryRun=" in asked.query or not api.has(asked.path):
            return None
        return already_exists(asked.path)

    return rule


def already_exists(path: str) -> Answer:
    """Return what the API server answers to a POST of what is at a path of a custom resource."""
    _, _, group, _, _, _, plural, name = path.split("/")
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f'{plural}.{group} "{name}" already exists',
        "reason": "AlreadyExists",
        "details": {"name": name, "group": group, "kind": plural},
        "code": 409,
    }
    return Answer(409, status)


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
        self._lock, self._stopped = threading.Lock(), False
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
            if self._stopped:
                _cut(made)

    def closed(self, gone: socket.socket) -> None:
        with self._lock:
            self._sockets.discard(gone)

    def cut(self) -> None:
        """Cut every connection, and those to come."""
        with self._lock:
            self._stopped = True
            for each in self._sockets:
                _cut(each)

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
        if answer := self.server.proxy.rule(asked):
            self._log(asked, answer.status)
            self._answer(answer)
            return
        try:
            response = self._forward(body)
            self._log(asked, response.status)
            self._pass_on(response, is_watch="watch=" in asked.query)
        except GONE:
            # The client sees of a dead server what it would see without the proxy.
            self.close_connection = True
            self._drop()

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

    def _pass_on(self, response: HTTPResponse, *, is_watch: bool) -> None:
        self.send_response_only(response.status)
        for name, value in response.getheaders():
            if name.lower() not in OWN_HEADERS:
                self.send_header(name, value)
        if response.chunked:
            self.send_header("Transfer-Encoding", "chunked")
        if response.will_close:
            self.send_header("Connection", "close")
        self.end_headers()
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
