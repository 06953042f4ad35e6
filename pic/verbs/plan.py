"""`pic plan`: what should exist."""

import argparse
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pic import plan as planning
from pic import report, sources, wire
from pic.errors import SettingsError
from pic.verbs import common

if TYPE_CHECKING:
    from pic.verbs.common import Verbs


def add(verbs: "Verbs") -> None:
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
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="form of the plan (text)"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the plan."""
    if options.offline and not options.manifests:
        raise SettingsError(["--offline needs --manifests: there is nothing else to plan from"])
    asked = sources.run_for(options, environment)
    if options.offline:
        snapshot = sources.offline_snapshot(options.manifests, asked.settings)
    else:
        common.progress(options, "reading the cluster")
        snapshot = sources.live_snapshot(asked.settings, environment, options.manifests)
    plan = planning.build(snapshot, asked.settings, asked.label, asked.ownership)
    whole = common.with_remarks(plan, asked.remarks)
    if options.output == "json":
        print(json.dumps(wire.plan(whole), indent=2, ensure_ascii=False))
    else:
        print(report.plan(whole))
    return 0
