"""Reads from the engine's events how a run ended.

The events are lines of JSON (`pulumi … --json`). Most of them contain a whole resource and only say
that a step has ended. Decoding all of them takes longer than the steps. So only the start of a line
is matched, and only errors and warnings are decoded.
"""

import contextlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass
from pic.core.json_values import mapping, text
from pic.core.model import KIND, RECORD_TYPE, is_host
from pic.run import targets

_KIND = re.compile(r'\{"sequence":\d+,"timestamp":\d+,"(\w+)":')
_STEP = re.compile(r'\{"metadata":\{"op":"([\w-]+)","urn":"([^"]+)"')
RATE_LIMITED_SECONDS = 60
UNCHANGED = ("same", "read", "refresh")
WORDS = {
    "create": "created",
    "create-replacement": "replaced",
    "delete": "deleted",
    "import": "adopted",
    "import-replacement": "adopted",
    "update": "updated",
}
# Steps of a replacement that end with another step, which counts.
REPLACEMENT_PARTS = ("delete-replaced", "replace")

# `with_class` ends a message like this. Pi-hole's provider is another process, so the class of its
# errors reaches pic only inside the message.
_CLASS = re.compile(r" \[(invalid|auth|temporary|rateLimited)(?:, retry after (\d+) s)?\]\s*$")
# Words of the API server's answers, which the messages of the Kubernetes plugin quote.
_CLASSES = (
    ("rateLimited", r"too ?many ?requests|\b429\b|rate.?limit"),
    (
        "invalid",
        r"\bis invalid\b|invalid:|denied (the )?request|\b422\b|bad request|is no longer ours",
    ),
    ("auth", r"forbidden|unauthorized|\b40[13]\b"),
)
# The API server creates nothing in a namespace that is being deleted, or is gone by now. Its
# Ingresses go as well, so a resource that fails for this reason is no failure.
_NAMESPACE_GONE = re.compile(
    r'because it is being terminated|namespaces \\?"[^"]+" not found', re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Failure:
    """A resource that failed: the engine could not create, update or delete it.

    Attributes:
        host: Its host, or the name of a record, such as `app.example.com/A`.
    """

    host: str
    message: str
    target: str = "pangolin"

    @property
    def kind(self) -> FailureClass:
        """The class of the failure, as its message says or suggests."""
        if match := _CLASS.search(self.message):
            return FailureClass(match[1])
        for name, pattern in _CLASSES:
            if re.search(pattern, self.message, re.IGNORECASE):
                return FailureClass(name)
        return FailureClass.TEMPORARY

    @property
    def retry_after(self) -> int | None:
        """Seconds to wait before a retry; None if unknown."""
        match = _CLASS.search(self.message)
        if match and match[2]:
            return int(match[2])
        return RATE_LIMITED_SECONDS if self.kind is FailureClass.RATE_LIMITED else None

    @property
    def plain_message(self) -> str:
        """The message without its class, which reports show in a field of its own."""
        return _CLASS.sub("", self.message)


@dataclass(slots=True)
class Outcome:
    """Gathers the events of one engine run.

    Attributes:
        steps: The resources of each operation, such as `create`, as the engine begins them.
        done: How many steps have ended.
        warnings: Warnings of the engine and the program.
        failed_urns: The resources that failed, once for each step that failed.
        errors: The error messages by the resource that they are about, or by an empty text.
    """

    steps: dict[str, list[str]] = field(default_factory=dict)
    done: int = 0
    warnings: list[str] = field(default_factory=list)
    failed_urns: list[str] = field(default_factory=list)
    errors: dict[str, list[str]] = field(default_factory=dict)

    def add_line(self, line: str) -> None:
        """Add one line of the engine's output."""
        kind = _KIND.match(line)
        if not kind:
            return
        name = kind[1]
        if name == "resourcePreEvent":
            self._add_step(line[kind.end() :])
        elif name == "resOutputsEvent":
            self.done += 1
        elif name in ("diagnosticEvent", "resOpFailedEvent"):
            # The last line of a killed engine may be incomplete.
            with contextlib.suppress(ValueError):
                self._add_problem(name, mapping(json.loads(line)[name], name))

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The resources that failed, by host, without those in `pardoned`."""
        return tuple(it for it in self._all_failures() if it not in self.pardoned)

    @property
    def pardoned(self) -> tuple[Failure, ...]:
        """The resources that failed because Kubernetes is deleting their namespace, by host."""
        # The namespace of the register must exist, so what fails there is no object of a tenant.
        urns = [urn for urn in self.failed_urns if KIND in urn]
        return tuple(it for it in self._failures_of(urns) if _NAMESPACE_GONE.search(it.message))

    def _all_failures(self) -> tuple[Failure, ...]:
        return self._failures_of(self.failed_urns)

    def _failures_of(self, urns: Sequence[str]) -> tuple[Failure, ...]:
        # A resource can fail in several steps, so each name counts once.
        names = {host_of(urn): urn for urn in urns}
        return tuple(
            Failure(name, self._messages(name), target_of(urn))
            for name, urn in sorted(names.items())
        )

    @property
    def changed(self) -> dict[str, int]:
        """How many resources each operation changed, without those that failed.

        Only PangolinResources and DNS records count, not the providers that they need.
        """
        failed = {failure.host for failure in self._all_failures()}
        counts = {
            op: len({host_of(urn) for urn in urns if is_host(urn) or RECORD_TYPE in urn} - failed)
            for op, urns in sorted(self.steps.items())
        }
        return {op: count for op, count in counts.items() if count and op not in UNCHANGED}

    def hosts(self, *operations: str) -> tuple[str, ...]:
        """Return the hosts of the PangolinResources that went through some operations."""
        urns = (urn for op in operations for urn in self.steps.get(op, ()) if is_host(urn))
        return tuple(sorted({host_of(urn) for urn in urns}))

    def _add_step(self, rest: str) -> None:
        if step := _STEP.match(rest):
            self.steps.setdefault(step[1], []).append(step[2])

    def _add_problem(self, name: str, event: Mapping[str, object]) -> None:
        if name == "resOpFailedEvent":
            self.failed_urns.append(text(mapping(event.get("metadata"), "metadata").get("urn")))
        else:
            self._add_message(event)

    def _add_message(self, event: Mapping[str, object]) -> None:
        severity, message = event.get("severity"), without_colours(text(event.get("message")))
        if severity == "error":
            self.errors.setdefault(text(event.get("urn")), []).append(message)
        elif severity == "warning":
            self.warnings.append(message)

    def _messages(self, host: str) -> str:
        messages = [
            message
            for urn, messages in self.errors.items()
            if urn and host_of(urn) == host
            for message in messages
        ]
        return "\n".join(messages) or "the engine gave no reason"

    def including(self, earlier: "Outcome") -> "Outcome":
        """Return this outcome together with that of an earlier pass of the same run.

        What both passes say counts once: an operation on a resource, a failure, and a message.
        """
        return Outcome(
            _joined(earlier.steps, self.steps),
            earlier.done + self.done,
            _distinct(earlier.warnings, self.warnings),
            _distinct(earlier.failed_urns, self.failed_urns),
            _joined(earlier.errors, self.errors),
        )

    def other_errors(self) -> Iterator[str]:
        """Yield the errors that belong to no failed resource."""
        failed = {host_of(urn) for urn in self.failed_urns}
        for urn, messages in self.errors.items():
            if not urn or host_of(urn) not in failed:
                yield from messages


def _joined(
    first: Mapping[str, list[str]], second: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    return {
        key: _distinct(first.get(key, ()), second.get(key, ()))
        for key in dict.fromkeys([*first, *second])
    }


def _distinct(first: Iterable[str], second: Iterable[str]) -> list[str]:
    return list(dict.fromkeys([*first, *second]))


def host_of(urn: str) -> str:
    """Return the last part of a URN: of a PangolinResource, its host."""
    return urn.rpartition("::")[2]


def target_of(urn: str) -> str:
    """Return the target that a resource, or a provider, belongs to."""
    return targets.target_of(urn.split("::")[-2] if "::" in urn else "")


def without_colours(message: str) -> str:
    """Return a message of the engine without its colour marks."""
    return re.sub(r"<\{%[^%]*%\}>", "", message).strip()


def counts_as_text(counts: Mapping[str, int]) -> str:
    """Return the number of changes of each operation as text, such as `3 created, 1 deleted`."""
    by_word: Counter[str] = Counter()
    for op, count in counts.items():
        if op not in REPLACEMENT_PARTS:
            by_word[WORDS.get(op, op)] += count
    return ", ".join(f"{count} {word}" for word, count in sorted(by_word.items()))
