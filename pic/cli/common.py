"""What the verbs share: common flags, progress, and how output is written."""

import argparse
import contextlib
import logging
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from pic.core import logs
from pic.core.logs import LogFormat
from pic.run import stack_config
from pic.run.stack_config import StackConfig

# It cannot be written out at run time.
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - it has no public name


def add(
    verbs: Verbs, name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add the parser of a verb, with the common flags; `examples` are lines of a terminal."""
    verb = verbs.add_parser(
        name,
        help=summary,
        description=description,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument("--stack", metavar="NAME", help="the stack (default: the only one)")
    verb.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting without the pic: prefix, over those of the stack; repeatable",
    )
    verb.add_argument("--quiet", action="store_true", help="no progress on standard error")
    verb.add_argument(
        "--log-format",
        choices=tuple(map(str, LogFormat)),
        help="make standard error a log, one line for each thing done (default: for a person)",
    )
    return verb


def add_manifests(verb: argparse.ArgumentParser) -> None:
    """Add the flag of manifest files."""
    verb.add_argument(
        "--manifests",
        nargs="+",
        default=[],
        metavar="PATH",
        help="files, folders or - for standard input, laid over the live cluster",
    )


def progress(options: argparse.Namespace, what: str) -> None:
    """Say on a terminal, or in a log, what is being done."""
    if options.log_format:
        say(options, what)
        return
    # A terminal that is gone must not stop what reads the engine's events.
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr.isatty():
            say(options, f"{what} …")


def say(options: argparse.Namespace, line: str) -> None:
    """Say something on standard error; in a pipeline's log as well, since a wait may be long."""
    if not options.quiet:
        logs.log(logs.INFO, line)


def fail(options: argparse.Namespace, message: str, exit_code: int, digest: str = "") -> None:
    """Say why a run ends otherwise than with 0; a log has the exit code and a digest as fields."""
    fields: dict[str, logs.Field] = {
        "exit_code": exit_code,
        **({"digest": digest} if digest else {}),
    }
    logs.log(logs.ERROR, message, **(fields if options.log_format else {}))


def load(
    options: argparse.Namespace, environment: Mapping[str, str], *, offline: bool = False
) -> tuple[str, StackConfig]:
    """Return the stack and its settings as the common flags name them; sets the log level.

    Args:
        options: The parsed flags.
        environment: Fills what the stack leaves open.
        offline: Files alone are planned, so no stack is needed.

    Raises:
        SettingsError: The settings are wrong, or it is not clear which stack is meant.
    """
    stack = options.stack or (None if offline else stack_config.only_stack(Path.cwd()))
    config = stack_config.load(Path.cwd(), stack, options.config, environment)
    return stack or "", with_log_level(config)


def with_log_level(config: StackConfig) -> StackConfig:
    """Return the settings of a run once its log level is in effect."""
    logs.set_level(logging.getLevelNamesMapping()[config.settings.log_level.upper()])
    return config


def seconds(given: str) -> float:
    """Read a number of seconds.

    Raises:
        argparse.ArgumentTypeError: It is negative, or has no end.
        ValueError: It is no number.
    """
    found = float(given)
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{given!r} is no number of seconds")
    return found
