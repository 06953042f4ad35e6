"""A Pi-hole that is a list in memory, and sessions with it that are counted."""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import LiveRecord
from pic.pihole.protocol import RecordEdit


@dataclass
class MemoryPihole:
    """Records of ours, and everything that was asked.

    Attributes:
        log: `open`, `close`, `read`, and each `apply` as its edits.
        refuses: Edits of these hosts fail.
        fails: What the next ones fail with, whole.
        gate: Edits wait for it.
    """

    records: list[LiveRecord] = field(default_factory=list)
    log: list[object] = field(default_factory=list)
    refuses: frozenset[str] = frozenset()
    fails: list[PiholeError] = field(default_factory=list)
    closes_badly: bool = False
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    @contextlib.contextmanager
    def open(self, owned: frozenset[str] = frozenset()) -> Iterator["MemoryPihole"]:
        self.log.append(("open", *sorted(owned)))
        self._fail()
        yield self
        self.log.append("close")
        if self.closes_badly:
            raise PiholeError("no logout")

    def read(self) -> tuple[LiveRecord, ...]:
        self.log.append("read")
        self._fail()
        return tuple(self.records)

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        self.gate.wait(10)
        self.log.append(("apply", *((e.host, e.ip) for e in edits)))
        self._fail()
        failed = {e: PiholeError(f"no {e.host}", kind=FailureClass.INVALID) for e in edits}
        done = [e for e in edits if e.host not in self.refuses]
        keys = {(e.host, e.family) for e in done}
        self.records = [each for each in self.records if each.key not in keys]
        self.records += [LiveRecord(e.host, e.ip, ours=True) for e in done if e.ip]
        return {e: error for e, error in failed.items() if e not in done}

    def _fail(self) -> None:
        if self.fails:
            raise self.fails.pop(0)
