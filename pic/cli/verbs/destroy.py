"""Implements `pic destroy`: deletes everything that a stack owns."""

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
        "delete everything that the stack owns, after an acknowledgement",
        "Delete every PangolinResource and every DNS record of the stack. Ingresses stay, and get"
        " an Event for each deleted host.\n\n"
        "The first call deletes nothing: it lists what it would delete, and ends with exit code 3"
        " and a digest. A second call with that digest deletes exactly this.",
        "  pic destroy --stack old                              list everything, and the digest\n"
        "  pic destroy --stack old --acknowledge 3f1c9a5d0e77   delete it",
    )
    deploying.add_acknowledge(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Delete everything that the stack owns."""
    from pic.engine import driver  # noqa: PLC0415 - a tenth of a second to import

    with deploying.stoppable():
        deployment = deploying.prepare(options, environment)
        situation = deployment.situation
        removal = replace(situation, plan=Plan(), changes=driver.full_removal(situation))
        deploying.log_start(removal)
        tell = deploying.progress_reporter(options)
        result = driver.destroy(deployment.engine, situation, tell)
        deploying.conclude(options, removal, result)
    return 0
