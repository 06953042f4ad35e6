"""Watches the API server independently: without the proxy, and without any code of pic."""

import contextlib
import http.client
import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from dev.chaos import judge
from dev.chaos.judge import ADDED, DELETED, MODIFIED, Observation

PATHS = {
    judge.INGRESS: "/apis/networking.k8s.io/v1/ingresses",
    judge.RESOURCE: "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources",
}
PAUSE_SECONDS, IDLE_SECONDS = 0.2, 60.0
ERRORS = (OSError, http.client.HTTPException, ValueError, KeyError)

Object = dict[str, Any]


@dataclass
class Witness:
    """Records every change of Ingresses and PangolinResources.

    Attributes:
        history: The changes of all kinds.
        gaps: How often a watch could not continue from its last version, so that a list filled the
            gap.
    """

    port: int
    token: str
    authority: str
    history: list[Observation] = field(default_factory=list)
    gaps: int = 0
    _ended: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: dict[str, socket.socket] = field(default_factory=dict)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch until the block ends."""
        threads = [threading.Thread(target=self._follow, args=(kind,)) for kind in PATHS]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._ended.set()
            with self._lock:
                for connection in self._open.values():
                    with contextlib.suppress(OSError):
                        socket.socket.shutdown(connection, socket.SHUT_RDWR)
            for thread in threads:
                thread.join()

    def last_change(self, *but: str) -> float:
        """Return the time of the last change, without those in some namespaces."""
        with self._lock:
            times = (event.at for event in self.history if event.namespace not in but)
            return max(times, default=0.0)

    def events(self) -> list[Observation]:
        """Return the history so far."""
        with self._lock:
            return list(self.history)

    def _follow(self, kind: str) -> None:
        follower = _Follower(self, kind)
        while not self._ended.is_set():
            try:
                follower.follow()
            except ERRORS:
                self._ended.wait(PAUSE_SECONDS)

    def record(self, event: Observation) -> None:
        """Record a change."""
        with self._lock:
            self.history.append(event)

    def request(self, kind: str, path: str) -> http.client.HTTPResponse:
        """Send a request on a new connection."""
        tls = ssl.create_default_context(cadata=self.authority)
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=tls, timeout=IDLE_SECONDS
        )
        connection.connect()
        with self._lock:
            self._open[kind] = connection.sock
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        # The response keeps the connection alive.
        return connection.getresponse()

    @property
    def is_over(self) -> bool:
        """Whether the witness has stopped."""
        return self._ended.is_set()


@dataclass
class _Follower:
    """Follows one kind.

    Attributes:
        objects: The current objects by uid.
        born: The revision at which each object was first seen, by uid.
    """

    witness: Witness
    kind: str
    version: str = ""
    objects: dict[str, Object] = field(default_factory=dict)
    born: dict[str, int] = field(default_factory=dict)

    def follow(self) -> None:
        if not self.version:
            self._list()
        query = f"watch=true&resourceVersion={self.version}&allowWatchBookmarks=true"
        with self.witness.request(self.kind, f"{PATHS[self.kind]}?{query}") as stream:
            if stream.status == 410:
                self.version = ""
            if stream.status != 200:
                raise ValueError(stream.status)
            for line in stream:
                if not self._apply(json.loads(line)):
                    return

    def _apply(self, event: Object) -> bool:
        """Apply an event, and say whether the watch goes on."""
        if event["type"] == "ERROR":
            if event["object"].get("code") == 410:
                self.version = ""
            return False
        if event["type"] != "BOOKMARK":
            self._record(event["type"], event["object"])
        self.version = event["object"]["metadata"]["resourceVersion"]
        return True

    def _list(self) -> None:
        """List the kind, and record the changes that a watch would have reported."""
        with self.witness.request(self.kind, PATHS[self.kind]) as answer:
            if answer.status != 200:
                raise ValueError(answer.status)
            listing = json.load(answer)
        revision = listing["metadata"]["resourceVersion"]
        objects = {item["metadata"]["uid"]: item for item in listing["items"]}
        self.witness.gaps += bool(self.objects)
        for uid in sorted(self.objects.keys() - objects.keys()):
            deleted = self.objects[uid]
            metadata = {**deleted["metadata"], "resourceVersion": revision}
            self._record(DELETED, {**deleted, "metadata": metadata})
        for uid, raw in objects.items():
            old = self.objects.get(uid)
            if old is None or old["metadata"]["resourceVersion"] != _version(raw):
                self._record(MODIFIED if old else ADDED, raw)
        self.version = revision

    def _record(self, change: str, raw: Object) -> None:
        uid = raw["metadata"]["uid"]
        self.born.setdefault(uid, int(_version(raw)))
        self.witness.record(judge.observe(self.kind, change, raw, monotonic(), self.born))
        if change == DELETED:
            self.objects.pop(uid, None)
        else:
            self.objects[uid] = raw


def _version(raw: Object) -> str:
    version: str = raw["metadata"]["resourceVersion"]
    return version
