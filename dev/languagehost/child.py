"""Runs a Python program that does not outlive the process that started it.

Usage: `child.py PARENT path|module TARGET ARGUMENTS...`. It is a script and imports nothing of this
repository, because it runs in the interpreter of the program.
"""

import ctypes
import os
import runpy
import signal
import sys
from pathlib import Path

_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, death: signal.Signals = signal.SIGKILL) -> None:
    """Let Linux send a signal when the parent ends; exit if it has already ended.

    Raises:
        SystemExit: The parent has ended.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(death), 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def _put_first(directory: Path) -> None:
    """Put a directory first on the path, in place of the directory of this file."""
    sys.path[: 0 if sys.flags.safe_path else 1] = [str(directory)]


def main() -> None:
    """Tie this process to its parent, then run the target as if it were started directly."""
    die_with_parent(int(sys.argv[1]))
    kind, target = sys.argv[2:4]
    sys.argv = sys.argv[3:]
    if kind == "module":
        _put_first(Path.cwd())  # as `python -m` does
        runpy.run_module(target, run_name="__main__", alter_sys=True)
    else:
        _put_first(Path(target) if Path(target).is_dir() else Path(target).parent)
        runpy.run_path(target, run_name="__main__")


if __name__ == "__main__":
    main()
