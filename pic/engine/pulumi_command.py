"""Runs the Pulumi CLI under a supervisor, passes signals on, and leaves no process running.

An engine that is killed leaves its plugins running, and so does an engine whose pic is killed. The
supervisor ends them in both cases.
"""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import IO, TYPE_CHECKING, TypeAlias

from pic.core import supervisor
from pic.core.command_result import CommandResult
from pic.core.errors import EngineError

if TYPE_CHECKING:
    from semver import VersionInfo

OnOutput: TypeAlias = Callable[[str], object]

SUPERVISOR = str(Path(supervisor.__file__))
# How late a signal may be passed on, at worst.
SIGNAL_DELAY_SECONDS = 0.5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# The first signal lets the engine finish its steps; the second ends it at once.
PATIENCE_SIGNALS = 2


class Command:
    """The CLI on PATH, with the methods that the Automation API calls, but without importing it.

    Unlike the API's own command, it starts no extra process that reads the version.

    Attributes:
        interrupted: Whether a signal was passed on to an engine.
        code: The exit code of the last command.
    """

    def __init__(
        self, environment: Mapping[str, str] = os.environ, platform: str = sys.platform
    ) -> None:
        path = shutil.which("pulumi", path=environment.get("PATH", os.defpath))
        if not path:
            raise EngineError(
                "there is no pulumi on PATH: install the Pulumi CLI, or `make toolchain` in a"
                " checkout and put its folder on PATH"
            )
        self.command = path
        self._environment = environment
        self._platform = platform
        self.interrupted = False
        self.code = 0

    @cached_property
    def version(self) -> "VersionInfo | None":
        """The version of the CLI."""
        from semver import VersionInfo  # noqa: PLC0415 - only some runs need it

        answer = subprocess.run(
            [self.command, "version"], capture_output=True, text=True, check=False
        )
        with contextlib.suppress(ValueError):
            return VersionInfo.parse(answer.stdout.strip().removeprefix("v"))
        return None

    def run(
        self,
        args: list[str],
        cwd: str,
        additional_env: Mapping[str, str],
        on_output: OnOutput | None = None,
        on_error: OnOutput | None = None,
    ) -> CommandResult:
        """Run a command to its end and return what it printed, whatever its exit code."""
        process = subprocess.Popen(
            [*_supervisor(self._platform), self.command, "--non-interactive", *args],
            cwd=cwd,
            env={**self._environment, **additional_env, "PULUMI_AUTOMATION_API": "true"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            # A terminal's Ctrl-C then reaches only this process, which passes it on.
            start_new_session=True,
        )
        with process, self._passing_on(process):
            out, err = _read(process, on_output, on_error)
            self.code = process.wait()
        return CommandResult(self.code, out, err)

    @contextlib.contextmanager
    def _passing_on(self, process: "subprocess.Popen[str]") -> Iterator[None]:
        """Pass signals on: the first two ask the engine to stop, the third ends it."""
        count = 0

        def pass_on(_number: int, _frame: FrameType | None) -> None:
            nonlocal count
            count += 1
            self.interrupted = True
            with contextlib.suppress(ProcessLookupError):
                if count > PATIENCE_SIGNALS:
                    process.terminate()
                else:
                    os.killpg(process.pid, signal.SIGINT)

        # Python allows only the main thread to set signal handlers.
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        handlers = {number: signal.signal(number, pass_on) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)


def _supervisor(platform: str) -> tuple[str, ...]:
    """Return the start of a command line that runs the rest of it under the supervisor."""
    # The supervisor needs /proc and prctl, which only Linux has.
    if platform != "linux":
        return ()
    return (sys.executable, "-I", "-S", SUPERVISOR, str(os.getpid()))


def _read(
    process: "subprocess.Popen[str]", on_output: OnOutput | None, on_error: OnOutput | None
) -> tuple[str, str]:
    """Read both streams to their ends, line by line."""
    lines: dict[str, list[str]] = {"out": [], "err": []}

    def consume(name: str, stream: IO[str], on_line: OnOutput | None) -> None:
        for line in stream:
            if on_line:
                on_line(line.rstrip("\n"))
            else:
                lines[name].append(line)

    errors = threading.Thread(target=consume, args=("err", process.stderr, on_error), daemon=True)
    output = threading.Thread(target=consume, args=("out", process.stdout, on_output), daemon=True)
    for thread in (errors, output):
        thread.start()
    for thread in (errors, output):
        # Python runs a signal handler when a blocking call returns or is interrupted. A signal that
        # arrives just before the call is handled at its end, so the call is kept short.
        while thread.is_alive():
            thread.join(SIGNAL_DELAY_SECONDS)
    return "".join(lines["out"]), "".join(lines["err"])
