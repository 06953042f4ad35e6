"""Implements `pic status`: shows what the Pangolin operator reports on each host."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from pic.cli import common
from pic.cluster import status
from pic.core.errors import FailedError
from pic.core.held import Held
from pic.planning import guard
from pic.report.review import held_json
from pic.report.text import render_held


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "status",
        "show what the Pangolin operator reports on each host; read-only",
        "Show the live objects of the stack with the status that the Pangolin operator reports:"
        " errors first, then pending objects, then ready ones. Then show which changes wait for an"
        " acknowledgement. This changes nothing.\n\n"
        "Exit codes: 0 if all objects are ready; 6 if some are pending or in error.",
        "  pic status --stack prod\n"
        "  pic status --stack prod --wait 300    wait at most five minutes until all are ready\n"
        "  pic status --stack prod --output json",
    )
    common.add_output(verb)
    common.add_wait(verb, "wait at most this long until all objects are ready (default: 0)")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the status, after the wait that the user requested.

    Raises:
        TargetError: pic changes Pangolin itself, and it does not answer.
    """
    # The other verbs save this import: the Kubernetes client takes a fifth of a second.
    from pic.cluster import listing, wait  # noqa: PLC0415
    from pic.run import published_status  # noqa: PLC0415
    from pic.run import situation as situations  # noqa: PLC0415

    stack, config = common.load(options, environment)
    common.progress(options, "reading the cluster")
    transport = listing.connect(config.settings, environment)
    guard.check_cluster(listing.read_cluster_id(transport, config.settings), config.settings)
    read, situation = partial(wait.read_report, transport, config.ownership), None
    if config.settings.publishes:
        situation = situations.read_and_plan(config, transport, environment)
        read = partial(published_status.read_again, situation)
    report = read()
    if options.wait and not report.is_ready:
        keys = [row.key for row in report.rows]
        clock = wait.Clock(lambda line: common.say(options, line))
        report = wait.wait_for(read, keys, options.wait, clock)
    situation = situation or situations.read_and_plan(config, transport, environment)
    held = situation.plan.held
    if options.output == "json":
        print(status.as_json(report, [held_json(change) for change in held]))
    else:
        print("\n\n".join(filter(None, (status.as_text(report), _held(held, stack)))))
    return 0 if report.is_ready else FailedError.exit_code


def _held(held: Sequence[Held], stack: str) -> str:
    return render_held(held, f"pic up --stack {stack} --acknowledge {{}}")
