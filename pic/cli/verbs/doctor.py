"""Implements `pic doctor`: checks everything that a run needs."""

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
        "check everything that a run needs: tools, cluster, Pi-hole, backend",
        "Check the Pulumi CLI, the project, the stack, the cluster, Pi-hole and the state backend."
        " This changes nothing and asks no questions. Each failed check comes with its remedy, and"
        " does not stop the others.\n\n"
        "Exit codes: 0 if nothing failed; 2 if you have to change settings or the environment;"
        " 5 for any other failure.",
        "  pic doctor --stack prod\n"
        "  pic doctor --output json | jq '.checks[] | select(.verdict == \"fail\")'",
    )
    common.add_output(verb)
    verb.set_defaults(run=run)


def run(options: argparse.Namespace, environment: Mapping[str, str]) -> int:
    """Run the checks and print their findings."""
    # The other verbs save this import: the Kubernetes client takes a fifth of a second.
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
        common.progress(options, f"checked {finding.name}")
        findings.append(finding)
    print(doctor.as_json(findings) if options.output == "json" else doctor.as_text(findings))
    return doctor.exit_code(findings)
