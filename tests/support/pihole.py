"""A Pi-hole in memory, which logs its sessions and requests."""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import LiveRecord
from pic.pihole.protocol import RecordEdit


@dataclass
class MemoryPihole:
    """Our records, and a log of every request.

    Attributes:
        log: `open`, `close`, `read`, and each `apply` with its edits.
        edits: All edits, in their order.
        refuses: Edits of these hosts fail.
        fails: The next requests fail with these errors, one each.
        fails_to_close: Whether each logout fails.
        gate: Edits wait until it is set.
    """

    records: list[LiveRecord] = field(default_factory=list)
    log: list[object] = field(default_factory=list)
    edits: list[RecordEdit] = field(default_factory=list)
    refuses: frozenset[str] = frozenset()
    fails: list[PiholeError] = field(default_factory=list)
    fails_to_close: bool = False
    gate: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.gate.set()

    @contextlib.contextmanager
    def open(self, owned: frozenset[str] = frozenset()) -> Iterator["MemoryPihole"]:
        self.log.append(("open", *sorted(owned)))
        self._fail()
        yield self
        self.log.append("close")
        if self.fails_to_close:
            raise PiholeError("no logout")

    def read(self) -> tuple[LiveRecord, ...]:
        self.log.append("read")
        self._fail()
        return tuple(self.records)

    def shadows(self) -> Mapping[str, str]:
        return {}

    def apply(self, edits: Sequence[RecordEdit]) -> Mapping[RecordEdit, PiholeError]:
        self.gate.wait(10)
        self.edits += edits
        self.log.append(("apply", *((edit.host, edit.ip) for edit in edits)))
        self._fail()
        done = [edit for edit in edits if edit.host not in self.refuses]
        keys = {(edit.host, edit.family) for edit in done}
        self.records = [record for record in self.records if record.key not in keys]
        self.records += [LiveRecord(edit.host, edit.ip, ours=True) for edit in done if edit.ip]
        return {
            edit: PiholeError(f"no {edit.host}", kind=FailureClass.INVALID)
            for edit in edits
            if edit not in done
        }

    def _fail(self) -> None:
        if self.fails:
            raise self.fails.pop(0)
