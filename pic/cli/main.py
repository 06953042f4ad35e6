"""The command line: its verbs, and what becomes of their errors."""

import argparse
import io
import os
import sys
import traceback
from collections.abc import Sequence
from itertools import pairwise
from typing import NoReturn

from pic.cli import common
from pic.cli.verbs import (
    destroy,
    diff,
    doctor,
    drift,
    init,
    plan,
    preview,
    snapshot,
    status,
    up,
    watch,
)
from pic.core import logs
from pic.core.errors import EXIT_CODES, INTERRUPTED, PicError, RefusedError, SettingsError
from pic.core.logs import LogFormat

VERBS = (plan, snapshot, diff, preview, up, watch, drift, destroy, status, init, doctor)

EPILOG = "\n".join(["exit codes:", *(f"  {code:<4} {text}" for code, text in EXIT_CODES.items())])


class UsageError(Exception):
    """Words that are no command line; `usage` is how the verb is used."""

    def __init__(self, prog: str, usage: str, message: str) -> None:
        self.prog, self.usage = prog, usage
        super().__init__(message)


class Parser(argparse.ArgumentParser):
    """A parser that leaves it to the caller what becomes of wrong usage."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong."""
        raise UsageError(self.prog, self.format_usage(), message)


def parser() -> Parser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="pic",
        description="Exposes Kubernetes Ingresses through Pangolin as a reviewed Pulumi diff.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB")
    for verb in VERBS:
        verb.add(verbs)
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code; expected errors are one clear message."""
    words = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser().parse_args(words)
    except UsageError as error:
        return _misused(error, words)
    logs.configure(_form(options.log_format), logs.INFO)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # An arrow that the terminal's encoding lacks is no reason to fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    return _run(options)


def _misused(error: UsageError, words: Sequence[str]) -> int:
    # Nothing is parsed, so what a line should look like is looked up in the words.
    form = next((each for each in LogFormat if _asks_for(each, words)), None)
    if form is None:
        print(f"{error.usage}{error.prog}: error: {error}", file=sys.stderr)
    else:
        logs.configure(form, logs.INFO)
        logs.log(logs.ERROR, f"{error.prog}: {error}", exit_code=SettingsError.exit_code)
    return SettingsError.exit_code


def _asks_for(form: LogFormat, words: Sequence[str]) -> bool:
    return f"--log-format={form}" in words or ("--log-format", form) in pairwise(words)


def _form(asked: str | None) -> LogFormat | None:
    return LogFormat(asked) if asked else None


def _run(options: argparse.Namespace) -> int:
    try:
        result: int = options.run(options, os.environ)
        sys.stdout.flush()
    except PicError as error:
        digest = error.digest if isinstance(error, RefusedError) else ""
        common.fail(options, str(error), error.exit_code, digest)
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        common.fail(options, "interrupted", INTERRUPTED)
        return INTERRUPTED
    except Exception:
        if not options.log_format:
            raise
        logs.log(logs.ERROR, "unexpected error", error=traceback.format_exc(), exit_code=1)
        return 1
    return result
