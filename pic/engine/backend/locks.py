"""Reads who has locked a stack, and says which of its locks are dead.

A state backend that is a folder or a bucket keeps locks as files. A killed engine leaves its lock
behind. A lock names a host and a process id, which two containers may share, and a time, which a
change of the clock makes wrong. So a lock is dead only if a record of this machine says which
process made it, and that process has ended. A lock without a record is not dead.
"""

import json
import math
import re
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from pic.core.json_values import MalformedError, integer, mapping, text
from pic.engine.backend import processes
from pic.engine.backend.processes import PROC, Fate
from pic.engine.backend.run_records import RunRecord
from pic.engine.backend.stores import Store
from pic.settings.stack_file import PROJECT

# The CLI has one exit code for all these failures, so only its message names a lock.
_OWNER = re.compile(
    r"created by (?P<user>.*)@(?P<host>[^@\s]+) \(pid (?P<pid>\d+)\) at (?P<time>\S+)"
)
_LOCKED = "the stack is currently locked by"


class Owner(Enum):
    """Says what became of the run that made a lock.

    Attributes:
        UNKNOWN: This machine has no record of it, or cannot see its processes.
    """

    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Lock:
    """One lock, and the process that made it."""

    user: str
    host: str
    pid: int
    since: datetime

    def __str__(self) -> str:
        return f"{self.user}@{self.host} (pid {self.pid}) since {self.since:%Y-%m-%d %H:%M:%S} UTC"


@dataclass(frozen=True, slots=True)
class Judge:
    """Judges the locks of one stack.

    Attributes:
        records: The records of the stack's runs on this machine.
        abandoned_before: A lock of an unknown owner that is older counts as abandoned. With None
            no lock does.
        host: The name of this host, as locks have it.
        proc: Where the system tells about processes.
    """

    records: Sequence[RunRecord]
    abandoned_before: datetime | None = None
    host: str = field(default_factory=socket.gethostname)
    proc: Path = PROC

    def owner(self, lock: Lock) -> Owner:
        """Say what became of the run that made a lock."""
        fates = {
            processes.fate(record.process, self.proc)
            for record in self.records
            if _is_of(lock, record)
        }
        if Fate.RUNNING in fates or self._may_run_here(lock, fates):
            return Owner.RUNNING
        return Owner.ENDED if fates == {Fate.ENDED} else Owner.UNKNOWN

    def is_dead(self, lock: Lock) -> bool:
        """Say whether the owner of a lock has certainly ended, or has abandoned it."""
        return self.owner(lock) is Owner.ENDED or self.is_abandoned(lock)

    def is_abandoned(self, lock: Lock) -> bool:
        """Say whether a lock of an unknown owner is too old."""
        before = self.abandoned_before
        return before is not None and lock.since < before and self.owner(lock) is Owner.UNKNOWN

    def _may_run_here(self, lock: Lock, fates: set[Fate]) -> bool:
        # Such as `pulumi refresh`, which runs no program that could write a record.
        return not fates and lock.host == self.host and processes.is_cli(lock.pid, self.proc)


def parse(message: str) -> tuple[Lock, ...] | None:
    """Return the locks that a message of the CLI names; None if it is about something else."""
    if _LOCKED not in message:
        return None
    return tuple(
        Lock(match["user"], match["host"], int(match["pid"]), _time(match["time"]))
        for match in _OWNER.finditer(message)
    )


def read(content: bytes | str) -> Lock:
    """Read a lock file of the Pulumi CLI.

    Raises:
        ValueError: The content has another form.
    """
    raw = mapping(json.loads(content), "lock")
    pid = integer(raw.get("pid"))
    if pid is None:
        raise MalformedError("lock.pid is not a number")
    since = _time(text(raw.get("timestamp"))).astimezone(UTC)
    return Lock(text(raw.get("username")), text(raw.get("hostname")), pid, since)


def folder(stack: str) -> str:
    """Return the folder of a stack's locks in a store."""
    return f"locks/organization/{PROJECT}/{stack.rpartition('/')[2]}"


def read_all(store: Store, stack: str) -> Mapping[str, Lock]:
    """Return the locks of a stack by file, without those that just went or cannot be read.

    Raises:
        EngineError: The store cannot be used.
    """
    place = folder(stack)
    names = sorted(name for name in store.names(place) if name.endswith(".json"))
    locks = {name: _read_or_none(store.read(place, name)) for name in names}
    return {name: lock for name, lock in locks.items() if lock}


def remove_dead(store: Store, stack: str, judge: Judge) -> tuple[Lock, ...]:
    """Read the locks of a stack again, remove exactly the dead ones, and return those.

    A lock file has a name of its own and is written once. So what is removed is what was judged.

    Raises:
        EngineError: The store cannot be used.
    """
    dead = {name: lock for name, lock in read_all(store, stack).items() if judge.is_dead(lock)}
    store.remove(folder(stack), sorted(dead))
    return tuple(dead.values())


def _read_or_none(content: bytes | None) -> Lock | None:
    try:
        return None if content is None else read(content)
    except ValueError:
        return None


def _is_of(lock: Lock, record: RunRecord) -> bool:
    # The message of the CLI cuts the fraction of a second off.
    earliest, since = math.floor(record.since), lock.since.timestamp()
    named = (lock.pid, lock.host) == (record.process.pid, record.host)
    return named and earliest <= since <= record.until


def _time(written: str) -> datetime:
    moment = datetime.fromisoformat(written)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
