"""What a run did, as one log line for each thing: its level, its message and its fields. No I/O.

Messages and fields of DNS records are those of the operator that the target follows.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.ingress import Ingress
from pic.core.model import (
    KIND,
    RECORD_TYPE,
    LiveResource,
    Owner,
    Plan,
    Record,
    Resource,
    record_id,
)
from pic.core.names import NAME_LABEL
from pic.core.notices import Level, Notice, Reason
from pic.engine.outcome import Failure, Outcome, host_of
from pic.planning import dns_records
from pic.planning.changes import Changes
from pic.settings.parse import TargetName

# An annotation may hold a quarter of a megabyte.
SHOWN = 80

# What a step of the engine comes to; of a replacement, which takes several, only the last counts.
DONE: Mapping[str, str] = {
    "create": "created",
    "create-replacement": "updated",
    "delete": "deleted",
    "import": "adopted",
    "import-replacement": "adopted",
    "update": "updated",
}


@dataclass(frozen=True, slots=True)
class Action:
    """One line of the log.

    Attributes:
        level: As the standard library counts them, such as `logging.INFO`.
        fields: In the order in which they are written.
    """

    level: int
    message: str
    fields: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Scene:
    """What a run set out with: what it knows of hosts, and whose they are.

    Attributes:
        ingresses: All that there are, of whatever class.
    """

    plan: Plan
    changes: Changes
    ingresses: Sequence[Ingress] = ()


def begun(scene: Scene) -> tuple[Action, ...]:
    """Return one line for each Ingress that something is to be done for."""
    found = scene.changes
    owned: list[Sequence[Owner]] = [
        *(each.owners for each in found.created),
        *(each.resource.owners for each in found.updated),
        *(each.resource.owners for each in found.moved),
        *(_owners(each) for each in found.removed),
        *(each.owners for each in found.records.created),
        *(each.record.owners for each in found.records.updated),
    ]
    names = sorted({_name(owner) for owners in owned for owner in owners})
    return tuple(Action(logging.DEBUG, "reconcile started", {"ingress": name}) for name in names)


def noticed(scene: Scene) -> tuple[Action, ...]:
    """Return one line for each notice of the plan."""
    values = {(each.namespace, each.name): each.annotations for each in scene.ingresses}
    return tuple(_notice(each, values) for each in scene.plan.notices)


def done(outcome: Outcome, scene: Scene) -> tuple[Action, ...]:
    """Return one line for each thing that the engine did or could not do, sorted by its name."""
    whole = _Run(outcome, scene)
    steps = sorted((host_of(urn), op, urn) for op, urn in _steps(outcome))
    lines = [whole.step(op, urn) for _, op, urn in steps]
    begun = {name for name, _, _ in steps}
    unread = [each for each in outcome.failures if each.host not in begun]
    lines += [whole.unread(each) for each in unread]
    return (*lines, *whole.failed())


def _steps(outcome: Outcome) -> Iterator[tuple[str, str]]:
    for op, urns in outcome.steps.items():
        if op in DONE:
            yield from ((op, urn) for urn in sorted(set(urns)) if _is_ours(urn))


def _is_ours(urn: str) -> bool:
    return KIND in urn or RECORD_TYPE in urn


class _Run:
    """Finds who and what a step of the engine is about."""

    def __init__(self, outcome: Outcome, scene: Scene) -> None:
        self.failures = {each.host: each.words for each in outcome.failures}
        self.resources = _resources(scene)
        self.records = {record_id(each): each for each in scene.plan.records}
        self.old = {record_id(e.record): e.live.ip for e in scene.changes.records.updated}
        self.registered = {
            host: f"{each.namespace}/{each.name}"
            for each in scene.ingresses
            for host in sorted(dns_records.managed_hosts([each]))
        }
        self.concerned: dict[str, list[str]] = {}

    def step(self, op: str, urn: str) -> Action:
        name = host_of(urn)
        return self.record(op, name) if RECORD_TYPE in urn else self.resource(op, name)

    def resource(self, op: str, name: str) -> Action:
        ingress, what = self.resources.get(name, ("", ""))
        fields = {"ingress": ingress, "host": name, "object": what}
        if name in self.failures:
            more = {"operation": op, "error": self.blame(ingress, name)}
            return Action(logging.ERROR, "resource failed", {**fields, **more})
        return Action(logging.INFO, f"resource {DONE[op]}", fields)

    def unread(self, failure: Failure) -> Action:
        """Tell of what could not even be read, so that no step was begun."""
        if failure.target == TargetName.PIHOLE:
            return self.record("read", failure.host)
        return self.resource("read", failure.host)

    def record(self, op: str, name: str) -> Action:
        host, _, _ = name.rpartition("/")
        planned = self.records.get(name)
        # Nobody but an Ingress that is annotated with it tells whose a deleted record was.
        ingress = _names(planned.owners) if planned else self.registered.get(host, "")
        if name in self.failures:
            fields = {"ingress": ingress, "operation": op, "error": self.blame(ingress, name)}
            return Action(logging.ERROR, "pi-hole api error", fields)
        fields = {"ingress": ingress, "host": host, **self.addresses(op, name, planned)}
        return Action(logging.INFO, f"dns record {DONE[op]}", fields)

    def addresses(self, op: str, name: str, planned: Record | None) -> dict[str, str]:
        new = planned.ip if planned else ""
        match DONE[op]:
            case "deleted":
                return {}
            case "updated":
                return {"old_ip": self.old.get(name, ""), "new_ip": new}
            case _:
                return {"ip": new}

    def blame(self, ingress: str, name: str) -> str:
        """Keep an error for its Ingress, and return it."""
        self.concerned.setdefault(ingress, []).append(f"{name}: {self.failures[name]}")
        return self.failures[name]

    def failed(self) -> Iterator[Action]:
        for ingress, errors in sorted(self.concerned.items()):
            fields = {"ingress": ingress, "error": "\n".join(errors)}
            yield Action(logging.ERROR, "reconcile failed", fields)


def _resources(scene: Scene) -> dict[str, tuple[str, str]]:
    """Return the Ingresses and the object of each host, planned or to go."""
    gone = {each.host: each for each in scene.changes.removed}
    planned = {each.host: each for each in scene.plan.resources}
    found: dict[str, LiveResource | Resource] = {**gone, **planned}
    return {host: (_names(_owners(each)), "/".join(each.key)) for host, each in found.items()}


def _owners(owned: LiveResource | Resource) -> tuple[Owner, ...]:
    """Return the Ingresses of an object; the labels know one where no reference does."""
    labelled = owned.labels.get(NAME_LABEL)
    if owned.owners or not labelled:
        return owned.owners
    return (Owner(owned.namespace, labelled, ""),)


def _names(owners: Iterable[Owner]) -> str:
    return ",".join(map(_name, owners))


def _name(owner: Owner) -> str:
    return f"{owner.namespace}/{owner.name}"


def _notice(notice: Notice, values: Mapping[tuple[str, str], Mapping[str, str | None]]) -> Action:
    about = str(notice.about)
    found = values.get((notice.about.namespace, notice.about.name), {})
    if notice.reason is Reason.NO_HOSTS:
        return Action(logging.WARNING, "ingress skipped (no hosts)", {"ingress": about})
    if notice.reason is Reason.PIHOLE_UNREADABLE:
        fields = {"ingress": "", "operation": "list", "error": notice.message}
        return Action(logging.ERROR, "pi-hole api error", fields)
    if notice.annotation in found:
        value = (found[notice.annotation] or "")[:SHOWN]
        fields = {"ingress": about, "annotation": notice.annotation, "value": value}
        return Action(logging.WARNING, "invalid annotation", {**fields, "error": notice.message})
    level = logging.WARNING if notice.level is Level.WARNING else logging.INFO
    where = "ingress" if notice.about.kind == "Ingress" else "object"
    host = {"host": notice.host} if notice.host else {}
    fields = {"reason": notice.reason.value, where: about, **host, "text": notice.message}
    return Action(level, "notice", fields)
