"""Runs a program, and ends every process that it leaves behind. A script: others use only its path.

    python -I -S supervisor.py PARENT_PID PROGRAM ARGUMENT…

The plugins of a Pulumi engine outlive an engine that is killed, and each has a process group of
its own. This process is their subreaper (see prctl(2), Linux only), so the kernel makes it their
parent. It ends them when the program ends, when it receives SIGTERM, and when its own parent dies,
even by SIGKILL. They have a few seconds for that, because a plugin may hold a session of Pi-hole.
SIGINT is left to the program: a terminal sends it to the whole process group.

If the variable PIC_RUN_RECORD names a file, the program adds a line with its pid and its start to
that file before it begins: whoever finds a lock of this program later can tell whether it runs.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# The time between SIGTERM and SIGKILL, and between one SIGKILL and the next.
GRACE_SECONDS, REPEAT_SECONDS = 3.0, 0.1
# Blocked, so that `next_end` can wait for both. A handler alone would miss a SIGTERM that arrives
# just before a blocking waitpid: Python runs handlers between two of its own instructions only.
WAITED_FOR = (signal.SIGCHLD, signal.SIGTERM)
Mask = tuple[int, ...]
RECORD = "PIC_RUN_RECORD"


def main(arguments: list[str], calls: "SystemCalls") -> None:
    """Run the program and exit with its exit code, or with 128 and the number of its signal."""
    parent, program = int(arguments[0]), arguments[1:]
    # A handler and not SIG_IGN: a program inherits ignored signals, but no handlers.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # Without this, a parent that ignores SIGCHLD would keep it from ever arriving.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    inherited = calls.set_mask(WAITED_FOR)
    calls.set_option(PR_SET_CHILD_SUBREAPER, 1)
    calls.set_option(PR_SET_PDEATHSIG, signal.SIGTERM)
    if calls.parent() != parent:  # The parent died before the line above.
        sys.exit("the parent process has ended")
    # The program does not inherit the variable, so it cannot record its own children by mistake.
    child = start(program, calls, inherited, os.environ.pop(RECORD, ""))
    try:
        code = os.waitstatus_to_exitcode(wait_for(child, calls))
    finally:
        # A second SIGTERM must not interrupt the end of the children.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_children(child, calls)
    sys.exit(code if code >= 0 else 128 - code)


def start(program: list[str], calls: "SystemCalls", mask: "Mask", record: str = "") -> int:
    """Start the program with a signal mask, and return its pid."""
    child = calls.fork()
    if child == 0:
        calls.set_mask(mask)
        if record:
            add_process(record)
        try:
            os.execvp(program[0], program)  # noqa: S606 - a shell is not needed
        except OSError as error:
            os.write(2, f"cannot run {program[0]}: {error.strerror}\n".encode())
            # 127 is what shells return for a program that does not exist.
            calls.leave(127)
    return child


def add_process(record: str) -> None:
    """Add this process to a record; running a program changes neither its pid nor its start."""
    with contextlib.suppress(OSError):
        fields = stat_fields(os.getpid())
        with open(record, "a") as file:  # noqa: PTH123 - pathlib is slow to import
            file.write(f'{{"pid": {os.getpid()}, "start": {fields[19]}}}\n')


def wait_for(child: int, calls: "SystemCalls") -> int:
    """Wait for the program and return its wait status; reap other children on the way."""
    while True:
        pid, status = calls.next_end()
        if pid == child:
            return status


def end_children(program: int, calls: "SystemCalls") -> None:
    """End the remaining children, then theirs, and so on: orphans become our children.

    The program itself gets SIGKILL at once. Callers ask it to stop with SIGINT before they end this
    process.
    """
    signal.signal(signal.SIGALRM, lambda *_: kill_children(calls))
    signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, REPEAT_SECONDS)
    signalled: set[int] = set()
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in set(calls.children()) - signalled:
                calls.kill(pid, signal.SIGKILL if pid == program else signal.SIGTERM)
                signalled.add(pid)
            calls.wait(-1, 0)
    # Without its handler, which ends with the interpreter, the next alarm would kill this process.
    signal.setitimer(signal.ITIMER_REAL, 0)


def kill_children(calls: "SystemCalls") -> None:
    """Kill the children that have not ended in time."""
    for pid in calls.children():
        calls.kill(pid, signal.SIGKILL)


class SystemCalls:
    """The calls to the operating system that a test replaces."""

    fork = staticmethod(os.fork)
    kill = staticmethod(os.kill)
    leave = staticmethod(os._exit)
    parent = staticmethod(os.getppid)
    wait = staticmethod(os.waitpid)

    def set_mask(self, signals: "Mask") -> "Mask":
        """Block some signals and no others, and return those that were blocked before."""
        return tuple(signal.pthread_sigmask(signal.SIG_SETMASK, signals))

    def next_end(self) -> tuple[int, int]:
        """Wait until a child ends, and return its pid and wait status; exit on SIGTERM."""
        while True:
            pid, status = self.wait(-1, os.WNOHANG)
            if pid:
                return pid, status
            if signal.sigwait(WAITED_FOR) == signal.SIGTERM:
                sys.exit(128 + signal.SIGTERM)

    def set_option(self, option: int, value: int) -> None:
        """Set an option of this process by prctl, or exit."""
        if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")

    def children(self) -> list[int]:
        """Return the pids of the child processes."""
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - pathlib is slow to import
        return [pid for pid in pids if parent_of(pid) == os.getpid()]


def parent_of(pid: int) -> int:
    """Return the pid of the parent of a process; 0 if the process has ended."""
    try:
        return int(stat_fields(pid)[1])
    except OSError:
        return 0


def stat_fields(pid: int) -> list[str]:
    """Return what the kernel tells about a process, from its state on."""
    with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - pathlib is slow to import
        # The second field is the name of the program, in parentheses. It may contain spaces and
        # parentheses itself, so the rest begins after the last one.
        return stat.read().rpartition(")")[2].split()


if __name__ == "__main__":
    main(sys.argv[1:], SystemCalls())
