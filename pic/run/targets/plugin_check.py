"""Checks a provider of pic: can the engine find it, and does it start with this Python?"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, cast

from pic.core.findings import USAGE, Finding, failed, passed
from pic.run.doctor_context import DoctorContext


def examine(context: DoctorContext, package: str, name: str) -> Iterator[Finding]:
    """Start the provider as the engine does, wait for its port, and stop it.

    Args:
        context: The folder of the project, and how long to wait.
        package: The Pulumi package of the provider, such as `pihole`.
        name: The name of the check.
    """
    path = f"plugins/{package}/pulumi-resource-{package}"
    file = context.root / path
    if not file.is_file():
        remedy = "copy it from pic's repository; Pulumi.yaml lists it under plugins"
        yield failed(name, f"{path} is missing", remedy, USAGE)
    elif not os.access(file, os.X_OK):
        yield failed(name, f"{path} is not executable", f"chmod +x {path}", USAGE)
    elif problem := _start_problem(file, context):
        remedy = "install requirements.txt for this Python"
        yield failed(name, f"{path} does not start: {problem}", remedy)
    else:
        yield passed(name, f"{path} starts")


def _start_problem(file: Path, context: DoctorContext) -> str:
    """Return why the provider does not start; empty if it starts."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - the file of the project, without a shell
            [file],
            cwd=file.parent,
            env={"PIC_PYTHON": sys.executable, **context.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Killing the process group ends the provider with its own child processes.
            start_new_session=True,
        )
        with process:
            output = _first_output(cast(IO[bytes], process.stdout), context.seconds)
            # It has no work to finish, because no request was sent to it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        error_lines = errors.read().decode(errors="replace").strip().splitlines()
    # A provider prints the port that it listens on. The engine waits for that.
    if output.strip().isdigit():
        return ""
    return error_lines[-1] if error_lines else "it does not print its port"


def _first_output(stream: IO[bytes], seconds: float) -> bytes:
    """Return the first output of a process; empty if it ends or the time is over."""
    readable, _, _ = select.select([stream], [], [], seconds)
    return os.read(stream.fileno(), 64) if readable else b""
