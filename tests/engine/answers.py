"""Reads the events of an engine run."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

QUIET = ("refresh", "same", "read")
# No run lists the register, nor does an answer.
UNLISTED = ("pulumi:pulumi:Stack", "kubernetes:core/v1:ConfigMap")

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """Holds the outcome of one engine run.

    Attributes:
        code: The exit code.
        steps: The operations with their hosts (`cluster` is the provider), sorted by host and in
            the order in which they happened, without unchanged resources.
        warnings: The distinct warnings.
        complaints: The distinct errors.
        remarks: The distinct messages of level info.
        printed: The whole output, which shows why a test failed.
    """

    code: int
    steps: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    printed: str = field(default="", compare=False, repr=False)

    def hosts(self, operation: str) -> set[str]:
        """Return the hosts with an operation."""
        return {host for op, host in self.steps if op == operation}


def succeeded(
    *steps: tuple[str, str], warnings: Sequence[str] = (), remarks: Sequence[str] = ()
) -> Answer:
    """Return the expected answer of a successful run."""
    return Answer(0, steps, tuple(warnings), remarks=tuple(remarks))


def failed(*complaints: str, warnings: Sequence[str] = ()) -> Answer:
    """Return the expected answer of a run that failed without doing anything."""
    return Answer(1, (), tuple(warnings), complaints)


def answer(code: int, printed: str, errors: str) -> Answer:
    """Parse the output of `pulumi … --json`, which has one event per line."""
    events = [json.loads(line) for line in printed.splitlines() if line.startswith('{"sequence"')]
    return Answer(
        code,
        tuple(sorted(_steps(events), key=lambda step: step[1])),
        tuple(dict.fromkeys(_messages(events, "warning"))),
        tuple(dict.fromkeys(_messages(events, "error"))),
        tuple(dict.fromkeys(_messages(events, "info"))),
        printed + errors,
    )


def _steps(events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    for event in events:
        if outputs := event.get("resOutputsEvent"):
            step = outputs["metadata"]
            if step["op"] not in QUIET and step["type"] not in UNLISTED:
                yield step["op"], step["urn"].rpartition("::")[2]


def _messages(events: Sequence[Event], severity: str) -> Iterator[str]:
    for event in events:
        diagnostic = event.get("diagnosticEvent") or {}
        text = diagnostic.get("message", "").strip()
        # An ephemeral message is the progress of a step, which a fast step does not show.
        if text and diagnostic["severity"] == severity and not diagnostic.get("ephemeral"):
            yield text
