"""A small API server on the loopback: objects with versions, watches, and faults to order."""

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import urllib3

from pic.cluster.connection import Credentials
from pic.cluster.listing import ApiTransport, Timeouts

Object = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What becomes of one request.

    Attributes:
        status: It is refused.
        lines: A watch says these bytes, and no more; a list has no version.
        cut: Then the connection breaks, which an end would not be.
    """

    status: int = 0
    lines: bytes | None = None
    cut: bool = False


@dataclass
class FakeCollection:
    """What the server has.

    Attributes:
        asked: Each request's path and query.
        forgotten: Versions up to this one are too old to watch from.
        faults: Of the next requests, lists and watches apart.
    """

    kind: str
    path: str
    objects: dict[str, Object] = field(default_factory=dict)
    log: list[tuple[int, str, Object]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=lambda: {"list": [], "watch": []})
    version: int = 0
    forgotten: int = 0
    watches: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    ended: bool = False
    opened: int = 0  # watches, ever
    port: int = 0

    def put(self, name: str, **spec: object) -> None:
        kind = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = {"spec": spec}
        self._note(kind, name, self.objects[name])

    def delete(self, name: str) -> None:
        self._note("DELETED", name, self.objects.pop(name))

    def forget(self) -> None:
        """Lose every version that there was."""
        with self.changed:
            self.version += 1
            self.forgotten = self.version

    def bookmark(self) -> None:
        self._note("BOOKMARK", "", {})

    def order(self, kind: str, *faults: Fault) -> None:
        self.faults[kind] += faults

    def end_watches(self) -> None:
        """End every watch that is open, as the server does from time to time."""
        with self.changed:
            self.watches += 1
            self.changed.notify_all()

    def _note(self, kind: str, name: str, found: Object) -> None:
        with self.changed:
            self.version += 1
            found["metadata"] = {
                "namespace": "prod",
                "name": name,
                "resourceVersion": str(self.version),
            }
            self.log.append((self.version, kind, json.loads(json.dumps(found))))
            self.changed.notify_all()

    def transport(self, read: float = 10.0) -> ApiTransport:
        """Connect to it, without retries."""
        server = f"http://127.0.0.1:{self.port}"
        pool = urllib3.PoolManager(retries=urllib3.Retry(0, raise_on_status=False))
        return ApiTransport(pool, server, Timeouts(read=read), Credentials("", lambda: ""))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def served(self) -> FakeCollection:
        return cast("_Server", self.server).served

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        self.served.asked.append(self.path)
        kind = "watch" if "watch" in query else "list"
        waiting = self.served.faults[kind]
        fault = waiting.pop(0) if waiting else Fault()
        if fault.status:
            self.answer(fault.status, {"kind": "Status", "message": f"no {kind}"})
        elif kind == "list":
            self.list(with_version=fault.lines is None)
        else:
            self.watch(int(query["resourceVersion"][0]), fault)

    def list(self, *, with_version: bool) -> None:
        served = self.served
        with served.changed:
            metadata = {"resourceVersion": str(served.version) if with_version else ""}
            items = list(served.objects.values())
            self.answer(200, {"kind": f"{served.kind}List", "metadata": metadata, "items": items})

    def watch(self, version: int, fault: Fault) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        if fault.lines is not None:
            if fault.lines:
                self.chunk(fault.lines)
            self.close_connection = fault.cut
        else:
            self.follow(version)
        if not fault.cut:
            self.chunk(b"")

    def follow(self, version: int) -> None:
        served = self.served
        if version < served.forgotten:
            gone = {"kind": "Status", "code": 410, "message": "too old"}
            self.chunk(json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n")
            return
        with served.changed:
            watches = served.watches
            served.opened += 1
            while not served.ended and watches == served.watches:
                for number, kind, found in [each for each in served.log if each[0] > version]:
                    event = json.dumps({"type": kind, "object": found}).encode() + b"\n"
                    # In two pieces, as a network may.
                    self.chunk(event[:10])
                    self.chunk(event[10:])
                    version = number
                served.changed.wait(10)

    def chunk(self, data: bytes) -> None:
        """Send a chunk; an empty one is the end."""
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def answer(self, status: int, body: Mapping[str, object]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's word
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    served: FakeCollection

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is none."""


@contextmanager
def serving(kind: str, path: str) -> Iterator[FakeCollection]:
    """Serve one collection, empty at first."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.served = served = FakeCollection(kind, path, port=server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield served
    finally:
        with served.changed:
            served.ended = True
            served.changed.notify_all()
        server.shutdown()
        thread.join()
        server.server_close()
