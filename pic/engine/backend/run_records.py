"""Records which process of this machine runs the engine for a stack, so that its lock has an owner.

A lock of the Pulumi CLI names a host and a process id, and neither is unique. A record names the
process for certain, and the time in which it took its lock. pic begins a record before it starts
the CLI; the supervisor adds the process; the first event of the engine, which holds the lock by
then, ends the time. For a plain `pulumi up`, the program writes the record of the CLI above it.

Records are files in the private folder of the user, with a line of JSON for each of these steps.
They go when their run has succeeded, or when a later run holds the lock of the stack.
"""

import contextlib
import json
import os
import socket
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from pic.core import private_folder, supervisor
from pic.core.json_values import mapping, text
from pic.engine.backend import processes
from pic.engine.backend.processes import PROC, Fate, Machine, Process

FOLDER = "runs"
VARIABLE = supervisor.RECORD
# Records beyond this number go, the oldest first: a lock without a record only stays longer.
MOST = 200
# A CLI that has not reported an event has taken its lock within this time, if at all.
GRACE_SECONDS = 60.0
# A command with one of these words takes no lock, although it runs the program.
_WITHOUT_LOCK = ("pre", "preview", "--preview-only", "--preview-only=true")


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run of the engine on this machine.

    Attributes:
        host: The name of the host at that time, as the lock has it.
        since: When the run may have taken its lock at the earliest, in seconds since 1970.
        until: When it may have taken its lock at the latest.
    """

    process: Process
    host: str
    since: float
    until: float


@dataclass
class Recording:
    """The record of a run that is under way.

    Attributes:
        path: Its file; None if there is no record.
        key: The name of the stack in its backend.
    """

    path: Path | None
    key: str
    confirmed: bool = False

    def confirm(self) -> None:
        """Record that the run holds the lock by now, and remove what earlier runs have left."""
        if self.path and not self.confirmed:
            self.confirmed = True
            with contextlib.suppress(OSError):
                _add(self.path, {"until": time.time()})
                _tidy(self.path, self.key)

    def discard(self) -> None:
        """Remove the record, because the run has removed its lock."""
        if self.path:
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)


def begin(folder: Path, key: str, proc: Path = PROC) -> Recording:
    """Begin the record of a run whose CLI the supervisor will start.

    Args:
        folder: The private folder of the user.
        key: The name of the stack in its backend.
        proc: Where the system tells about processes.

    Raises:
        SettingsError: The folder is not private.
    """
    machine = processes.this_machine(proc)
    if machine is None:
        return Recording(None, key)
    now = time.time()
    return Recording(_write(folder, key, _fields(machine, now, now + GRACE_SECONDS)), key)


def record_cli(folder: Path, key: str, proc: Path = PROC) -> None:
    """Record the CLI that runs this program, which holds the lock of the stack.

    Raises:
        SettingsError: The folder is not private.
    """
    machine, cli = processes.this_machine(proc), processes.cli_above(os.getppid(), proc)
    start = processes.start_of(cli, proc)
    if machine is None or start is None or {*_WITHOUT_LOCK} & {*processes.arguments(cli, proc)}:
        return
    now = time.time()
    fields = _fields(machine, now - processes.age(start), now)
    if path := _write(folder, key, {**fields, "pid": cli, "start": start}):
        with contextlib.suppress(OSError):
            _tidy(path, key, proc)


def read(folder: Path, key: str) -> tuple[RunRecord, ...]:
    """Return the records of a stack; none from a folder to which others have access."""
    if not private_folder.is_private(folder):
        return ()
    records = (_read(path) for path in _paths(folder / FOLDER, key))
    return tuple(record for record in records if record)


def _fields(machine: Machine, since: float, until: float) -> dict[str, object]:
    return {
        "boot": machine.boot,
        "namespace": machine.namespace,
        "host": socket.gethostname(),
        "since": since,
        "until": until,
    }


def _write(folder: Path, key: str, fields: dict[str, object]) -> Path | None:
    """Write a new record; return None where that is not possible, because no run needs one."""
    runs = private_folder.prepare(folder) / FOLDER
    try:
        runs.mkdir(0o700, exist_ok=True)
        handle, name = tempfile.mkstemp(".json", f"{key}-", runs)
        os.close(handle)
        _add(Path(name), fields)
    except OSError:
        return None
    with contextlib.suppress(OSError):
        _limit(runs)
    return Path(name)


def _add(path: Path, fields: dict[str, object]) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{json.dumps(fields)}\n")


def _read(path: Path) -> RunRecord | None:
    """Return the record in a file; None if it is not complete."""
    try:
        fields: dict[str, object] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            fields |= mapping(json.loads(line), "record")
        machine = Machine(text(fields.get("boot")), text(fields.get("namespace")))
        process = Process(machine, int(text(fields["pid"])), int(text(fields["start"])))
        since, until = float(text(fields["since"])), float(text(fields["until"]))
    except (OSError, ValueError, KeyError):
        return None
    return RunRecord(process, text(fields.get("host")), since, until)


def _paths(runs: Path, key: str) -> list[Path]:
    return sorted(runs.glob(f"{key}-*.json"))


def _tidy(own: Path, key: str, proc: Path = PROC) -> None:
    """Remove the records of ended runs of a stack: its lock belongs to the run of `own`."""
    for path in {*_paths(own.parent, key)} - {own}:
        record = _read(path)
        if record is None or processes.fate(record.process, proc) is not Fate.RUNNING:
            path.unlink(missing_ok=True)


def _limit(runs: Path) -> None:
    """Remove the oldest of too many records."""
    paths = sorted(runs.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[MOST:]:
        path.unlink(missing_ok=True)
