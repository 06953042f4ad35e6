"""Implements `pic diff`: shows what a deployment would change, without Pulumi and its state."""

import argparse
from collections.abc import Mapping

from pic.cli import common, reporting


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "diff",
        "show what a deployment would change; read-only, needs no Pulumi",
        "Show how the plan differs from what is live, most important changes first. This changes"
        " nothing, and needs neither Pulumi nor a state.\n\n"
        "With --manifests, the report shows what a branch would change once it is applied to the"
        " cluster. If the guard would refuse these changes, the exit code is 3, so that a pipeline"
        " can block the merge. With --snapshot, no access to the cluster is needed.",
        "  pic diff --stack prod\n"
        "  pic diff --stack prod --expect-no-changes        exit with 7 if there are changes\n"
        "  pic diff --stack prod --namespace apps --manifests deploy/ --base ../main/deploy/\n"
        "  pic diff --stack prod --snapshot prod.json --manifests deploy/ --out review.txt",
    )
    reporting.add(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Report the difference."""
    comparison = reporting.compare(options, environment)
    return reporting.deliver(comparison.review, options, environment)
