"""Implements `pic snapshot`: writes what the cluster contains, for runs without credentials."""

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
        "save what the cluster contains, for plan and diff without credentials",
        "Write everything that planning reads from the cluster to a file. pic plan and pic diff use"
        " the file with --snapshot, for example for a pull request from a fork, whose job must not"
        " have credentials of the cluster.\n\n"
        "The file contains no Secrets, and no annotations but those that pic reads. If pic cannot"
        " read the whole cluster, it writes nothing.",
        "  pic snapshot --stack prod --out prod.json\n"
        "  pic diff --stack prod --snapshot prod.json --manifests deploy/",
    )
    verb.add_argument(
        "--out",
        default=STDOUT,
        metavar="FILE",
        help="write the snapshot to a file (default: standard output)",
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Write the snapshot."""
    _, config = common.load(options, environment)
    common.progress(options, "reading the cluster")
    raw = reading.read_cluster_or_file(config.settings, environment)
    text = snapshot_file.render(raw, config.settings)
    if options.out == STDOUT:
        sys.stdout.write(text)
    else:
        snapshot_file.write(text, Path(options.out))
    return 0
