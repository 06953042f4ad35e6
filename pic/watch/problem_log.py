"""Logs the problems of several followers, each problem once.

Most problems, such as an API server that is down, affect all followers at once. The class is
thread-safe, because each follower is a thread.
"""

import threading

from pic.cluster.listing import Listing
from pic.core import logs
from pic.core.logs import Log


class ProblemLog:
    """Logs a problem when the first follower has it, and when the last problem is gone."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._lock = threading.Lock()
        self._problems: dict[Listing, str] = {}

    def report(self, listing: Listing, message: str) -> None:
        """Record the problem of one follower."""
        with self._lock:
            is_new = message not in self._problems.values()
            self._problems[listing] = message
            if is_new:
                self._log(logs.WARN, message)

    def clear(self, listing: Listing) -> None:
        """Record that one follower has no problem."""
        with self._lock:
            if self._problems.pop(listing, None) and not self._problems:
                self._log(logs.INFO, "following the cluster again")
