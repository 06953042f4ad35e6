"""An independent watch on the API server: it goes by no proxy, and knows nothing of pic."""

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
from dev.chaos.judge import ADDED, DELETED, MODIFIED, Seen

PATHS = {
    judge.INGRESS: "/apis/networking.k8s.io/v1/ingresses",
    judge.RESOURCE: "/apis/tunnel.pangolin.io/v1alpha1/pangolinresources",
}
PAUSE_SECONDS, IDLE_SECONDS = 0.2, 60.0
TROUBLE = (OSError, http.client.HTTPException, ValueError, KeyError)

Object = dict[str, Any]


@dataclass
class Witness:
    """Writes down every change of Ingresses and PangolinResources.

    Attributes:
        history: What was seen, of all kinds.
        gaps: How often a watch could not go on where it had ended, so that a listing filled it.
    """

    port: int
    token: str
    authority: str
    history: list[Seen] = field(default_factory=list)
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
                for each in self._open.values():
                    with contextlib.suppress(OSError):
                        socket.socket.shutdown(each, socket.SHUT_RDWR)
            for thread in threads:
                thread.join()

    def last_change(self) -> float:
        """Return when something was seen last."""
        with self._lock:
            return max((each.at for each in self.history), default=0.0)

    def seen(self) -> list[Seen]:
        """Return the history so far."""
        with self._lock:
            return list(self.history)

    def _follow(self, kind: str) -> None:
        book = _Book(self, kind)
        while not self._ended.is_set():
            try:
                book.follow()
            except TROUBLE:
                self._ended.wait(PAUSE_SECONDS)

    def note(self, seen: Seen) -> None:
        """Write down a change."""
        with self._lock:
            self.history.append(seen)

    def request(self, kind: str, path: str) -> http.client.HTTPResponse:
        """Ask for something, on a connection of its own."""
        tls = ssl.create_default_context(cadata=self.authority)
        made = http.client.HTTPSConnection(
            "127.0.0.1", self.port, context=tls, timeout=IDLE_SECONDS
        )
        made.connect()
        with self._lock:
            self._open[kind] = made.sock
        made.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        # The answer keeps the connection.
        return made.getresponse()

    @property
    def is_over(self) -> bool:
        """Whether nothing is to be seen any more."""
        return self._ended.is_set()


@dataclass
class _Book:
    """What is known of one kind."""

    witness: Witness
    kind: str
    version: str = ""
    known: dict[str, Object] = field(default_factory=dict)
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
                if not self._hear(json.loads(line)):
                    return

    def _hear(self, event: Object) -> bool:
        """Take in an event, and say whether others may follow."""
        if event["type"] == "ERROR":
            if event["object"].get("code") == 410:
                self.version = ""
            return False
        if event["type"] != "BOOKMARK":
            self._note(event["type"], event["object"])
        self.version = event["object"]["metadata"]["resourceVersion"]
        return True

    def _list(self) -> None:
        """Read everything, and tell what a watch would have told."""
        with self.witness.request(self.kind, PATHS[self.kind]) as answer:
            if answer.status != 200:
                raise ValueError(answer.status)
            found = json.load(answer)
        revision = found["metadata"]["resourceVersion"]
        there = {each["metadata"]["uid"]: each for each in found["items"]}
        self.witness.gaps += bool(self.known)
        for uid in sorted(self.known.keys() - there.keys()):
            gone = self.known[uid]
            metadata = {**gone["metadata"], "resourceVersion": revision}
            self._note(DELETED, {**gone, "metadata": metadata})
        for uid, each in there.items():
            old = self.known.get(uid)
            if old is None or old["metadata"]["resourceVersion"] != _version(each):
                self._note(MODIFIED if old else ADDED, each)
        self.version = revision

    def _note(self, change: str, raw: Object) -> None:
        uid = raw["metadata"]["uid"]
        self.born.setdefault(uid, int(_version(raw)))
        self.witness.note(judge.seen_of(self.kind, change, raw, monotonic(), self.born))
        if change == DELETED:
            self.known.pop(uid, None)
        else:
            self.known[uid] = raw


def _version(raw: Object) -> str:
    found: str = raw["metadata"]["resourceVersion"]
    return found
