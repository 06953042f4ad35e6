"""Implements `pic history`: says who exposed, changed and removed a host, and when."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path

from pic.cli import common
from pic.core.errors import ClusterError, SettingsError
from pic.core.register import Register
from pic.core.visible import visible
from pic.planning import past
from pic.planning.past import Past
from pic.report import history as report
from pic.run.stack_config import StackConfig
from pic.settings.kinds import CONFIG_MAP
from pic.settings.stack_file import PROJECT

FORMATS: Mapping[str, Callable[[Past], str]] = {
    "text": lambda known: f"{report.render(known)}\n",
    "json": lambda known: json.dumps(report.as_json(known), indent=2, ensure_ascii=False) + "\n",
    "csv": report.as_csv,
}
MOST, USUAL = 1000, 50
MOST_NEAR, LONGEST_SHOWN = 3, 100


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "history",
        "say who exposed, changed and removed hosts, and when; read-only",
        "Show when each host and DNS record was exposed, changed, moved and removed, by which"
        " deployment, by whom, with which commit and job, and what was acknowledged. This reads"
        " the history of the stack in the backend and the register in the cluster, and says how far"
        " back both go. It changes nothing.",
        "  pic history --stack prod\n"
        "  pic history --stack prod shop.example.com\n"
        "  pic history --stack prod --output csv > history.csv",
    )
    verb.add_argument("host", nargs="?", default="", metavar="HOST", help="only this host")
    verb.add_argument(
        "--last",
        type=_count,
        default=USUAL,
        metavar="N",
        help=f"read the newest N deployments, at most {MOST} (default: {USUAL})",
    )
    verb.add_argument(
        "--output", choices=tuple(FORMATS), default="text", help="output format (default: text)"
    )
    verb.set_defaults(run=run)


def _count(value: str) -> int:
    """Read how many deployments to show.

    Raises:
        argparse.ArgumentTypeError: It is out of range.
        ValueError: It is no number.
    """
    number = int(value)
    if not 1 <= number <= MOST:
        raise argparse.ArgumentTypeError(f"{value!r} is not a number from 1 to {MOST}")
    return number


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the history."""
    # These imports take a tenth of a second, which the other verbs save.
    from pic.engine.backend import history  # noqa: PLC0415
    from pic.engine.backend import past as backend  # noqa: PLC0415

    stack, config = common.load(options, environment)
    common.progress(options, "reading the history")
    url = history.backend_url(Path.cwd(), environment)
    reading = backend.read(url, PROJECT, stack.rpartition("/")[2], options.last)
    remarks = list(reading.remarks)
    register = _register(config, environment, remarks)
    known = past.tell(reading.deployments, reading.happenings, register, remarks)
    if options.host:
        known = _only(known, options.host)
    sys.stdout.write(FORMATS[options.output](known))
    return 0


def _register(config: StackConfig, environment: Mapping[str, str], remarks: list[str]) -> Register:
    """Return the register; without a cluster the history of the stack is all there is."""
    from pic.cluster import listing  # noqa: PLC0415 - as above
    from pic.snapshot import register  # noqa: PLC0415 - as above

    try:
        objects = listing.read_register(
            listing.connect(config.settings, environment), config.settings
        )
    except ClusterError as error:
        remarks.append(f"the register cannot be read: {error}")
        return Register()
    return register.read(objects.get(CONFIG_MAP, ())).get(config.label, Register())


def _only(known: Past, host: str) -> Past:
    """Return the past of one host.

    Raises:
        SettingsError: Nothing is known about it.
    """
    found = past.of_host(known, host.lower().rstrip("."))
    if found.happenings:
        return found
    shown = visible(host[:LONGEST_SHOWN])
    near = get_close_matches(host[:LONGEST_SHOWN], sorted(known.hosts), n=MOST_NEAR)
    hint = f"; the nearest are {', '.join(map(visible, near))}" if near else ""
    raise SettingsError([f"nothing is known about {shown}{hint}. {report.horizon(known)}"])
