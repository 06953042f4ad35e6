"""Wakes the loop from other threads and from signal handlers.

A signal handler must not take a lock that the interrupted code may hold. So a wakeup is a byte in a
pipe, on which the loop waits with `select`.
"""

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

# `select` does not accept infinity, which is how long the schedule may want to wait.
MAX_WAIT_SECONDS = 3600.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Wakeup:
    """A pipe; a byte in it ends a wait.

    Attributes:
        stop_requested: The watcher should stop.
    """

    stop_requested = False

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        # A signal handler must never block, not even when the pipe is full.
        for descriptor in (self._reader, self._writer):
            os.set_blocking(descriptor, False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        os.close(self._writer)
        os.close(self._reader)

    def wake(self) -> None:
        """End the current wait, or the next one."""
        # If the pipe is full, its bytes end the wait without another one.
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"\0")

    def request_stop(self) -> None:
        """Ask the watcher to stop."""
        self.stop_requested = True
        self.wake()

    def wait(self, seconds: float) -> None:
        """Wait for a wakeup, for at most some seconds."""
        timeout = max(0.0, min(seconds, MAX_WAIT_SECONDS))
        if select.select([self._reader], [], [], timeout)[0]:
            # One read takes all wakeups so far: a Linux pipe holds 64 KiB.
            os.read(self._reader, 65536)


@contextmanager
def stop_on_signals() -> Iterator[Wakeup]:
    """Yield a wakeup whose stop is requested by SIGTERM, SIGINT and SIGHUP."""
    with Wakeup() as wakeup:
        previous = {
            number: signal.signal(number, lambda *_: wakeup.request_stop()) for number in SIGNALS
        }
        try:
            yield wakeup
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
