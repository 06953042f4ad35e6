"""`pic doctor`: whether everything that a run needs is there, each check for itself."""

from collections.abc import Iterator

from pic.cli.doctor import (
    backend,
    cluster,
    pihole,
    project,
    toolchain,
)
from pic.cli.doctor.findings import (
    Finding,
    as_json,
    as_text,
    exit_code,
)
from pic.cli.doctor.patient import DoctorContext

__all__ = ["DoctorContext", "Finding", "as_json", "as_text", "examine", "exit_code"]


def examine(patient: DoctorContext) -> Iterator[Finding]:
    """Yield what each check finds, as it is found; none hides another."""
    yield from toolchain.examine(patient)
    yield from project.examine(patient)
    stack, found = project.stack(patient)
    yield from found
    yield from cluster.examine(patient, stack)
    yield from pihole.examine(patient, stack)
    yield from backend.examine(patient, stack)
