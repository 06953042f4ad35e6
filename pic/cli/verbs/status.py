"""Implements `pic status`: shows what the Pangolin operator reports on each host."""

import argparse
from collections.abc import Mapping, Sequence
from functools import partial

from pic.cli import common, reporting
from pic.cluster import status
from pic.core.errors import FailedError
from pic.planning import guard
from pic.planning.serialise import Json
from pic.planning.trail import FullTrail
from pic.report import accounts, text
from pic.report.review import held_json


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "status",
        "show what the Pangolin operator reports on each host; read-only",
        "Show the live objects of the stack with the status that the Pangolin operator reports:"
        " errors first, then pending objects, then ready ones. Then show which changes wait for an"
        " acknowledgement, and which hosts Ingresses ask for that are refused, held or not deployed"
        " yet. This changes nothing.\n\n"
        "Exit codes: 0 if all objects are ready; 6 if some are pending or in error.",
        "  pic status --stack prod\n"
        "  pic status --stack prod --wait 300    wait at most five minutes until all are ready\n"
        "  pic status --stack prod --output json",
    )
    common.add_output(verb)
    reporting.add_all(verb)
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
    plan = partial(situations.read_and_plan, config, transport, environment, new_trail=FullTrail)
    read, situation = partial(wait.read_report, transport, config.ownership), None
    if config.settings.publishes:
        situation = plan()
        read = partial(published_status.read_again, situation)
    report = read()
    if options.wait and not report.is_ready:
        keys = [row.key for row in report.rows]
        clock = wait.Clock(lambda line: common.say(options, line))
        report = wait.wait_for(read, keys, options.wait, clock)
    situation = situation or plan()
    held = situation.plan.held
    sources = situation.plan.sources
    asked = list(accounts.unexposed(sources, {row.host for row in report.rows}))
    if options.output == "json":
        extra = {"asked": asked, "sources": accounts.as_json(sources, rows=options.all)}
        print(status.as_json(report, [held_json(change) for change in held], extra))
    else:
        parts = (
            status.as_text(report),
            _asked(asked),
            text.sources(sources, everything=options.all),
            text.render_held(held, f"pic up --stack {stack} --acknowledge {{}}"),
            accounts.line(sources),
        )
        print("\n\n".join(filter(None, parts)))
    return 0 if report.is_ready else FailedError.exit_code


def _asked(hosts: Sequence[Json]) -> str:
    """Return the hosts that Ingresses ask for and that are not exposed as asked, as a table."""
    rows = [
        {
            "STATE": str(host["state"]),
            "HOST": status.short_line(str(host["host"] or "-")),
            "INGRESS": f"{host['namespace']}/{host['ingress']}",
            "REASON": str(host["reason"] or "-"),
            "MESSAGE": status.short_line(str(host["message"])),
        }
        for host in hosts
    ]
    return (
        f"Hosts that Ingresses ask for, but that are not as asked:\n{text.table(rows)}"
        if rows
        else ""
    )
