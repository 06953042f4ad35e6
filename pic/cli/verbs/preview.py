"""Implements `pic preview`: shows what a deployment would do, and asks the engine to confirm it."""

import argparse
from collections.abc import Mapping

from pic.cli import common, deploying, reporting
from pic.core import logs
from pic.core.errors import SettingsError
from pic.engine.outcome import counts_as_text


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "preview",
        "like diff, and let Pulumi confirm it; read-only, needs the state",
        "Print the report of pic diff, and run a preview of Pulumi to confirm that the engine would"
        " do the same. This changes nothing. It needs Pulumi, the state and its passphrase.",
        "  pic preview --stack prod\n"
        "  pic preview --stack prod --namespace apps --manifests deploy/ --base base/deploy/"
        " --out comment.md",
    )
    reporting.add(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print the report, and what the engine says."""
    if options.snapshot:
        raise SettingsError(
            [
                "--snapshot does not work with pic preview, because the engine reads the cluster"
                " itself: use pic diff"
            ]
        )
    # The other verbs save these imports, which take a tenth of a second.
    from pic.cluster import listing  # noqa: PLC0415
    from pic.engine import driver, repair  # noqa: PLC0415
    from pic.engine.withholding import withhold  # noqa: PLC0415
    from pic.run.situation import Situation  # noqa: PLC0415

    stack, config = deploying.config(options, environment)
    comparison = reporting.compare(options, environment)
    access = listing.resolve(config.settings, environment)
    transport = listing.connect_to(access)
    situation = Situation(
        config, transport, comparison.snapshot, comparison.plan, comparison.changes
    )
    progress = deploying.Progress(options).step
    engine = driver.engine_for(stack, environment, progress, access.pinned)
    common.progress(options, "asking the engine for a preview")
    if situation.changes.going:
        # The state decides what a run would leave as it is.
        situation = withhold(situation, engine.state())
    outcome = driver.preview(engine, situation)
    code = reporting.deliver(comparison.review, options, environment)
    if removals := repair.unplanned_removals(situation.snapshot, situation.plan, outcome):
        hosts = ", ".join(live.host for live in removals)
        logs.log(
            logs.WARN, f"the engine would replace these, so they are away for a moment: {hosts}"
        )
    else:
        counts = counts_as_text(outcome.changed) or "nothing to do"
        common.say(options, f"the engine agrees: {counts}")
    return code
