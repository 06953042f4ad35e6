"""What the engine says of a run, as its own events tell it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

QUIET = ("refresh", "same", "read")

Event = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """One run of the engine.

    Attributes:
        code: The exit code.
        steps: What was done, as operation and host (`cluster` is the provider): sorted by host, in
            order for each, without what stayed as it was.
        warnings: Each once.
        complaints: The errors, each once.
        remarks: What the program says beside that, each once.
        printed: Everything, for when a test fails.
    """

    code: int
    steps: tuple[tuple[str, str], ...] = ()
    warnings: tuple[str, ...] = ()
    complaints: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    printed: str = field(default="", compare=False, repr=False)

    def hosts(self, operation: str) -> set[str]:
        """The hosts for which an operation was done."""
        return {host for op, host in self.steps if op == operation}


def done(
    *steps: tuple[str, str], warnings: Sequence[str] = (), remarks: Sequence[str] = ()
) -> Answer:
    """A run that went well."""
    return Answer(0, steps, tuple(warnings), remarks=tuple(remarks))


def failed(*complaints: str, warnings: Sequence[str] = ()) -> Answer:
    """A run that did nothing but complain."""
    return Answer(1, (), tuple(warnings), complaints)


def answer(code: int, printed: str, errors: str) -> Answer:
    """Read what `pulumi … --json` printed: an event on each line."""
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
        if found := event.get("resOutputsEvent"):
            step = found["metadata"]
            if step["op"] not in QUIET and step["type"] != "pulumi:pulumi:Stack":
                yield step["op"], step["urn"].rpartition("::")[2]


def _messages(events: Sequence[Event], severity: str) -> Iterator[str]:
    for event in events:
        found = event.get("diagnosticEvent")
        if found and found["severity"] == severity and (text := found["message"].strip()):
            yield text
