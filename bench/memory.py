"""Observes the descendants of a process: their memory, and which of them are the engine's."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

PERIOD_SECONDS = 0.02
MIB = 1024 * 1024
CLI = "pulumi"
OPERATIONS = {"up", "preview", "refresh", "destroy"}


class Observer:
    """Samples the descendants of a process, without the process itself, until the block ends.

    Attributes:
        tree_mb: The peak sum of their resident memory in MiB; shared pages count several times.
        process_mb: The peak resident memory of the first child in MiB.
        engines: The process ids of the engine, its language hosts and its plugins.
        clis: The process ids of the CLI that only query, such as the outputs of a stack.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._stop = threading.Event()
        self._first = 0
        self._thread = threading.Thread(target=self._observe, name="memory")
        self.tree_mb = 0.0
        self.process_mb = 0.0
        self.engines: set[int] = set()
        self.clis: set[int] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _observe(self) -> None:
        while not self._stop.wait(PERIOD_SECONDS):
            self._sample()

    def _sample(self) -> None:
        parents = dict(_parents())
        # The root starts one child; orphans of that child become its children later.
        children = (pid for pid, parent in parents.items() if parent == self._root)
        self._first = self._first or min(children, default=0)
        below = _descendants(self._root, parents)
        self.tree_mb = max(self.tree_mb, sum(map(_resident, below)))
        self.process_mb = max(self.process_mb, _peak(self._first))
        for pid in below:
            self._classify(pid)

    def _classify(self, pid: int) -> None:
        words = _read(f"/proc/{pid}/cmdline").split("\0")
        name = Path(words[0]).name
        if name.startswith(f"{CLI}-") or (name == CLI and OPERATIONS.intersection(words)):
            self.engines.add(pid)
        elif name == CLI:
            self.clis.add(pid)


def _parents() -> Iterator[tuple[int, int]]:
    """Yield the id of every process and of its parent."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - iterdir is slower
        if name.isdigit() and (stat := _read(f"/proc/{name}/stat")):
            yield int(name), int(stat.rpartition(")")[2].split()[1])


def _descendants(root: int, parents: dict[int, int]) -> set[int]:
    """Return all descendants of a process."""
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
