"""Describes what a run did as lines of a log: level, message and fields. No I/O.

The lines about DNS records have the messages and fields of the Pi-hole operator that pic follows
(docs/pihole.md), so that existing log filters keep working.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.ingress import Ingress
from pic.core.model import (
    RECORD_TYPE,
    LiveResource,
    Owner,
    Plan,
    Record,
    Resource,
    is_host,
    record_id,
)
from pic.core.names import NAME_LABEL
from pic.core.notices import Level, Notice, Reason
from pic.engine.outcome import Failure, Outcome, host_of
from pic.planning import dns_requests
from pic.planning.changes import Changes
from pic.settings.parse import TargetName

# An annotation may contain 256 KiB. A log line shows this many characters of its value.
MAX_VALUE = 80

# What the log calls each step of the engine. Pulumi replaces an object in several steps, and only
# one of them is listed, so that a replacement is one line. In this order one run can do several
# things to one object: it imports what an interrupted run left before it deletes it.
RESULTS: Mapping[str, str] = {
    "import": "adopted",
    "import-replacement": "adopted",
    "create": "created",
    "create-replacement": "updated",
    "update": "updated",
    "delete": "deleted",
}


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log.

    Attributes:
        level: A level of the module `logging`, such as `logging.INFO`.
        fields: The fields in their order.
    """

    level: int
    message: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LogContext:
    """What the log has to know of a run: the plan, the changes, and the Ingresses behind them.

    Attributes:
        ingresses: All Ingresses of the cluster, of any class.
    """

    plan: Plan
    changes: Changes
    ingresses: Sequence[Ingress] = ()


def start_lines(context: LogContext) -> tuple[LogLine, ...]:
    """Return one line for each Ingress that the run changes something for."""
    changes = context.changes
    owners: list[Sequence[Owner]] = [
        *(resource.owners for resource in changes.created),
        *(update.resource.owners for update in changes.updated),
        *(move.resource.owners for move in changes.moved),
        *(_owners(live) for live in changes.removed),
        *(record.owners for record in changes.records.created),
        *(update.record.owners for update in changes.records.updated),
    ]
    names = sorted({_name(owner) for group in owners for owner in group})
    return tuple(LogLine(logging.DEBUG, "reconcile started", {"ingress": name}) for name in names)


def notice_lines(context: LogContext) -> tuple[LogLine, ...]:
    """Return one line for each notice of the plan."""
    annotations = {
        (ingress.namespace, ingress.name): ingress.annotations for ingress in context.ingresses
    }
    return tuple(_notice(notice, annotations) for notice in context.plan.notices)


def outcome_lines(outcome: Outcome, context: LogContext) -> tuple[LogLine, ...]:
    """Return one line for each resource that the engine changed or could not change, by name.

    At the end there is one line for each Ingress with a failure.
    """
    log = _OutcomeLog(outcome, context)
    steps = sorted(_steps(outcome), key=lambda step: host_of(step[1]))
    lines = [log.step_line(op, urn) for op, urn in steps]
    changed = {host_of(urn) for _, urn in steps}
    # The engine reads a resource before it changes it. A failed read leaves no step.
    unread = [failure for failure in outcome.failures if failure.host not in changed]
    lines += [log.unread_line(failure) for failure in unread]
    return (*lines, *log.ingress_lines())


def _steps(outcome: Outcome) -> Iterator[tuple[str, str]]:
    for op in RESULTS:
        urns = sorted(set(outcome.steps.get(op, ())))
        yield from ((op, urn) for urn in urns if _is_logged(urn))


def _is_logged(urn: str) -> bool:
    return is_host(urn) or RECORD_TYPE in urn


class _OutcomeLog:
    """Builds the lines for the steps of the engine, and collects the errors of each Ingress."""

    def __init__(self, outcome: Outcome, context: LogContext) -> None:
        self.failures = {failure.host: failure.plain_message for failure in outcome.failures}
        self.resources = _resources(context)
        self.records = {record_id(record): record for record in context.plan.records}
        self.old_ips = {
            record_id(update.record): update.live.ip for update in context.changes.records.updated
        }
        self.annotated = {
            host: f"{ingress.namespace}/{ingress.name}"
            for ingress in context.ingresses
            for host in sorted(dns_requests.managed_hosts([ingress]))
        }
        self.errors: dict[str, list[str]] = {}

    def step_line(self, op: str, urn: str) -> LogLine:
        name = host_of(urn)
        return self.record_line(op, name) if RECORD_TYPE in urn else self.resource_line(op, name)

    def resource_line(self, op: str, host: str) -> LogLine:
        ingress, key = self.resources.get(host, ("", ""))
        fields = {"ingress": ingress, "host": host, "object": key}
        if host in self.failures:
            failure = {"operation": op, "error": self.add_error(ingress, host)}
            return LogLine(logging.ERROR, "resource failed", {**fields, **failure})
        return LogLine(logging.INFO, f"resource {RESULTS[op]}", fields)

    def unread_line(self, failure: Failure) -> LogLine:
        """Return the line for a resource that the engine could not even read."""
        if failure.target == TargetName.PIHOLE:
            return self.record_line("read", failure.host)
        return self.resource_line("read", failure.host)

    def record_line(self, op: str, name: str) -> LogLine:
        host, _, _ = name.rpartition("/")
        planned = self.records.get(name)
        # The plan no longer has a deleted record. Only an annotation still names its Ingress.
        ingress = _names(planned.owners) if planned else self.annotated.get(host, "")
        if name in self.failures:
            error = self.add_error(ingress, name)
            fields = {"ingress": ingress, "operation": op, "error": error}
            return LogLine(logging.ERROR, "pi-hole api error", fields)
        fields = {"ingress": ingress, "host": host, **self.addresses(op, name, planned)}
        return LogLine(logging.INFO, f"dns record {RESULTS[op]}", fields)

    def addresses(self, op: str, name: str, planned: Record | None) -> dict[str, str]:
        new = planned.ip if planned else ""
        match RESULTS[op]:
            case "deleted":
                return {}
            case "updated":
                return {"old_ip": self.old_ips.get(name, ""), "new_ip": new}
            case _:
                return {"ip": new}

    def add_error(self, ingress: str, name: str) -> str:
        """Add the error of a resource to its Ingress, and return it."""
        self.errors.setdefault(ingress, []).append(f"{name}: {self.failures[name]}")
        return self.failures[name]

    def ingress_lines(self) -> Iterator[LogLine]:
        for ingress, errors in sorted(self.errors.items()):
            fields = {"ingress": ingress, "error": "\n".join(errors)}
            yield LogLine(logging.ERROR, "reconcile failed", fields)


def _resources(context: LogContext) -> dict[str, tuple[str, str]]:
    """Return the Ingresses and the object of each host that is planned or to be removed."""
    removed = {live.host: live for live in context.changes.removed}
    planned = {resource.host: resource for resource in context.plan.resources}
    by_host: dict[str, LiveResource | Resource] = {**removed, **planned}
    return {host: (_names(_owners(entry)), "/".join(entry.key)) for host, entry in by_host.items()}


def _owners(resource: LiveResource | Resource) -> tuple[Owner, ...]:
    """Return the Ingresses of an object: its ownerReferences, or the one in its labels."""
    name = resource.labels.get(NAME_LABEL)
    # With pic:ownerReferences: false, an object has only labels.
    if resource.owners or not name:
        return resource.owners
    return (Owner(resource.namespace, name, ""),)


def _names(owners: Iterable[Owner]) -> str:
    return ",".join(map(_name, owners))


def _name(owner: Owner) -> str:
    return f"{owner.namespace}/{owner.name}"


def _notice(
    notice: Notice, annotations: Mapping[tuple[str, str], Mapping[str, str | None]]
) -> LogLine:
    subject = str(notice.about)
    values = annotations.get((notice.about.namespace, notice.about.name), {})
    if notice.reason is Reason.NO_HOSTS:
        return LogLine(logging.WARNING, "ingress skipped (no hosts)", {"ingress": subject})
    if notice.reason is Reason.PIHOLE_UNREADABLE:
        fields = {"ingress": "", "operation": "list", "error": notice.message}
        return LogLine(logging.ERROR, "pi-hole api error", fields)
    if notice.annotation in values:
        value = (values[notice.annotation] or "")[:MAX_VALUE]
        fields = {"ingress": subject, "annotation": notice.annotation, "value": value}
        return LogLine(logging.WARNING, "invalid annotation", {**fields, "error": notice.message})
    level = logging.WARNING if notice.level is Level.WARNING else logging.INFO
    subject_field = "ingress" if notice.about.kind == "Ingress" else "object"
    host = {"host": notice.host} if notice.host else {}
    fields = {"reason": notice.reason.value, subject_field: subject, **host, "text": notice.message}
    return LogLine(level, "notice", fields)
