"""Implements `pic up`: deploys what the Ingresses want."""

import argparse
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from pic.cli import common, deploying
from pic.core.errors import HELD, FailedError, PicError

if TYPE_CHECKING:
    from pic.engine.result import DeployResult


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "up",
        "deploy: create, change and delete what differs; never prompts",
        "Read the cluster, plan, and let Pulumi create, change and delete what differs. If nothing"
        " differs, the engine does not start.\n\n"
        "A guard holds what would drop a login, move a host to another namespace, or remove too"
        " many hosts: such a host stays as it is, all others are deployed, and the exit code is 8."
        " Check what is held. If you want it, run pic up again with --acknowledge and the digest."
        " A run that would remove every host is refused as a whole: exit code 3.\n\n"
        "Run pic diff first to see what would change.",
        "  pic up --stack prod\n"
        "  pic up --stack prod --acknowledge 3f1c9a5d0e77b2a4   allow what is held\n"
        "  pic up --stack prod --wait 300                   wait until all hosts are ready\n"
        "  pic up --stack prod --report run.json            tell a scheduler when to retry",
    )
    deploying.add_acknowledge(verb)
    common.add_wait(
        verb, "after the run, wait at most this long until all hosts are ready (default: 0)"
    )
    verb.add_argument(
        "--steal-locks",
        action="store_true",
        help="remove locks without a record on this machine that are older than pic:lockTimeout."
        " Use it only if no other run can take that long, as for a watcher that holds the Lease",
    )
    verb.add_argument(
        "--allow-held",
        action="store_true",
        help="exit with 0 and not with 8 if changes wait for an acknowledgement",
    )
    verb.add_argument("--report", metavar="FILE", help="write what happened to a file, as JSON")
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Deploy."""
    deployment: deploying.Deployment | None = None
    result: DeployResult | None = None
    error: PicError | None = None
    code = 0
    deploying.check_report(options.report)
    try:
        with deploying.stoppable():
            deployment = deploying.prepare(options, environment)
            deployment = deploying.settled(deployment, options, environment)
            result = _up(deployment, options)
            deploying.conclude(options, deployment.situation, result)
            if options.wait:
                _wait(deployment, options)
            code = HELD if result.changes.held and not options.allow_held else 0
    except PicError as raised:
        error = raised
        raise
    finally:
        situation = deployment.situation if deployment is not None else None
        deploying.write_report(options.report, result, error, situation, code)
    return code


def _up(deployment: deploying.Deployment, options: argparse.Namespace) -> "DeployResult":
    from pic.engine import driver  # noqa: PLC0415 - a tenth of a second to import

    deploying.log_start(deployment.situation)
    tell = deploying.progress_reporter(options)
    return driver.up(deployment.engine, deployment.situation, tell)


def _wait(deployment: deploying.Deployment, options: argparse.Namespace) -> None:
    """Wait until the operator, or Pangolin itself, reports every planned host as ready.

    Raises:
        FailedError: Some hosts are not ready in time.
    """
    from pic.cluster import status, wait  # noqa: PLC0415 - a tenth of a second to import
    from pic.run import published_status  # noqa: PLC0415 - as above

    situation = deployment.situation
    keys = [resource.key for resource in situation.plan.resources]
    read = partial(wait.read_report, situation.transport, situation.config.ownership)
    if situation.settings.publishes:
        read = partial(published_status.read_again, situation)
    clock = wait.Clock(lambda line: common.say(options, line))
    report = wait.wait_for(read, keys, options.wait, clock)
    if not report.is_ready:
        raise FailedError(
            f"not all hosts are ready after {options.wait:g} s:\n{status.as_text(report)}"
        )
