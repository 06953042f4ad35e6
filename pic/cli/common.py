"""Holds what all verbs share: the common flags, the settings of a run, and progress lines."""

import argparse
import contextlib
import logging
import math
import sys
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from pic.core import logs, names
from pic.core.logs import LogFormat
from pic.run import stack_config
from pic.run.stack_config import StackConfig
from pic.snapshot.manifests import FileOptions
from pic.snapshot.rendering import Tool

# A string, because argparse's class takes no type argument at run time.
Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - argparse has no public name for it

HELP_WIDTH = 78


def add(
    verbs: Verbs, name: str, summary: str, description: str, examples: str
) -> argparse.ArgumentParser:
    """Add the parser of a verb, with the common flags.

    Args:
        verbs: The verbs of the command line.
        name: The verb.
        summary: Its line in `pic --help`.
        description: The text above the flags in `pic VERB --help`; an empty line ends a paragraph.
        examples: The indented command lines below the flags.
    """
    verb = verbs.add_parser(
        name,
        help=summary,
        description=_wrapped(description),
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verb.add_argument(
        "--stack",
        metavar="NAME",
        help="the stack, with its settings in stacks/Pulumi.NAME.yaml (default: the only one)",
    )
    verb.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="override a setting for this run, such as maxRemovals=10; repeatable",
    )
    verb.add_argument(
        "--quiet", action="store_true", help="do not print progress on standard error"
    )
    verb.add_argument(
        "--log-format",
        choices=tuple(map(str, LogFormat)),
        help="print a log for programs on standard error, one line for each action",
    )
    return verb


def _wrapped(text: str) -> str:
    """Wrap each paragraph for a terminal: argparse would join them into one."""
    return "\n\n".join(textwrap.fill(part, HELP_WIDTH) for part in text.split("\n\n"))


def add_manifests(verb: argparse.ArgumentParser) -> None:
    """Add the flags that name manifest files, and the namespace of their objects."""
    verb.add_argument(
        "--manifests",
        nargs="+",
        default=[],
        metavar="PATH",
        help="plan as if these manifests were applied: files, folders, or - for standard input",
    )
    verb.add_argument(
        "--namespace",
        type=namespace,
        default="",
        metavar="NAME",
        help="the namespace of the objects in files that name none, as for kubectl",
    )
    verb.add_argument(
        "--exclude",
        nargs="+",
        action="extend",
        default=[],
        metavar="GLOB",
        help="leave out these files of a folder, relative to it; * spans subfolders; repeatable",
    )
    verb.add_argument(
        "--skip-broken",
        action="store_true",
        help="leave out files that cannot be read, and list them; not with --base or --removed",
    )
    verb.add_argument(
        "--render",
        type=Tool,
        choices=tuple(Tool),
        metavar="TOOL",
        help="render each folder with your own kustomize or helm",
    )


def file_options(options: argparse.Namespace) -> FileOptions:
    """Return how to read manifest files, as the flags say."""
    return FileOptions(
        options.namespace,
        exclude=options.exclude,
        skip_broken=options.skip_broken,
        render=options.render,
    )


def add_output(verb: argparse.ArgumentParser) -> None:
    """Add the flag that selects text or JSON."""
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="output format (default: text)"
    )


def add_wait(verb: argparse.ArgumentParser, summary: str) -> None:
    """Add the flag that waits for the Pangolin operator."""
    verb.add_argument("--wait", type=seconds, default=0.0, metavar="SECONDS", help=summary)


def progress(options: argparse.Namespace, action: str) -> None:
    """Print on a terminal, or log, what pic does now."""
    if options.log_format:
        say(options, action)
        return
    # This also runs while pic reads the engine's events. A closed terminal must not stop that.
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr.isatty():
            say(options, f"{action} …")


def say(options: argparse.Namespace, line: str) -> None:
    """Print a line on standard error, also without a terminal; `--quiet` turns it off."""
    if not options.quiet:
        logs.log(logs.INFO, line)


def fail(options: argparse.Namespace, message: str, exit_code: int, digest: str = "") -> None:
    """Print or log why a run ends with a code other than 0.

    Args:
        options: With `--log-format`, the exit code and the digest become fields of the line.
        message: The reason.
        exit_code: The exit code of the run.
        digest: The digest that acknowledges the refused changes; empty if there is none.
    """
    fields: dict[str, logs.Field] = {
        "exit_code": exit_code,
        **({"digest": digest} if digest else {}),
    }
    logs.log(logs.ERROR, message, **(fields if options.log_format else {}))


def load(
    options: argparse.Namespace, environment: Mapping[str, str], *, offline: bool = False
) -> tuple[str, StackConfig]:
    """Return the stack and its settings as the common flags select them, and set the log level.

    Args:
        options: The parsed flags.
        environment: Provides the settings that the stack does not set.
        offline: Plan from files only, which needs no stack.

    Raises:
        SettingsError: The settings are invalid, or it is not clear which stack the user means.
    """
    stack = options.stack or (None if offline else stack_config.only_stack(Path.cwd()))
    config = stack_config.load(Path.cwd(), stack, options.config, environment)
    return stack or "", with_log_level(config)


def with_log_level(config: StackConfig) -> StackConfig:
    """Set the log level of the settings, and return the settings."""
    logs.set_level(logging.getLevelNamesMapping()[config.settings.log_level.upper()])
    return config


def namespace(value: str) -> str:
    """Read the name of a namespace, or an empty text, which names none.

    Raises:
        argparse.ArgumentTypeError: It is not a legal name.
    """
    if value and not names.is_label_name(value):
        raise argparse.ArgumentTypeError(f"{value!r} is not a legal name of a namespace")
    return value


def seconds(value: str) -> float:
    """Read a number of seconds.

    Raises:
        argparse.ArgumentTypeError: The number is negative or infinite.
        ValueError: The value is not a number.
    """
    number = float(value)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{value!r} is not a number of seconds")
    return number
