"""One thread for each collection, started and ended together."""

import random
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from pic.cluster.listing import Listing
from pic.watch.complaints import Complaints
from pic.watch.follower import Feed, Source, Waits
from pic.watch.protocols import Tell
from pic.watch.store import Cache


@contextmanager
def following(
    reads: Sequence[Listing], source: Source, cache: Cache, tell: Tell, waits: Waits | None = None
) -> Iterator[None]:
    """Follow collections until the block ends; no thread outlives it."""
    pauses = waits or Waits(random.SystemRandom().random)
    complaints = Complaints(tell)
    feeds = [Feed(each, source, cache, complaints, pauses) for each in reads]
    threads = [threading.Thread(target=each.run, name=str(each.read)) for each in feeds]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for feed in feeds:
            feed.stop()
        for thread in threads:
            thread.join()
