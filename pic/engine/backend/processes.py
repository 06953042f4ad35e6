"""Tells the processes of this machine apart, whatever the clock says and whichever id they have.

A process id means something in one pid namespace only, and the kernel uses it again. So a process
is named by the boot of its machine, its pid namespace, its id, and its start in clock ticks since
the boot, which no change of the time changes. Only Linux tells these (see proc(5)).
"""

import os
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

PROC = Path("/proc")
_CLI = "pulumi"
# The kernel cuts names after 15 characters. A wrapper may put a dot in front of them.
_LANGUAGE_HOST = "pulumi-languag"


class Fate(Enum):
    """Says what became of a process, as far as this process can see."""

    RUNNING = "running"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Machine:
    """One boot of a machine, and one pid namespace of it: containers have others."""

    boot: str
    namespace: str


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a machine.

    Attributes:
        start: When it started, in clock ticks since the boot.
    """

    machine: Machine
    pid: int
    start: int


def this_machine(proc: Path = PROC) -> Machine | None:
    """Return the machine of this process; None if the system does not tell it."""
    try:
        boot = (proc / "sys/kernel/random/boot_id").read_text().strip()
        return Machine(boot, str((proc / "self/ns/pid").readlink()))
    except OSError:
        return None


def fate(process: Process, proc: Path = PROC) -> Fate:
    """Say what became of a process. What ran elsewhere, this process cannot see."""
    if this_machine(proc) != process.machine:
        return Fate.UNKNOWN
    return Fate.RUNNING if start_of(process.pid, proc) == process.start else Fate.ENDED


def start_of(pid: int, proc: Path = PROC) -> int | None:
    """Return the start of a running process in clock ticks since the boot; None if it has ended."""
    fields = _fields(pid, proc)
    # A zombie has ended, but its parent has not waited for it.
    return int(fields[19]) if fields and fields[0] not in ("Z", "X") else None


def age(start: int) -> float:
    """Return for how many seconds a process has existed. The time of day plays no part in it."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


def is_cli(pid: int, proc: Path = PROC) -> bool:
    """Say whether a running process has the name of the Pulumi CLI."""
    try:
        name = (proc / str(pid) / "comm").read_text(errors="replace")
    except OSError:
        return False
    return _CLI in name and _LANGUAGE_HOST not in name and start_of(pid, proc) is not None


def cli_above(pid: int, proc: Path = PROC) -> int:
    """Return the Pulumi CLI that started a process, directly or not; 0, which none has, without."""
    while pid > 0 and not is_cli(pid, proc):
        fields = _fields(pid, proc)
        pid = int(fields[1]) if fields else 0
    return pid


def arguments(pid: int, proc: Path = PROC) -> tuple[str, ...]:
    """Return the command line of a process, without the program; nothing if it has ended."""
    try:
        words = (proc / str(pid) / "cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return ()
    return tuple(words[1:])


def _fields(pid: int, proc: Path) -> list[str]:
    """Return what the kernel tells about a process, from its state on; nothing if it has ended."""
    try:
        stat = (proc / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return []
    # The name of the program, in parentheses, may contain spaces and parentheses itself.
    return stat.rpartition(")")[2].split()
