"""Checks the provider of Pi-hole: that the engine finds it, and that it starts on this Python."""

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

from pic.core.findings import (
    USAGE,
    Finding,
    failed,
    passed,
)
from pic.run.doctor_context import DoctorContext

NAME = "pihole plugin"
FILE = "plugins/pihole/pulumi-resource-pihole"


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Start the provider as the engine does, wait for its port, and end it."""
    file = context.root / FILE
    if not file.is_file():
        remedy = "take it over from pic's repository; Pulumi.yaml names it under plugins"
        yield failed(NAME, f"{FILE} is missing", remedy, USAGE)
    elif not os.access(file, os.X_OK):
        yield failed(NAME, f"{FILE} is not executable", f"chmod +x {FILE}", USAGE)
    elif problem := _started(file, context):
        remedy = "install the requirements for this Python"
        yield failed(NAME, f"{FILE} does not start: {problem}", remedy)
    else:
        yield passed(NAME, f"{FILE} starts")


def _started(file: Path, context: DoctorContext) -> str:
    """Return why a provider does not start; nothing if it does."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(  # noqa: S603 - the file of the project, without a shell
            [file],
            cwd=file.parent,
            env={"PIC_PYTHON": sys.executable, **context.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,  # so that it can be ended with all that it started
        )
        with process:
            said = _first(cast(IO[bytes], process.stdout), context.seconds)
            # It leaves nothing behind, since nothing was asked of it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        errors.seek(0)
        words = errors.read().decode(errors="replace").strip().splitlines()
    if said.strip().isdigit():
        return ""
    return words[-1] if words else "it tells no port"


def _first(stream: IO[bytes], seconds: float) -> bytes:
    """Return the first words of a process, or nothing where it ends or the time is over."""
    answering, _, _ = select.select([stream], [], [], seconds)
    return os.read(stream.fileno(), 64) if answering else b""
