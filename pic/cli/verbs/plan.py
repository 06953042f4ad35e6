"""Implements `pic plan`: prints what should exist.

With `--from`, it prints what changes for Ingresses that come from another controller.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from pic.cli import common, file_summary, reporting
from pic.core.errors import SettingsError
from pic.core.model import Plan, Snapshot
from pic.planning import serialise
from pic.planning.foreign import moving
from pic.planning.foreign.reading import CONTROLLERS
from pic.report import markdown, move_report
from pic.report import text as text_report
from pic.run import planning, reading, stack_config
from pic.run.stack_config import StackConfig
from pic.snapshot import branch

FORMATS: Mapping[str, Callable[[Plan], str]] = {
    "text": lambda plan: f"{text_report.render_plan(plan)}\n",
    "json": lambda plan: json.dumps(serialise.plan(plan), indent=2, ensure_ascii=False) + "\n",
    "markdown": markdown.render_plan,
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
    verb.add_argument(
        "--offline", action="store_true", help="plan from --manifests only, without a cluster"
    )
    verb.add_argument(
        "--complete",
        action="store_true",
        help="with --offline: what the files lack of a kind that they have does not exist",
    )
    reporting.add_snapshot(verb)
    verb.add_argument(
        "--output", choices=tuple(FORMATS), default="text", help="output format (default: text)"
    )
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
    _check(options)
    _, config = common.load(options, environment, offline=options.offline)
    snapshot = _snapshot(options, config, environment)
    file_summary.say(options, snapshot.files)
    if options.origin:
        sys.stdout.write(MOVES[options.output](moving.moves(snapshot.ingresses, options.origin)))
        return 0
    plan = planning.plan_for(config, planning.decided(config, snapshot))
    file_summary.say_unselected(options, snapshot, plan, config.settings)
    sys.stdout.write(FORMATS[options.output](stack_config.with_remarks(plan, config.remarks)))
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.offline and not options.manifests:
        raise SettingsError(["--offline needs --manifests, since it reads nothing else"])
    if options.complete and not options.offline:
        raise SettingsError(["--complete needs --offline: a cluster is always read as a whole"])
    if options.offline and options.snapshot:
        raise SettingsError(["--offline and --snapshot exclude each other: use one of them"])
    branch.check_stdin(options.manifests, [options.snapshot])


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
