"""`pic status`: what the operator makes of what is deployed."""

import argparse
from collections.abc import Mapping

from pic.cli import common
from pic.cluster import status
from pic.core.errors import FailedError
from pic.planning import guard


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "status",
        "show what the operator says of each host",
        "Shows the live objects of the stack with the operator's own status: errors first, then"
        " what is pending, then what is ready. Ends with 0 when all are ready, else with 6.",
        "  pic status --stack prod\n"
        "  pic status --wait 300            until all are ready, five minutes at most\n"
        "  pic status --output json",
    )
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="form of the answer (text)"
    )
    verb.add_argument(
        "--wait",
        type=common.seconds,
        default=0.0,
        metavar="SECONDS",
        help="wait so long for objects that are not ready (0)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the status, after a wait if one was requested."""
    # The Kubernetes client takes a fifth of a second to import, which other verbs do without.
    from pic.cluster import listing, wait  # noqa: PLC0415

    _, config = common.load(options, environment)
    common.progress(options, "reading the cluster")
    transport = listing.connect(config.settings, environment)
    guard.check_cluster(listing.read_cluster_id(transport, config.settings), config.settings)
    report = wait.read_report(transport, config.ownership)
    if options.wait and not report.is_ready:
        keys = [row.key for row in report.rows]
        clock = wait.Clock(lambda line: common.say(options, line))
        report = wait.wait_until_ready(transport, config.ownership, keys, options.wait, clock)
    print(status.as_json(report) if options.output == "json" else status.as_text(report))
    return 0 if report.is_ready else FailedError.exit_code
