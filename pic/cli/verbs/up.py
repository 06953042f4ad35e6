"""`pic up`: bring about what the Ingresses ask for."""

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING

from pic.cli import common, deploying
from pic.core.errors import FailedError, PicError

if TYPE_CHECKING:
    from pic.engine.driver import DeployResult


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "up",
        "deploy: create, change and delete what differs; never asks",
        "Reads the cluster, plans, and lets Pulumi bring it about. A guard refuses what is too"
        " large, before anything happens. Without changes no engine is started.",
        "  pic up --stack prod\n"
        "  pic up --stack prod --acknowledge 3f1c9a5d0e77   let the refused changes through\n"
        "  pic up --stack prod --report run.json            for what decides when to try again",
    )
    deploying.add_acknowledge(verb)
    verb.add_argument(
        "--wait",
        type=common.seconds,
        default=0.0,
        metavar="SECONDS",
        help="wait so long until the operator has made every host ready (0)",
    )
    verb.add_argument(
        "--steal-locks",
        action="store_true",
        help="take away locks of other hosts that are older than pic:lockTimeout, as a watcher does"
        " that holds the Lease: only where nobody deploys for as long",
    )
    verb.add_argument("--report", metavar="FILE", help="write what happened as JSON")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Deploy."""
    deployment: deploying.Deployment | None = None
    result: DeployResult | None = None
    failed: PicError | None = None
    deploying.check_report(options.report)
    try:
        with deploying.stoppable():
            deployment = deploying.work(options, environment)
            result = _up(deployment, options)
            deploying.conclude(options, deployment.situation, result)
            if options.wait:
                _wait(deployment, options)
    except PicError as error:
        failed = error
        raise
    finally:
        situation = deployment.situation if deployment is not None else None
        deploying.write_report(options.report, result, failed, situation)
    return 0


def _up(deployment: deploying.Deployment, options: argparse.Namespace) -> "DeployResult":
    from pic.engine import driver  # noqa: PLC0415 - a tenth of a second to import

    deploying.begin(deployment.situation)
    return driver.up(deployment.engine, deployment.situation, deploying.teller(options))


def _wait(deployment: deploying.Deployment, options: argparse.Namespace) -> None:
    from pic.cluster import status, wait  # noqa: PLC0415 - a tenth of a second to import

    situation = deployment.situation
    report = wait.wait_until_ready(
        situation.transport,
        situation.config.ownership,
        [resource.key for resource in situation.plan.resources],
        options.wait,
        wait.Clock(lambda line: common.say(options, line)),
    )
    if not report.is_ready:
        raise FailedError(
            f"not all hosts are ready after {options.wait:g} s:\n{status.as_text(report)}"
        )
