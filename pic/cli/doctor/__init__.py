"""`pic doctor`: whether everything that a run needs is there, each check for itself."""

from collections.abc import Iterator

from pic.cli.doctor import (
    backend,
    cluster,
    project,
    toolchain,
)
from pic.core.findings import (
    Finding,
    as_json,
    as_text,
    exit_code,
)
from pic.run import targets
from pic.run.doctor_context import DoctorContext

__all__ = ["DoctorContext", "Finding", "as_json", "as_text", "examine", "exit_code"]


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield what each check finds, as it is found; none hides another."""
    yield from toolchain.examine(context)
    yield from project.examine(context)
    stack, found = project.stack(context)
    yield from found
    yield from cluster.examine(context, stack)
    if stack.settings is not None:
        for target in targets.active(stack.settings):
            yield from target.examine(context, stack.settings)
    yield from backend.examine(context, stack)
