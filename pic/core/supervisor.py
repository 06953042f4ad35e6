"""Runs a program, and ends every process that it leaves behind. A script, not to be imported.

    python -I -S supervisor.py PARENT_PID PROGRAM ARGUMENT…

The plugins of a Pulumi engine outlive an engine that is killed, and each has a process group of
its own. This process is their subreaper (see prctl(2), Linux only), so the kernel makes it their
parent. It ends them when the program ends, when it receives SIGTERM, and when its own parent dies,
even by SIGKILL. They have a few seconds for that, because a plugin may hold a session of Pi-hole.
SIGINT is left to the program: a terminal sends it to the whole process group.
"""

import contextlib
import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# The time between SIGTERM and SIGKILL, and between one SIGKILL and the next.
GRACE_SECONDS, REPEAT_SECONDS = 3.0, 0.1


def main() -> None:
    """Run the program and exit with its exit code, or with 128 and the number of its signal."""
    parent, program = int(sys.argv[1]), sys.argv[2:]
    # A handler and not SIG_IGN: a program inherits ignored signals, but no handlers.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    ask_kernel(PR_SET_CHILD_SUBREAPER, 1)
    ask_kernel(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # The parent died before the line above.
        sys.exit("the parent process has ended")
    child = start(program)
    try:
        code = os.waitstatus_to_exitcode(wait_for(child))
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_children(child)
    sys.exit(code if code >= 0 else 128 - code)


def ask_kernel(option: int, value: int) -> None:
    """Set an option of this process by prctl, or exit."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")


def start(program: list[str]) -> int:
    """Start the program and return its pid."""
    child = os.fork()
    if child == 0:
        try:
            os.execvp(program[0], program)  # noqa: S606 - a shell is not needed
        except OSError as error:
            os.write(2, f"cannot run {program[0]}: {error.strerror}\n".encode())
            os._exit(127)
    return child


def wait_for(child: int) -> int:
    """Wait for the program and return its wait status; reap other children on the way."""
    while True:
        pid, status = os.waitpid(-1, 0)
        if pid == child:
            return status


def end_children(program: int) -> None:
    """End the remaining children, then theirs, and so on: orphans become our children.

    The program itself gets SIGKILL at once. The engine's caller has sent it a signal before.
    """
    signal.signal(signal.SIGALRM, kill_children)
    signal.setitimer(signal.ITIMER_REAL, GRACE_SECONDS, REPEAT_SECONDS)
    signalled: set[int] = set()
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in set(children()) - signalled:
                os.kill(pid, signal.SIGKILL if pid == program else signal.SIGTERM)
                signalled.add(pid)
            os.waitpid(-1, 0)
    # Without its handler, which ends with the interpreter, the next alarm would kill this process.
    signal.setitimer(signal.ITIMER_REAL, 0)


def kill_children(*_: object) -> None:
    """Kill the children that have not ended in time."""
    for pid in children():
        os.kill(pid, signal.SIGKILL)


def children() -> list[int]:
    """Return the ids of the child processes."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - pathlib is slow to import
    return [pid for pid in pids if parent_of(pid) == os.getpid()]


def parent_of(pid: int) -> int:
    """Return the id of the parent of a process; 0 if the process has ended."""
    try:
        with open(f"/proc/{pid}/stat") as stat:  # noqa: PTH123 - pathlib is slow to import
            return int(stat.read().rpartition(")")[2].split()[1])
    except OSError:
        return 0


if __name__ == "__main__":
    main()
