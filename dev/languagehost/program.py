"""Run a Pulumi program to its end: `program.py SPEC PROGRAM ARGUMENTS...`, inside `child.py`.

SPEC is the keyword arguments of `pulumi.runtime.Settings` as JSON. Nothing of this repository is
imported: the interpreter is the program's own.
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

BAIL = 32  # the exit code of a program that has already told the user what is wrong
_INTERRUPTED = 130
_THREADS = 4  # for each step that the engine takes at once, as the official host has it


def main() -> int:
    """Run the program inside a stack and give the exit code."""
    spec, program = sys.argv[1:3]
    sys.argv = sys.argv[2:]
    directory = str(Path(program) if Path(program).is_dir() else Path(program).parent)
    sys.path[0] = directory
    runtime = pulumi.runtime
    runtime.set_all_config(runtime.get_config_env(), runtime.get_config_secret_keys_env())
    settings = json.loads(spec)
    runtime.configure(runtime.Settings(**settings))
    # A failed program leaves futures behind that nobody awaits any more; asyncio reports each.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        _run(program, settings["parallel"])
    except pulumi.RunError as error:
        pulumi.log.error(str(error))
        return BAIL
    except KeyboardInterrupt:
        return _INTERRUPTED
    except Exception as error:  # noqa: BLE001 - whatever the program raises, the user sees
        pulumi.log.error(
            f"Program failed with an unhandled exception:\n{_described(error, directory)}"
        )
        return BAIL
    return 0


def _run(program: str, parallel: int) -> None:
    def run() -> None:
        runpy.run_path(program, run_name="__main__")

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    # Each registration keeps a thread until the engine is done with it.
    loop.set_default_executor(ThreadPoolExecutor(_THREADS * max(parallel, 1)))
    try:
        loop.run_until_complete(pulumi.runtime.run_in_stack(run))
    finally:
        loop.close()


def _described(error: Exception, directory: str) -> str:
    """Format an exception from the first line of the program on, without what started it."""
    own = _first_of_program(error.__traceback__, directory)
    if own is None and not isinstance(error, SyntaxError):  # which names the place by itself
        own = error.__traceback__
    return "".join(traceback.format_exception(type(error), error, own)).rstrip()


def _first_of_program(frame: TracebackType | None, directory: str) -> TracebackType | None:
    while frame and not _is_of_program(frame.tb_frame.f_code.co_filename, directory):
        frame = frame.tb_next
    return frame


def _is_of_program(file: str, directory: str) -> bool:
    # The virtual environment, and this file, may lie inside the program's directory.
    inside = file.startswith(directory + os.sep)
    return inside and "site-packages" not in file and file != __file__


if __name__ == "__main__":
    try:
        code = main()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)
