"""What the verbs share: common flags, progress, and how output is written."""

import argparse
import contextlib
import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pic.model import Plan
from pic.notices import Notice

if TYPE_CHECKING:
    Verbs = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name


def add(
    verbs: "Verbs", name: str, summary: str, description: str, examples: str
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
    """Say on a terminal what is being done."""
    # A terminal that is gone must not stop what reads the engine's events.
    with contextlib.suppress(OSError, ValueError):
        if not options.quiet and sys.stderr.isatty():
            print(f"pic: {what} …", file=sys.stderr)


def say(options: argparse.Namespace, line: str) -> None:
    """Say something on standard error; in a pipeline's log as well, since a wait may be long."""
    if not options.quiet:
        print(f"pic: {line}", file=sys.stderr)


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


def with_remarks(plan: Plan, remarks: Sequence[Notice]) -> Plan:
    """Return a plan whose notices include those about the settings."""
    found = sorted({*plan.notices, *remarks}, key=lambda notice: notice.order)
    return Plan(plan.resources, plan.records, tuple(found))
