"""`pic snapshot`: what the cluster holds, for a run that may not read it."""

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

from pic.cli import common
from pic.run import reading
from pic.snapshot import snapshot_file

STDOUT = "-"


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "snapshot",
        "write what the cluster holds to a file, for --snapshot of plan and diff",
        "Writes what planning looks at, whole or not at all. No Secret is read, no annotation of\n"
        "others is written. A pull request from a fork is planned from it without credentials.",
        "  pic snapshot --stack prod --out snapshot.json\n"
        "  pic plan --stack prod --snapshot snapshot.json --manifests deploy/",
    )
    verb.add_argument(
        "--out", default=STDOUT, metavar="FILE", help="where it is written (standard output)"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the snapshot."""
    _, config = common.load(options, environment)
    common.progress(options, "reading the cluster")
    raw = reading.look(config.settings, environment)
    text = snapshot_file.render(raw, config.settings)
    if options.out == STDOUT:
        sys.stdout.write(text)
    else:
        snapshot_file.write(text, Path(options.out))
    return 0
