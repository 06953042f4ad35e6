"""`pic preview`: what a deployment would do, as the engine sees it."""

import argparse
from collections.abc import Mapping

from pic.cli import common, deploying, reporting
from pic.core import logs
from pic.core.errors import SettingsError
from pic.engine.outcome import counted


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "preview",
        "say what up would do, and let the engine agree; changes nothing",
        "The report of pic diff, after Pulumi's own preview has shown that the engine sees it the"
        " same way: it needs the state and its passphrase.",
        "  pic preview --stack prod\n"
        "  pic preview --stack prod --manifests deploy/ --base base/deploy/ --output markdown"
        " --out comment.md",
    )
    reporting.add(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Preview."""
    if options.snapshot:
        raise SettingsError(
            ["--snapshot is for pic diff: the engine of a preview reads the cluster itself"]
        )
    # They take a tenth of a second to import, which other verbs do without.
    from pic.cluster import listing  # noqa: PLC0415
    from pic.engine import driver  # noqa: PLC0415
    from pic.run.situation import Situation  # noqa: PLC0415

    stack, config = deploying.config(options, environment)
    compared = reporting.compare(options, environment)
    transport = listing.connect(config.settings, environment)
    situation = Situation(config, transport, compared.snapshot, compared.plan, compared.changes)
    engine = driver.engine_for(config, stack, environment, deploying.Progress(options).step)
    common.progress(options, "asking the engine")
    outcome = driver.preview(engine, situation)
    code = reporting.deliver(compared.review, options, environment)
    if more := driver.beyond(situation, outcome):
        names = ", ".join(live.host for live in more)
        logs.log(logs.WARN, f"the engine would also take away for a moment: {names}")
    else:
        common.say(options, f"the engine agrees: {counted(outcome.changed) or 'nothing to do'}")
    return code
