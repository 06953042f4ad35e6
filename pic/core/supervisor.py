"""Run a program, and end all that it leaves behind. Run as a script only.

    python -I -S supervisor.py PARENT_PID PROGRAM ARGUMENT…

The plugins of an engine outlive an engine that is killed, each in a process group of its own. Here
they fall to this process, which ends them when the program ends, when it is asked to with SIGTERM,
and when its parent dies, be it of SIGKILL. Each has a moment to tidy up: a plugin may hold a
session somewhere. SIGINT is for the program: both are in one group. Linux.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# Between asking what is left to end and ending it.
GRACE_SECONDS, AGAIN_SECONDS = 3.0, 0.1


def main() -> None:
    """Run the program and exit as it did; a signal that ended it becomes 128 and its number."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    # Not ignored, or the program would begin with it ignored.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    ask_kernel(PR_SET_CHILD_SUBREAPER, 1)
    ask_kernel(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it died before the line above
        sys.exit("the parent is gone")
    child = start(program)
    try:
        code = os.waitstatus_to_exitcode(status_of(child))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_children(child)
    sys.exit(code if code >= 0 else 128 - code)


def ask_kernel(option: int, value: int) -> None:
    """Call prctl."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def start(program: list[str]) -> int:
    """Start the program and return its pid."""
    child = os.fork()
    if child == 0:
        try:
            os.execvp(program[0], program)  # noqa: S606 - no shell is wanted
        except OSError as error:
            os.write(2, f"cannot run {program[0]}: {error.strerror}\n".encode())
            os._exit(127)
    return child


def status_of(child: int) -> int:
    """Wait for the program and return its status; whoever else ends is noticed and forgotten."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return status


def end_children(program: int) -> None:
    """End what is left, one generation after the other: the children of a child fall to us.

    The program is ended at once, since whoever wanted it to tidy up has asked it to.
    """
    signal.signal(signal.SIGALRM, kill_children)
    signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, AGAIN_SECONDS)
    asked: set[int] = set()
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in set(children()) - asked:
                os.kill(pid, signal.SIGKILL if pid == program else signal.SIGTERM)
                asked.add(pid)
            os.waitpid(-1, 0)
    # Once the interpreter ends, nobody handles the next one.
    signal.setitimer(signal.ITIMER_REAL, 0)


def kill_children(*_: object) -> None:
    """End what has had its moment."""
    for pid in children():
        os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    """List the processes that have this one as their parent."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - quick
    return [pid for pid in pids if parent_of(pid) == os.getpid()]


def parent_of(pid: int) -> int:
    """Return the parent of a process; 0 for one that has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - quick
            return int(stat.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main()
