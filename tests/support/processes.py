"""Starts short processes for tests."""

import subprocess
import sys


def ended_process_id() -> int:
    """Return the id of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""], stdin=subprocess.DEVNULL) as process:
        process.kill()
    return process.pid
