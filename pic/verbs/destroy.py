"""`pic destroy`: delete everything of a stack."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pic.verbs import common, deploying

if TYPE_CHECKING:
    from pic.verbs.common import Verbs


def add(verbs: "Verbs") -> None:
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
    from pic import driver  # noqa: PLC0415 - half a second to import

    asked = deploying.work(options, environment)
    result = driver.destroy(asked.engine, asked.known, deploying.teller(options))
    deploying.conclude(result)
    return 0
