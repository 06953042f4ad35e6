"""What became of an engine run, told from the engine's own events. No I/O.

The events are lines of JSON (`pulumi … --json`). Most of them hold whole resources and say only
which step is done, so only what matters is decoded.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pic.core.errors import FailureClass
from pic.core.json_values import mapping, text
from pic.core.model import KIND, RECORD_TYPE
from pic.run import targets

_KIND = re.compile(r'\{"sequence":\d+,"timestamp":\d+,"(\w+)":')
_STEP = re.compile(r'\{"metadata":\{"op":"([\w-]+)","urn":"([^"]+)"')
RATE_LIMITED_SECONDS = 60
UNCHANGED = ("same", "read", "refresh")

# How `classed` ends a message.
_TOLD = re.compile(r" \[(invalid|auth|temporary|rateLimited)(?:, retry after (\d+) s)?\]\s*$")
# What the plugin's messages have in common with the API server's answers that they quote.
_CLASSES = (
    ("rateLimited", r"too ?many ?requests|\b429\b|rate.?limit"),
    ("invalid", r"\bis invalid\b|invalid:|denied (the )?request|\b422\b|bad request|is not ours"),
    ("auth", r"forbidden|unauthorized|\b40[13]\b"),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A resource that the engine could not bring about.

    Attributes:
        host: Its host, or the name of a record, such as `app.example.com/A`.
    """

    host: str
    message: str
    target: str = "pangolin"

    @property
    def kind(self) -> FailureClass:
        """What kind of failure its message tells."""
        if told := _TOLD.search(self.message):
            return FailureClass(told[1])
        for name, pattern in _CLASSES:
            if re.search(pattern, self.message, re.IGNORECASE):
                return FailureClass(name)
        return FailureClass.TEMPORARY

    @property
    def retry_after(self) -> int | None:
        """After how many seconds to try again, where that is known."""
        told = _TOLD.search(self.message)
        if told and told[2]:
            return int(told[2])
        return RATE_LIMITED_SECONDS if self.kind is FailureClass.RATE_LIMITED else None

    @property
    def words(self) -> str:
        """The message without its class, which is told apart."""
        return _TOLD.sub("", self.message)


@dataclass(slots=True)
class Outcome:
    """Gathers the events of one engine run.

    Attributes:
        steps: The resources of each operation, such as `create`, as the engine begins them.
        done: How many steps have ended.
        warnings: Warnings of the engine and the program.
    """

    steps: dict[str, list[str]] = field(default_factory=dict)
    done: int = 0
    warnings: list[str] = field(default_factory=list)
    _failed: list[str] = field(default_factory=list)
    _said: dict[str, list[str]] = field(default_factory=dict)

    def feed(self, line: str) -> None:
        """Take in one line of the engine's output."""
        kind = _KIND.match(line)
        if not kind:
            return
        name = kind[1]
        if name == "resourcePreEvent":
            self._begin(line[kind.end() :])
        elif name == "resOutputsEvent":
            self.done += 1
        elif name in ("diagnosticEvent", "resOpFailedEvent"):
            # The last line of an engine that was killed breaks off anywhere.
            with contextlib.suppress(ValueError):
                self._note(name, mapping(json.loads(line)[name], name))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The resources that failed, by host."""
        names = {host_of(urn): urn for urn in self._failed}
        return tuple(
            Failure(name, self._words(name), target_of(urn)) for name, urn in sorted(names.items())
        )

    @property
    def changed(self) -> dict[str, int]:
        """How many resources of each operation, of those that changed and did not fail.

        PangolinResources and DNS records, and not what they need.
        """
        failed = {failure.host for failure in self.failures}
        counts = {
            op: len({host_of(urn) for urn in urns if KIND in urn or RECORD_TYPE in urn} - failed)
            for op, urns in sorted(self.steps.items())
        }
        return {op: count for op, count in counts.items() if count and op not in UNCHANGED}

    def hosts(self, *operations: str) -> tuple[str, ...]:
        """Return the hosts of PangolinResources that some operations are about."""
        found = (urn for op in operations for urn in self.steps.get(op, ()) if KIND in urn)
        return tuple(sorted({host_of(urn) for urn in found}))

    def _begin(self, rest: str) -> None:
        if step := _STEP.match(rest):
            self.steps.setdefault(step[1], []).append(step[2])

    def _note(self, name: str, event: Mapping[str, object]) -> None:
        if name == "resOpFailedEvent":
            self._failed.append(text(mapping(event.get("metadata"), "metadata").get("urn")))
        else:
            self._say(event)

    def _say(self, event: Mapping[str, object]) -> None:
        severity, message = event.get("severity"), plain(text(event.get("message")))
        if severity == "error":
            self._said.setdefault(text(event.get("urn")), []).append(message)
        elif severity == "warning":
            self.warnings.append(message)

    def _words(self, host: str) -> str:
        found = (words for urn, words in self._said.items() if urn and host_of(urn) == host)
        return "\n".join(word for words in found for word in words) or "the engine does not say why"

    def after(self, earlier: "Outcome") -> "Outcome":
        """Return this outcome with what an earlier pass of the same deployment did."""
        for operation, urns in earlier.steps.items():
            self.steps[operation] = [*urns, *self.steps.get(operation, ())]
        self.warnings = list(dict.fromkeys([*earlier.warnings, *self.warnings]))
        return self

    def unplaced(self) -> Iterator[str]:
        """Yield the errors that belong to no failed resource."""
        failed = {host_of(urn) for urn in self._failed}
        for urn, words in self._said.items():
            if not urn or host_of(urn) not in failed:
                yield from words


def host_of(urn: str) -> str:
    """Return the last part of a URN: of a PangolinResource, its host."""
    return urn.rpartition("::")[2]


def target_of(urn: str) -> str:
    """Return the target that a resource, or a provider, belongs to."""
    return targets.target_of(urn.split("::")[-2] if "::" in urn else "")


def plain(message: str) -> str:
    """Return a message of the engine without its colour marks."""
    return re.sub(r"<\{%[^%]*%\}>", "", message).strip()


def counted(changes: Mapping[str, int]) -> str:
    """Return operations in words, such as `3 created, 1 deleted`."""
    words = {"create": "created", "update": "updated", "delete": "deleted", "import": "adopted"}
    found = Counter({words.get(op, op): count for op, count in changes.items()})
    return ", ".join(f"{count} {word}" for word, count in sorted(found.items()))
