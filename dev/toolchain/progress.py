"""Shows the elapsed time of a step: in place on a terminal, as a few lines elsewhere."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

from dev.toolchain.model import Echo


class Progress:
    """Shows the elapsed time of one step while it runs."""

    def __init__(
        self,
        what: str,
        echo: Echo,
        line_every: float,
        terminal: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._what, self._echo, self._clock = what, echo, clock
        self._line_every = line_every
        self._terminal = terminal or (sys.stderr if sys.stderr.isatty() else None)
        self._began = self._shown = clock()

    @property
    def seconds(self) -> float:
        """The seconds since the start."""
        return self._clock() - self._began

    @property
    def pause(self) -> float:
        """The seconds to wait between two calls of `tick`."""
        return min(1.0, self._line_every)

    def tick(self) -> None:
        """Show the elapsed time if the next line is due."""
        if self._terminal:
            self._terminal.write(f"\r{self._what}: {self.seconds:.0f} s")
            self._terminal.flush()
        elif self._clock() - self._shown >= self._line_every:
            self._shown = self._clock()
            self._echo(f"{self._what}: {self.seconds:.0f} s")

    def clear(self) -> None:
        """Erase the line on the terminal, so that the next output starts on an empty line."""
        if self._terminal:
            self._terminal.write("\r\x1b[K")
            self._terminal.flush()
