"""`pic destroy`: delete everything of a stack."""

import argparse
from collections.abc import Mapping
from dataclasses import replace

from pic.cli import common, deploying
from pic.core.model import Plan


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "destroy",
        "delete everything that the stack has; guarded",
        "Deletes every PangolinResource of the stack, and tells their Ingresses. It is refused"
        " until the digest that it prints is acknowledged.",
        "  pic destroy --stack old\n  pic destroy --stack old --acknowledge 3f1c9a5d0e77",
    )
    deploying.add_acknowledge(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Delete everything."""
    from pic.engine import driver  # noqa: PLC0415 - a tenth of a second to import

    with deploying.stoppable():
        deployment = deploying.work(options, environment)
        situation = deployment.situation
        removal = replace(situation, plan=Plan(), changes=driver.everything(situation))
        deploying.begin(removal)
        result = driver.destroy(deployment.engine, situation, deploying.teller(options))
        deploying.conclude(options, removal, result)
    return 0
