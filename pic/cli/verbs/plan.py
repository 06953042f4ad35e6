"""`pic plan`: what should exist."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping

from pic.cli import common, reporting
from pic.core.errors import SettingsError
from pic.core.model import Plan
from pic.planning import serialise
from pic.report import markdown
from pic.report import text as text_report
from pic.run import reading, stack_config, targets
from pic.snapshot import branch

FORMS: Mapping[str, Callable[[Plan], str]] = {
    "text": lambda value: f"{text_report.render_plan(value)}\n",
    "json": lambda value: json.dumps(serialise.plan(value), indent=2, ensure_ascii=False) + "\n",
    "markdown": markdown.render_plan,
}


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "plan",
        "print what should exist; changes nothing and needs no Pulumi",
        "Prints the plan: one PangolinResource for each public host, and notices.",
        "  pic plan --stack prod                     what the live cluster asks for\n"
        "  pic plan --stack prod --manifests deploy/ the same with files of a branch\n"
        "  helm template . | pic plan --offline --manifests -",
    )
    common.add_manifests(verb)
    verb.add_argument("--offline", action="store_true", help="use the manifests only, no cluster")
    reporting.add_snapshot(verb)
    verb.add_argument("--output", choices=tuple(FORMS), default="text", help="form (text)")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the plan."""
    if options.offline and not options.manifests:
        raise SettingsError(["--offline needs --manifests: there is nothing else to plan from"])
    if options.offline and options.snapshot:
        raise SettingsError(["--offline and --snapshot exclude each other"])
    branch.check_stdin(options.manifests, [options.snapshot])
    _, config = common.load(options, environment, offline=options.offline)
    if options.offline:
        snapshot = branch.offline_snapshot(options.manifests, config.settings)
    else:
        if not options.snapshot:
            common.progress(options, "reading the cluster")
        snapshot = reading.live_snapshot(
            config.settings, environment, options.manifests, options.snapshot
        )
    plan = targets.build_plan(snapshot, config.settings, config.label, config.ownership)
    sys.stdout.write(FORMS[options.output](stack_config.with_remarks(plan, config.remarks)))
    return 0
