"""Parses the command line, runs a verb, and turns its errors into messages and exit codes."""

import argparse
import io
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NoReturn

from pic.cli import common
from pic.cli.verbs import (
    destroy,
    diff,
    doctor,
    drift,
    explain,
    history,
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

# In the order in which a new user needs them.
VERBS = (
    init,
    doctor,
    plan,
    diff,
    preview,
    up,
    status,
    explain,
    history,
    drift,
    watch,
    snapshot,
    destroy,
)

DESCRIPTION = """\
Expose Kubernetes Ingresses through Pangolin, and in the local DNS of Pi-hole.

pic reads the Ingresses of a cluster and plans one PangolinResource for each public
host. It shows the difference from what is live, refuses dangerous changes, and
deploys the rest with Pulumi."""
FIRST_STEPS = """\
first steps:
  pic init --stack prod      bind a new stack to the current cluster
  pic doctor --stack prod    check that everything is in place
  pic diff --stack prod      show what a deployment would change
  pic up --stack prod        deploy it

Run pic VERB --help for the flags and examples of a verb."""
EPILOG = "\n".join(
    [
        FIRST_STEPS,
        "",
        "exit codes:",
        *(f"  {code:<4} {meaning}" for code, meaning in EXIT_CODES.items()),
    ]
)


class UsageError(Exception):
    """The command line is invalid.

    Attributes:
        prog: The command, such as `pic plan`.
        usage: Its usage lines.
    """

    def __init__(self, prog: str, usage: str, message: str) -> None:
        self.prog, self.usage = prog, usage
        super().__init__(message)


class Parser(argparse.ArgumentParser):
    """Raises an error for invalid usage, where argparse would print it and exit."""

    def error(self, message: str) -> NoReturn:
        """Raise the message of argparse.

        Raises:
            UsageError: Always.
        """
        raise UsageError(self.prog, self.format_usage(), message)


def parser() -> Parser:
    """Return the parser of the whole command line."""
    top = Parser(
        prog="pic",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB", title="verbs")
    for verb in VERBS:
        verb.add(verbs)
    return top


def main(
    arguments: Sequence[str] | None = None, environment: Mapping[str, str] | None = None
) -> int:
    """Run a command line and return its exit code. An expected error is one clear message.

    Args:
        arguments: The words after `pic`; None takes those of this process.
        environment: The environment variables; None takes those of this process.
    """
    words = sys.argv[1:] if arguments is None else arguments
    try:
        options = parser().parse_args(words)
    except UsageError as error:
        return _report_usage(error, words)
    logs.configure(_log_format(options.log_format), logs.INFO)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The encoding of a terminal may lack the arrows in a report. That must not fail a run.
        sys.stdout.reconfigure(errors="backslashreplace")
    return _run(options, os.environ if environment is None else environment)


def _report_usage(error: UsageError, words: Sequence[str]) -> int:
    # The flags are not parsed, so the words themselves must say whether to log.
    log_format = next((entry for entry in LogFormat if _selects(entry, words)), None)
    if log_format is None:
        print(f"{error.usage}{error.prog}: error: {error}", file=sys.stderr)
    else:
        logs.configure(log_format, logs.INFO)
        logs.log(logs.ERROR, f"{error.prog}: {error}", exit_code=SettingsError.exit_code)
    return SettingsError.exit_code


def _selects(log_format: LogFormat, words: Sequence[str]) -> bool:
    in_two_words = ("--log-format", log_format) in pairwise(words)
    return in_two_words or f"--log-format={log_format}" in words


def _log_format(value: str | None) -> LogFormat | None:
    return LogFormat(value) if value else None


def _run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    try:
        exit_code: int = options.run(options, environment)
        sys.stdout.flush()
    except PicError as error:
        digest = error.digest if isinstance(error, RefusedError) else ""
        common.fail(options, str(error), error.exit_code, digest)
        return error.exit_code
    except BrokenPipeError:
        # The reader, such as `head`, has closed the pipe. Python would flush into it at exit.
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
    return exit_code
