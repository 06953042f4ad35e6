"""Implements `pic drift`: shows how the cluster and Pi-hole differ from the last deployment."""

import argparse
import json
from collections.abc import Mapping

from pic.cli import common, deploying

DIFFERENT = 7


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "drift",
        "show what was changed by hand since the last deployment; read-only",
        "Compare the live objects and DNS records with the last deployment, and show what was"
        " changed, deleted or added by hand. This changes nothing. It ignores what the Ingresses"
        " want now: pic diff shows that.\n\n"
        "If a target such as Pi-hole does not answer, the exit code is 5: its records could not be"
        " compared.",
        "  pic drift --stack prod\n"
        "  pic drift --stack prod --expect-no-changes   exit with 7 if anything differs",
    )
    common.add_output(verb)
    verb.add_argument(
        "--expect-no-changes", action="store_true", help="exit with 7 if anything differs"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the drift."""
    from pic.engine import drift  # noqa: PLC0415 - a tenth of a second to import
    from pic.planning import guard  # noqa: PLC0415 - as above

    deployment = deploying.prepare(options, environment, everything=True)
    situation = deployment.situation
    guard.check_cluster(situation.snapshot.cluster_id, situation.settings)
    drifted = drift.find(deployment.engine.state(), situation)
    if options.output == "json":
        print(json.dumps(drift.as_json(drifted), indent=2, ensure_ascii=False))
    else:
        print(drift.as_text(drifted))
    for error in situation.unread_targets.values():
        # A job that raises an alarm must not report "nothing differs" without having looked.
        raise error
    return DIFFERENT if drifted and options.expect_no_changes else 0
