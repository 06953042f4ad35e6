"""`pic drift`: what differs live from the last deployment."""

import argparse
import json
from collections.abc import Mapping

from pic.cli import common, deploying

CHANGES = 7


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "drift",
        "say what differs live from the last deployment; changes nothing",
        "Compares the objects in the cluster with what was deployed last, whatever the Ingresses"
        " ask for now.",
        "  pic drift --stack prod\n"
        "  pic drift --stack prod --expect-no-changes   exit code 7 where something differs",
    )
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="form of the answer (text)"
    )
    verb.add_argument(
        "--expect-no-changes", action="store_true", help="exit with 7 where something differs"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Say what differs."""
    from pic.engine import drift  # noqa: PLC0415 - a tenth of a second to import
    from pic.planning import guard  # noqa: PLC0415 - a tenth of a second to import

    deployment = deploying.work(options, environment)
    situation = deployment.situation
    guard.check_cluster(situation.snapshot.cluster_id, situation.settings)
    found = drift.find(deployment.engine.state(), situation)
    if options.output == "json":
        print(json.dumps(drift.as_json(found), indent=2, ensure_ascii=False))
    else:
        print(drift.as_text(found))
    for error in situation.unread.values():
        # An alarm that could not look must not report that all is well.
        raise error
    return CHANGES if found and options.expect_no_changes else 0
