"""`pic diff`: what would change, told without Pulumi and without a state."""

import argparse
from collections.abc import Mapping

from pic.cli import common, reporting


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "diff",
        "compare the plan with what is live; changes nothing and needs no Pulumi",
        "Reports what a deployment would change, most important first. With files of a branch:\n"
        "what it would change once that branch is applied to the cluster.",
        "  pic diff --stack prod\n"
        "  pic diff --stack prod --manifests deploy/ --base ../main/deploy/ --output markdown\n"
        "  pic diff --stack prod --snapshot prod.json --manifests deploy/ --out review.txt\n"
        "  pic diff --stack prod --expect-no-changes",
    )
    reporting.add(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Report the difference."""
    compared = reporting.compare(options, environment)
    return reporting.deliver(compared.review, options, environment)
