"""Runs a Pulumi program: `program.py SPEC PROGRAM ARGUMENTS...`, started by `child.py`.

SPEC holds the keyword arguments of `pulumi.runtime.Settings` as JSON. This script imports nothing
of this repository, because it runs in the interpreter of the program.
"""

import asyncio
import json
import logging
import os
import runpy
import sys
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

import pulumi
import pulumi.runtime

BAIL = 32  # the exit code of a program that has already reported its error
_INTERRUPTED = 130
_THREADS = 4  # per parallel step of the engine, as in the official host


def main() -> int:
    """Run the program in a stack and return the exit code."""
    spec, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    directory = str(Path(program) if Path(program).is_dir() else Path(program).parent)
    sys.path[0] = directory
    runtime = pulumi.runtime
    runtime.set_all_config(runtime.get_config_env(), runtime.get_config_secret_keys_env())
    settings = json.loads(spec)
    runtime.configure(runtime.Settings(**settings))
    # A failed program leaves futures that were never awaited; asyncio would report each of them.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        _run(program, settings["parallel"])
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return BAIL
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the user must see every error of the program
        pulumi.log.error(
            f"Program failed with an unhandled exception:\n{_formatted(error, directory)}"
        )
        return BAIL
    return 0


def _run(program: str, parallel: int) -> None:
    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Each registration occupies a thread until the engine has answered it.
    loop.set_default_executor(ThreadPoolExecutor(_THREADS * max(parallel, 1)))
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
    finally:
        loop.close()


def _formatted(error: Exception, directory: str) -> str:
    """Format an exception; omit the frames above the first one of the program."""
    first = _first_of_program(error.__traceback__, directory)
    if first is None and not isinstance(error, SyntaxError):  # a SyntaxError has its own place
        first = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, first)).rstrip()


def _first_of_program(frame: TracebackType | None, directory: str) -> TracebackType | None:
    while frame and not _is_of_program(frame.tb_frame.f_code.co_filename, directory):
        frame = frame.tb_next
    return frame


def _is_of_program(file: str, directory: str) -> bool:
    # The virtual environment and this file may be inside the directory of the program.
    inside = file.startswith(directory + os.sep)
    return inside and "site-packages" not in file and file != __file__


if __name__ == "__main__":
    try:
        code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)
