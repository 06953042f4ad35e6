"""Implements `pic plan`: prints what should exist.

With `--from`, it prints what changes for Ingresses that come from another controller.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from pic.cli import common, file_summary, reporting
from pic.core.model import Plan, Snapshot
from pic.planning import serialise
from pic.planning.foreign import moving
from pic.planning.foreign.reading import CONTROLLERS
from pic.planning.trail import FullTrail
from pic.report import accounts, markdown, move_report
from pic.report import text as text_report
from pic.run import planning, reading, stack_config
from pic.run.stack_config import StackConfig
from pic.snapshot import branch

FORMATS: Mapping[str, Callable[[Plan, bool], str]] = {
    "text": lambda plan, rows: f"{text_report.render_plan(plan, everything=rows)}\n",
    "json": lambda plan, rows: json.dumps(_json(plan, rows), indent=2, ensure_ascii=False) + "\n",
    "markdown": lambda plan, rows: markdown.render_plan(plan, everything=rows),
}

MOVES: Mapping[str, Callable[[moving.Moves], str]] = {
    "text": lambda moves: f"{move_report.render_text(moves)}\n",
    "json": lambda moves: json.dumps(moving.as_json(moves), indent=2, ensure_ascii=False) + "\n",
    "markdown": move_report.render_markdown,
}


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "plan",
        "print what should exist for the Ingresses; read-only, needs no Pulumi",
        "Print the plan: one PangolinResource for each public host, the DNS records, and a notice"
        " for each problem in an Ingress. This changes nothing, and needs neither Pulumi nor a"
        " state. To see what differs from the cluster, run pic diff.",
        "  pic plan --stack prod                         plan for the live cluster\n"
        "  pic plan --stack prod --manifests deploy/     plan as if a branch were applied\n"
        "  helm template . | pic plan --offline --namespace apps --manifests -\n"
        "  pic plan --offline --manifests . --skip-broken --exclude 'charts/**'\n"
        "  pic plan --offline --manifests deploy/ --from nginx   what a move changes",
    )
    common.add_manifests(verb)
    reporting.add_offline(verb)
    reporting.add_snapshot(verb)
    verb.add_argument(
        "--output", choices=tuple(FORMATS), default="text", help="output format (default: text)"
    )
    reporting.add_all(verb)
    names = tuple(controller.name for controller in CONTROLLERS)
    verb.add_argument(
        "--from",
        dest="origin",
        choices=names,
        default="",
        metavar="CONTROLLER",
        help="print in place of the plan what changes for Ingresses that come from another"
        f" controller: {', '.join(names)}",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the plan."""
    reporting.check_sources(options)
    _, config = common.load(options, environment, offline=options.offline)
    snapshot = _snapshot(options, config, environment)
    file_summary.say(options, snapshot.files)
    if options.origin:
        sys.stdout.write(MOVES[options.output](moving.moves(snapshot.ingresses, options.origin)))
        return 0
    plan = planning.plan_for(config, planning.decided(config, snapshot), FullTrail())
    file_summary.say_unselected(options, snapshot, plan, config.settings)
    plan = stack_config.with_remarks(plan, config.remarks)
    sys.stdout.write(FORMATS[options.output](plan, options.all))
    return 0


def _json(plan: Plan, rows: bool) -> serialise.Json:  # noqa: FBT001 - as in FORMATS
    sources = accounts.as_json(plan.sources, rows=rows)
    return {**serialise.plan(plan), **({"sources": sources} if plan.sources else {})}


def _snapshot(
    options: argparse.Namespace, config: StackConfig, environment: Mapping[str, str]
) -> Snapshot:
    paths, settings, read = options.manifests, config.settings, common.file_options(options)
    if options.offline:
        snapshot = branch.offline_snapshot(paths, settings, read, complete=options.complete)
        _say_live(len(snapshot.live), options)
        return snapshot
    if not options.snapshot:
        common.progress(options, "reading the cluster")
    return reading.live_snapshot(settings, environment, paths, options.snapshot, read)


def _say_live(count: int, options: argparse.Namespace) -> None:
    """Say that objects of the files count as live, since a file can have any labels."""
    if count:
        what = "PangolinResources in the files that count as live, by stack label and uid"
        common.say(options, f"{what}: {count}")
