"""Watches a process and all that it starts: their memory, and which of them are the engine's."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

PERIOD_SECONDS = 0.02
MIB = 1024 * 1024
CLI = "pulumi"
OPERATIONS = {"up", "preview", "refresh", "destroy"}


class Watch:
    """Looks at the descendants of a process, which itself does not count, until the block ends.

    Attributes:
        tree_mb: The largest sum of their resident memory seen; shared pages count for each. In MiB.
        process_mb: The largest resident memory of the child, ever. In MiB.
        engines: Processes of the engine, its language hosts and its plugins.
        clis: Processes of the CLI that only ask, for the outputs of a stack for example.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._ended = threading.Event()
        self._first = 0
        self._thread = threading.Thread(target=self._watch, name="memory")
        self.tree_mb = 0.0
        self.process_mb = 0.0
        self.engines: set[int] = set()
        self.clis: set[int] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(PERIOD_SECONDS):
            self._look()

    def _look(self) -> None:
        parents = dict(_parents())
        # Of the root's children the first is the one it started; others fall to it later.
        children = (pid for pid, parent in parents.items() if parent == self._root)
        self._first = self._first or min(children, default=0)
        below = _descendants(self._root, parents)
        self.tree_mb = max(self.tree_mb, sum(map(_resident, below)))
        self.process_mb = max(self.process_mb, _peak(self._first))
        for pid in below:
            self._know(pid)

    def _know(self, pid: int) -> None:
        words = _read(f"/proc/{pid}/cmdline").split("\0")
        name = Path(words[0]).name
        if name.startswith(f"{CLI}-") or (name == CLI and OPERATIONS.intersection(words)):
            self.engines.add(pid)
        elif name == CLI:
            self.clis.add(pid)


def _parents() -> Iterator[tuple[int, int]]:
    """Yield every process and its parent."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - quick
        if name.isdigit() and (stat := _read(f"/proc/{name}/stat")):
            yield int(name), int(stat.rpartition(")")[2].split()[1])


def _descendants(root: int, parents: dict[int, int]) -> set[int]:
    """Return all below a process, however deep."""
    below: set[int] = set()
    layer = {root}
    while layer := {pid for pid, parent in parents.items() if parent in layer}:
        below |= layer
    return below


def _resident(pid: int) -> float:
    pages = _read(f"/proc/{pid}/statm").split()
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE") / MIB if pages else 0.0


def _peak(pid: int) -> float:
    lines = _read(f"/proc/{pid}/status").splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:  # it has ended
        return ""
