"""Fakes an API server with one collection: objects with versions, watches, and ordered faults."""

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
    """What goes wrong with one request.

    Attributes:
        status: The server answers with this HTTP status.
        lines: A watch sends these bytes and ends. A list has no version.
        cut: The connection breaks after the bytes, instead of ending well.
    """

    status: int = 0
    lines: bytes | None = None
    cut: bool = False


@dataclass
class FakeCollection:
    """The objects of the server, and how it behaves.

    Attributes:
        requests: Path and query of each request.
        forgotten: Versions up to this one are too old to watch from.
        faults: The faults of the next requests, lists and watches apart.
        generation: Watches of an earlier generation end.
        opened: How many watches were ever opened.
    """

    kind: str
    path: str
    objects: dict[str, Object] = field(default_factory=dict)
    log: list[tuple[int, str, Object]] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    faults: dict[str, list[Fault]] = field(default_factory=lambda: {"list": [], "watch": []})
    version: int = 0
    forgotten: int = 0
    generation: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)
    ended: bool = False
    opened: int = 0
    port: int = 0

    def put(self, name: str, **spec: object) -> None:
        change = "MODIFIED" if name in self.objects else "ADDED"
        self.objects[name] = {"spec": spec}
        self._record(change, name, self.objects[name])

    def delete(self, name: str) -> None:
        self._record("DELETED", name, self.objects.pop(name))

    def forget(self) -> None:
        """Make every version so far too old."""
        with self.changed:
            self.version += 1
            self.forgotten = self.version

    def bookmark(self) -> None:
        self._record("BOOKMARK", "", {})

    def order(self, kind: str, *faults: Fault) -> None:
        self.faults[kind] += faults

    def end_watches(self) -> None:
        """End every open watch, as a server does from time to time."""
        with self.changed:
            self.generation += 1
            self.changed.notify_all()

    def _record(self, change: str, name: str, raw: Object) -> None:
        with self.changed:
            self.version += 1
            raw["metadata"] = {
                "namespace": "prod",
                "name": name,
                "resourceVersion": str(self.version),
            }
            self.log.append((self.version, change, json.loads(json.dumps(raw))))
            self.changed.notify_all()

    def transport(self, read: float = 10.0) -> ApiTransport:
        """Connect to the server, without retries."""
        server = f"http://127.0.0.1:{self.port}"
        pool = urllib3.PoolManager(retries=urllib3.Retry(0, raise_on_status=False))
        return ApiTransport(pool, server, Timeouts(read=read), Credentials("", lambda: ""))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def collection(self) -> FakeCollection:
        return cast("_Server", self.server).collection

    def do_GET(self) -> None:
        query = parse_qs(urlsplit(self.path).query)
        self.collection.requests.append(self.path)
        kind = "watch" if "watch" in query else "list"
        faults = self.collection.faults[kind]
        fault = faults.pop(0) if faults else Fault()
        if fault.status:
            self.answer(fault.status, {"kind": "Status", "message": f"no {kind}"})
        elif kind == "list":
            self.list(with_version=fault.lines is None)
        else:
            self.watch(int(query["resourceVersion"][0]), fault)

    def list(self, *, with_version: bool) -> None:
        collection = self.collection
        with collection.changed:
            metadata = {"resourceVersion": str(collection.version) if with_version else ""}
            items = list(collection.objects.values())
            kind = f"{collection.kind}List"
            self.answer(200, {"kind": kind, "metadata": metadata, "items": items})

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
        collection = self.collection
        if version < collection.forgotten:
            status = {"kind": "Status", "code": 410, "message": "too old"}
            self.chunk(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
            return
        with collection.changed:
            generation = collection.generation
            collection.opened += 1
            while not collection.ended and generation == collection.generation:
                for number, change, raw in [it for it in collection.log if it[0] > version]:
                    event = json.dumps({"type": change, "object": raw}).encode() + b"\n"
                    # In two pieces, since a network may split a line anywhere.
                    self.chunk(event[:10])
                    self.chunk(event[10:])
                    version = number
                collection.changed.wait(10)

    def chunk(self, data: bytes) -> None:
        """Send a chunk; an empty one ends the body."""
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
    collection: FakeCollection

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that disconnects."""


@contextmanager
def serving(kind: str, path: str) -> Iterator[FakeCollection]:
    """Serve one collection, which is empty at first."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.collection = collection = FakeCollection(kind, path, port=server.server_port)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield collection
    finally:
        with collection.changed:
            collection.ended = True
            collection.changed.notify_all()
        server.shutdown()
        thread.join()
        server.server_close()
