"""Follows collections of the API server: lists each one, then watches it for changes.

Each collection has a thread. When a watch ends, the next one continues from the last resource
version. When the API server no longer has that version (410 Gone), the follower lists the
collection again, which also shows what was deleted in between. See
https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes.
"""

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from pic.cluster.listing import ApiTransport, Listing, StatusError, list_pages, listing_error
from pic.core.errors import ClusterError
from pic.core.json_values import MalformedError, Raw, integer, mapping, text
from pic.core.logs import Log
from pic.watch.problem_log import ProblemLog
from pic.watch.store import Objects, Store, object_key, pack

if TYPE_CHECKING:
    from pic.cluster.connection import Stream

GONE = 410
# A page is in memory as maps and lists, which take three times the memory of packed objects.
PAGE_SIZE = 100
# After this many failures in a row the follower lists again, in case the version is the problem.
RELIST_AFTER = 5


@dataclass(frozen=True, slots=True)
class FollowerTimes:
    """How long a follower waits, in seconds.

    Attributes:
        chance: Returns a random number from 0 to 1.
        first_pause: The pause after a failure; each further failure doubles it.
        longest_pause: The longest pause.
        watch: The longest duration of a watch; each one is up to a fifth shorter, at random.
        silence: How long beyond the end of a watch a connection may stay silent before it counts
            as broken.
    """

    chance: Callable[[], float]
    first_pause: float = 1.0
    longest_pause: float = 30.0
    watch: float = 300.0
    silence: float = 30.0

    def pause(self, failures: int) -> float:
        """Return the pause after a number of failures in a row.

        Half of it is random, so that the followers do not all come back at the same moment.
        """
        # The bound on the exponent only prevents an overflow.
        delay = min(self.first_pause * 2.0 ** min(failures - 1, 16), self.longest_pause)
        return delay * (1 + self.chance()) / 2


@contextmanager
def following(
    listings: Sequence[Listing],
    transport: ApiTransport,
    store: Store,
    log: Log,
    times: FollowerTimes | None = None,
) -> Iterator[None]:
    """Follow collections until the block ends; no thread outlives the block."""
    times = times or FollowerTimes(random.SystemRandom().random)
    problems = ProblemLog(log)
    followers = [Follower(listing, transport, store, problems, times) for listing in listings]
    threads = [
        threading.Thread(target=follower.run, name=str(follower.listing)) for follower in followers
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for follower in followers:
            follower.stop()
        for thread in threads:
            thread.join()


class Follower:
    """Keeps one collection in the store up to date."""

    def __init__(
        self,
        listing: Listing,
        transport: ApiTransport,
        store: Store,
        problems: ProblemLog,
        times: FollowerTimes,
    ) -> None:
        self.listing = listing
        self._transport, self._store, self._times = transport, store, times
        self._problems = problems
        self._version = ""
        self._failures = self._silent_watches = 0
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._stream: Stream | None = None

    def stop(self) -> None:
        """Make `run` return soon; called from another thread."""
        self._stopping.set()
        with self._lock:
            if self._stream:
                self._stream.stop()

    def run(self) -> None:
        """Follow the collection until `stop` is called."""
        while not self._stopping.is_set():
            self._attempt(self._watch if self._version else self._list)

    def _attempt(self, step: Callable[[], None]) -> None:
        try:
            step()
        except (StatusError, ClusterError, MalformedError) as error:
            self._handle(error)

    def _handle(self, error: Exception) -> None:
        self._failures += 1
        if _status(error) == GONE or self._failures % RELIST_AFTER == 0:
            self._version = ""
        # 410 is part of normal operation: the API server keeps the changes of a few minutes only.
        # So it is not a problem to report, and the first one needs no pause.
        if _status(error) != GONE:
            self._report(error)
        elif self._failures == 1:
            return
        self._stopping.wait(self._times.pause(self._failures))

    def _report(self, error: Exception) -> None:
        """Mark the collection as not synced and log why, unless `stop` caused the error."""
        # A connection may break at any time. That is a problem only if the next one fails as well.
        is_normal = isinstance(error, ClusterError) and self._failures == 1
        if not is_normal and not self._stopping.is_set():
            self._store.mark_unsynced(self.listing)
            self._problems.report(self.listing, self._message(error))

    def _message(self, error: Exception) -> str:
        if isinstance(error, StatusError):
            verb = "watch" if self._version else "list"
            return str(listing_error(self.listing, verb, error))
        return str(error)

    def _list(self) -> None:
        objects: Objects = {}
        version = ""
        for page in list_pages(self._transport, self.listing, PAGE_SIZE):
            objects.update((object_key(raw), self._pack(raw)) for raw in page.items)
            version = page.resource_version
        # Without a version, a watch would start at any later state and miss changes.
        if not version:
            raise ClusterError(f"listing {self.listing} gave no resource version")
        self._version = version
        self._store.replace(self.listing, objects)
        self._problems.clear(self.listing)

    def _watch(self) -> None:
        # Random, so that the watches of all followers do not end at the same moment.
        seconds = int(self._times.watch * (4 + self._times.chance()) / 5)
        # Bookmarks move the version forward while no object changes, so that it does not expire.
        query = {
            "watch": 1,
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": seconds,
        }
        path = f"{self.listing.path}?{urlencode(query)}"
        stream = self._transport.stream(path, seconds + self._times.silence)
        # The API server has accepted the version, so no change was missed.
        self._store.mark_synced(self.listing)
        self._problems.clear(self.listing)
        try:
            with self._lock:
                self._stream = stream
            self._consume(stream)
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _consume(self, stream: "Stream") -> None:
        # `stop` may have been called before `_stream` was set, when it could not end the stream.
        if self._stopping.is_set():
            return
        is_silent = True
        for line in stream:
            self._apply(mapping(line, "the event"))
            self._failures, is_silent = 0, False
        self._failures, self._silent_watches = 0, self._silent_watches + 1 if is_silent else 0
        if self._silent_watches:
            # A proxy may end every watch at once. Without a pause that would be a busy loop.
            self._stopping.wait(self._times.pause(self._silent_watches))

    def _apply(self, event: Raw) -> None:
        raw = mapping(event.get("object"), "object")
        match event.get("type"):
            case "ADDED" | "MODIFIED":
                self._store.put(self.listing, object_key(raw), self._pack(raw))
            case "DELETED":
                self._store.put(self.listing, object_key(raw), None)
            case "BOOKMARK":
                self._store.record_contact()
            case "ERROR":
                # A version can also expire during a watch, which has answered with 200 by then.
                _raise(raw)
            case other:
                raise MalformedError(f"watching {self.listing} gave {text(other)!r}, not an event")
        # Only now, so that the next watch repeats an event that could not be stored.
        metadata = mapping(raw.get("metadata"), "metadata")
        self._version = text(metadata.get("resourceVersion")) or self._version

    def _pack(self, raw: Raw) -> bytes:
        return pack(self.listing.kind.name, raw)


def _raise(raw: Raw) -> None:
    """Raise the Status object of an ERROR event."""
    code = integer(raw.get("code")) or 500
    raise StatusError(code, text(raw.get("message")) or "no reason given")


def _status(error: Exception) -> int:
    return error.status if isinstance(error, StatusError) else 0
