"""What feeds cannot do, said once: several of them mostly complain of the same. Thread-safe."""

import threading

from pic.cluster.listing import Listing
from pic.core import logs
from pic.watch.protocols import Log


class ProblemLog:
    """Says each complaint when the first has it, and that all is well when nobody has any."""

    def __init__(self, tell: Log) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._of: dict[Listing, str] = {}

    def make(self, who: Listing, words: str) -> None:
        """Note what one cannot do."""
        with self._lock:
            known = words in self._of.values()
            self._of[who] = words
            if not known:
                self._tell(logs.WARN, words)

    def withdraw(self, who: Listing) -> None:
        """Note that one has nothing to complain of."""
        with self._lock:
            if self._of.pop(who, None) and not self._of:
                self._tell(logs.INFO, "the cluster is followed again")
