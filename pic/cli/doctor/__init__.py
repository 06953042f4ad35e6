"""Runs every check of `pic doctor`, one after the other."""

from collections.abc import Iterator

from pic.cli.doctor import backend, cluster, project, toolchain
from pic.core.findings import Finding, as_json, as_text, exit_code
from pic.run import targets
from pic.run.doctor_context import DoctorContext

__all__ = ["DoctorContext", "Finding", "as_json", "as_text", "examine", "exit_code"]


def examine(context: DoctorContext) -> Iterator[Finding]:
    """Yield the findings of all checks, each as soon as it is known.

    A failed check does not stop the others.
    """
    yield from toolchain.examine(context)
    yield from project.examine(context)
    stack, findings = project.read_stack(context)
    yield from findings
    yield from cluster.examine(context, stack)
    if stack.settings is not None:
        for target in targets.active(stack.settings):
            yield from target.examine(context, stack.settings)
    yield from backend.examine(context, stack)
