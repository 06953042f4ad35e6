"""Wakes the loop: from other threads, and from signal handlers, which may take no lock."""

import contextlib
import os
import select
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

MAX_WAIT_SECONDS = 3600.0
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Wakeup:
    """A pipe; a byte in it ends a wait.

    Attributes:
        over: The end is asked for.
    """

    over = False

    def __enter__(self) -> Self:
        self._out, self._in = os.pipe()
        for each in (self._out, self._in):
            os.set_blocking(each, False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        os.close(self._in)
        os.close(self._out)

    def ring(self) -> None:
        """End the wait, or the next one."""
        # A pipe that is full rings as well.
        with contextlib.suppress(BlockingIOError):
            os.write(self._in, b"\0")

    def end(self) -> None:
        """Ask for the end."""
        self.over = True
        self.ring()

    def wait(self, seconds: float) -> None:
        """Wait until it rings, or so long."""
        if select.select([self._out], [], [], max(0.0, min(seconds, MAX_WAIT_SECONDS)))[0]:
            os.read(self._out, 65536)


@contextmanager
def stop_on_signals() -> Iterator[Wakeup]:
    """Yield a bell at which signals ask for the end."""
    with Wakeup() as bell:
        before = {number: signal.signal(number, lambda *_: bell.end()) for number in SIGNALS}
        try:
            yield bell
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
