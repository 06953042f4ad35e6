"""`pic doctor`: whether everything that a run needs is there."""

import argparse
import socket
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from pic.cli import common


def add(verbs: common.Verbs) -> None:
    """Add the verb."""
    verb = common.add(
        verbs,
        "doctor",
        "check the toolchain, the cluster, Pi-hole and the state backend",
        "Checks everything that a run needs, and says for each what to do. Changes nothing. Ends"
        " with 0 when nothing failed, 2 when settings or the environment have to change, else 5.",
        "  pic doctor --stack prod\n"
        "  pic doctor --output json | jq '.checks[] | select(.verdict == \"fail\")'",
    )
    verb.add_argument(
        "--output", choices=("text", "json"), default="text", help="form of the answer (text)"
    )
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Print what each check finds."""
    # The Kubernetes client takes a fifth of a second to import, which other verbs do without.
    from pic.cli import doctor  # noqa: PLC0415

    context = doctor.DoctorContext(
        root=Path.cwd(),
        stack=options.stack,
        pairs=options.config,
        environment=environment,
        host=socket.gethostname(),
        now=datetime.now(UTC),
    )
    findings = []
    for finding in doctor.examine(context):
        common.progress(options, f"{finding.name} is checked")
        findings.append(finding)
    print(doctor.as_json(findings) if options.output == "json" else doctor.as_text(findings))
    return doctor.exit_code(findings)
