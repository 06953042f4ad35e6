"""Follows one collection: a whole listing, then every change, for as long as it is wanted.

Where the connection ends, it goes on from the last version that it knows; where the API server no
longer has that version, it lists anew, which also shows what was deleted in between.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlencode

from pic.cluster import listing
from pic.cluster.listing import Listing, StatusError, Transport
from pic.core.errors import ClusterError
from pic.core.json_values import (
    MalformedError,
    Raw,
    integer,
    mapping,
    text,
)
from pic.watch.problem_log import ProblemLog
from pic.watch.protocols import Log
from pic.watch.store import (
    Objects,
    Store,
    object_key,
    pack,
)

GONE = 410
# A page is in memory as maps and lists, which a small one is not for long.
PAGE_SIZE = 100
# So many attempts at a version that the API server may have lost, then a whole listing.
RELIST_AFTER = 5


class Stream(Protocol):
    """An answer that comes line by line."""

    def __iter__(self) -> Iterator[object]:
        """Yield each line."""

    def stop(self) -> None:
        """End it, from another thread."""

    def close(self) -> None:
        """Give its connection up."""


class Source(Transport, Protocol):
    """An API server that can be listened to as well."""

    def stream(self, path: str, silence: float) -> Stream:
        """Ask for an answer that comes line by line."""


@dataclass(frozen=True, slots=True)
class FollowerTimes:
    """How long a feed waits, in seconds.

    Attributes:
        first: After a failure; each further one doubles it.
        longest: The end of the doubling.
        watch: How long a watch lasts at most; some of it is left to chance.
        silence: Beyond that, until a connection counts as broken.
        chance: A number from 0 to 1, another one each time.
    """

    chance: Callable[[], float]
    first: float = 1.0
    longest: float = 30.0
    watch: float = 300.0
    silence: float = 30.0

    def after(self, failures: int) -> float:
        """Return the wait after so many failures in a row; feeds do not come back all at once."""
        delay = min(self.first * 2.0 ** min(failures - 1, 16), self.longest)
        return delay * (1 + self.chance()) / 2


class Follower:
    """Keeps what the cache knows of a collection as it is."""

    def __init__(
        self,
        read: Listing,
        source: Source,
        cache: Store,
        complaints: ProblemLog,
        waits: FollowerTimes,
    ) -> None:
        self.read = read
        self._source, self._cache, self._waits = source, cache, waits
        self._complaints = complaints
        self._version = ""
        self._failures = self._silent = 0
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._stream: Stream | None = None

    def stop(self) -> None:
        """Let `run` end soon, from another thread."""
        self._stopping.set()
        with self._lock:
            if self._stream:
                self._stream.stop()

    def run(self) -> None:
        """Follow it until `stop`."""
        while not self._stopping.is_set():
            self._attempt(self._watch if self._version else self._list)

    def _attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except (StatusError, ClusterError, MalformedError) as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        if _status(error) == GONE or self._failures % RELIST_AFTER == 0:
            self._version = ""
        if _status(error) != GONE:
            self._give_up(error)
        elif self._failures == 1:
            return
        self._stopping.wait(self._waits.after(self._failures))

    def _give_up(self, error: Exception) -> None:
        """Say that it is not known what is there, but not for having been stopped."""
        # A connection that ends is everyday life; that there is no other is not.
        everyday = isinstance(error, ClusterError) and self._failures == 1
        if not everyday and not self._stopping.is_set():
            self._cache.lost(self.read)
            self._complaints.make(self.read, self._words(error))

    def _words(self, error: Exception) -> str:
        if isinstance(error, StatusError):
            verb = "watch" if self._version else "list"
            return str(listing.listing_error(self.read, verb, error))
        return str(error)

    def _list(self) -> None:
        objects: Objects = {}
        version = ""
        for page in listing.list_pages(self._source, self.read, PAGE_SIZE):
            objects.update((object_key(raw), pack(self.read.kind.name, raw)) for raw in page.items)
            version = page.resource_version
        if not version:
            raise ClusterError(f"listing {self.read} gave no resource version")
        self._version = version
        self._cache.replace(self.read, objects)
        self._complaints.withdraw(self.read)

    def _watch(self) -> None:
        seconds = int(self._waits.watch * (4 + self._waits.chance()) / 5)
        query = {
            "watch": 1,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": seconds,
        }
        path = f"{self.read.path}?{urlencode(query)}"
        stream = self._source.stream(path, seconds + self._waits.silence)
        self._cache.found(self.read)
        self._complaints.withdraw(self.read)
        try:
            with self._lock:
                self._stream = stream
            self._follow(stream)
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _follow(self, stream: Stream) -> None:
        if self._stopping.is_set():
            return
        heard = False
        for line in stream:
            self._take(mapping(line, "the event"))
            self._failures, heard = 0, True
        self._failures, self._silent = 0, 0 if heard else self._silent + 1
        if self._silent:
            # Whatever ends each watch at once must not be asked again at once.
            self._stopping.wait(self._waits.after(self._silent))

    def _take(self, event: Raw) -> None:
        raw = mapping(event.get("object"), "object")
        match event.get("type"):
            case "ADDED" | "MODIFIED":
                self._cache.put(self.read, object_key(raw), pack(self.read.kind.name, raw))
            case "DELETED":
                self._cache.put(self.read, object_key(raw), None)
            case "BOOKMARK":
                self._cache.heard()
            case "ERROR":
                _raise(raw)
            case other:
                raise MalformedError(f"watching {self.read} gave {text(other)!r}, not an event")
        metadata = mapping(raw.get("metadata"), "metadata")
        self._version = text(metadata.get("resourceVersion")) or self._version


def _raise(raw: Raw) -> None:
    """Raise what an ERROR event says."""
    code = integer(raw.get("code")) or 500
    raise StatusError(code, text(raw.get("message")) or "no reason given")


def _status(error: Exception) -> int:
    return error.status if isinstance(error, StatusError) else 0


@contextmanager
def following(
    reads: Sequence[Listing],
    source: Source,
    store: Store,
    log: Log,
    times: FollowerTimes | None = None,
) -> Iterator[None]:
    """Follow collections until the block ends; no thread outlives it."""
    pauses = times or FollowerTimes(random.SystemRandom().random)
    problems = ProblemLog(log)
    followers = [Follower(each, source, store, problems, pauses) for each in reads]
    threads = [threading.Thread(target=each.run, name=str(each.read)) for each in followers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for follower in followers:
            follower.stop()
        for thread in threads:
            thread.join()
