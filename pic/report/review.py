"""What a reviewer of a change must know, most important first, whatever the form. No I/O."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pic.core.model import (
    LiveRecord,
    Plan,
    Record,
    Resource,
    Spec,
)
from pic.core.notices import Level, Notice
from pic.planning import serialise
from pic.planning.changes import Changes, Move, Update
from pic.planning.guard import Refusal
from pic.planning.record_changes import RecordChanges
from pic.planning.serialise import Json

VERSION = 1

_PROTECTION = {"sso": "login", "blockAccess": "block"}


class Access(StrEnum):
    """Who gets to see a host."""

    PUBLIC = "public"
    LOGIN = "login"
    BLOCKED = "blocked"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Opening:
    """A host that everybody can see from now on; `before` is None where the host is new."""

    resource: Resource
    before: Access | None


@dataclass(frozen=True, slots=True)
class Loss:
    """A host that loses protection: `login`, `block` or both."""

    host: str
    lost: tuple[str, ...]
    after: Access


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that a report shows.

    Attributes:
        project: With `stack`, names the report, so that a later one can take its place.
        openings: Hosts that become public, sorted by host.
        losses: Hosts that lose login or block, sorted by host.
        notices: Those to show, warnings first.
        known_notices: How many others were there without the branch; None where there is no
            branch, and so all are shown.
        refusals: Why the guard refuses the changes; empty where it does not.
        stale_acknowledgement: An acknowledgement that was given for other changes.
        held_records: DNS records that stay as they are, since what asks for them is not understood.
    """

    project: str
    stack: str
    changes: Changes
    openings: tuple[Opening, ...] = ()
    losses: tuple[Loss, ...] = ()
    notices: tuple[Notice, ...] = ()
    known_notices: int | None = None
    refusals: tuple[Refusal, ...] = ()
    stale_acknowledgement: str = ""
    held_records: tuple[Record, ...] = ()

    @property
    def has_records(self) -> bool:
        """There is anything to say of DNS records; of a stack without Pi-hole there is not."""
        return self.changes.records != RecordChanges()

    @property
    def acknowledgeable(self) -> bool:
        """Whether the digest of the changes lets them through."""
        return all(refusal.acknowledgeable for refusal in self.refusals)

    @property
    def command(self) -> str:
        """The command that lets exactly these changes through."""
        return f"pic up --stack {self.stack} --acknowledge {self.changes.digest}"

    @property
    def variable(self) -> str:
        """The variable that lets a report of exactly these changes pass."""
        return f"PIC_ACKNOWLEDGE={self.changes.digest}"


@dataclass(frozen=True, slots=True)
class StackRef:
    """Whose changes are reviewed: a stack of a project."""

    project: str
    stack: str


def build(
    subject: StackRef,
    plan: Plan,
    changes: Changes,
    *,
    known: frozenset[Notice] | None = None,
    refusals: Sequence[Refusal] = (),
    acknowledgement: str = "",
) -> Review:
    """Return the review of changes.

    Args:
        subject: The stack.
        plan: What should exist.
        changes: The difference between what is live and that plan.
        known: The notices without the branch; None where there is no branch.
        refusals: Why the guard refuses the changes.
        acknowledgement: The value of `pic:acknowledge`.
    """
    shown = [notice for notice in plan.notices if notice not in (known or ())]
    helps = bool(refusals) and all(refusal.acknowledgeable for refusal in refusals)
    return Review(
        subject.project,
        subject.stack,
        changes,
        openings=tuple(sorted(openings(changes), key=lambda each: each.resource.host)),
        losses=tuple(_losses(plan, changes)),
        notices=tuple(
            sorted(shown, key=lambda each: (each.level is not Level.WARNING, each.order))
        ),
        known_notices=None if known is None else len(plan.notices) - len(shown),
        refusals=tuple(refusals),
        stale_acknowledgement=acknowledgement if helps and acknowledgement != changes.digest else "",
        held_records=tuple(each for each in plan.records if each.held),
    )


def access(spec: Spec) -> Access:
    """Say who gets to see the host of a spec."""
    if spec.enabled is False:
        return Access.OFF
    if spec.http.block_access:
        return Access.BLOCKED
    return Access.LOGIN if spec.http.sso else Access.PUBLIC


def openings(changes: Changes) -> Iterator[Opening]:
    """Yield the hosts that become public."""
    for resource in changes.created:
        if access(resource.spec) is Access.PUBLIC:
            yield Opening(resource, None)
    altered: list[Update | Move] = [*changes.updated, *changes.moved]
    for each in altered:
        before = access(each.live.spec)
        if before is not Access.PUBLIC and access(each.resource.spec) is Access.PUBLIC:
            yield Opening(each.resource, before)


def _losses(plan: Plan, changes: Changes) -> Iterator[Loss]:
    planned = {each.host: each for each in plan.resources}
    lost: dict[str, list[str]] = {}
    for weak in changes.weakened:
        lost.setdefault(weak.host, []).append(_PROTECTION[weak.field])
    for host in sorted(lost):
        yield Loss(host, tuple(lost[host]), access(planned[host].spec))


def as_json(review: Review) -> Json:
    """Return the review as its versioned contract has it."""
    changes = review.changes
    return {
        "version": VERSION,
        "project": review.project,
        "stack": review.stack,
        "cluster": changes.cluster_id,
        "digest": changes.digest,
        "counts": _json_counts(review),
        "refusal": _json_refusal(review),
        "public": [
            {"host": each.resource.host, "before": each.before or "new"} for each in review.openings
        ],
        "weakened": [
            {"host": each.host, "loses": list(each.lost), "after": each.after}
            for each in review.losses
        ],
        "removed": [{"host": live.host or None, **_key(live.key)} for live in changes.removed],
        "moved": [
            {
                "host": each.resource.host,
                "from": _key(each.live.key),
                "to": _key(each.resource.key),
            }
            for each in changes.moved
        ],
        "created": [serialise.resource(each) for each in changes.created],
        "updated": [_json_update(each) for each in changes.updated],
        **({"records": _json_records(review)} if review.has_records else {}),
        "notices": [serialise.notice(each) for each in review.notices],
    }


def _json_records(review: Review) -> Json:
    """Return the DNS records; `compared` is false where Pi-hole was not read."""
    changes = review.changes.records
    return {
        "live": changes.known,
        "planned": changes.wanted,
        "compared": changes.compared,
        "removed": [_json_record(each) for each in changes.removed],
        "updated": [
            {"host": each.record.host, "old": each.live.ip, "new": each.record.ip}
            for each in changes.updated
        ],
        "created": [
            {**_json_record(each), "owners": serialise.owners(each.owners)}
            for each in changes.created
        ],
        "held": [_json_record(each) for each in review.held_records],
    }


def _json_record(record: Record | LiveRecord) -> Json:
    return {"host": record.host, "ip": record.ip}


def _json_counts(review: Review) -> Mapping[str, int | None]:
    changes, levels = review.changes, Counter(each.level for each in review.notices)
    return {
        "live": changes.known,
        "planned": changes.wanted,
        "public": len(review.openings),
        "weakened": len(review.losses),
        "removed": len(changes.removed),
        "moved": len(changes.moved),
        "created": len(changes.created),
        "updated": len(changes.updated),
        "warnings": levels[Level.WARNING],
        "remarks": levels[Level.NORMAL],
        "knownNotices": review.known_notices,
    }


def _json_refusal(review: Review) -> Json | None:
    if not review.refusals:
        return None
    return {
        "reasons": [refusal.message for refusal in review.refusals],
        "staleAcknowledgement": review.stale_acknowledgement or None,
        "command": review.command if review.acknowledgeable else None,
        "variable": review.variable if review.acknowledgeable else None,
    }


def _json_update(update: Update) -> Json:
    return {
        "host": update.resource.host,
        **_key(update.resource.key),
        "fields": [{"path": each.path, "old": each.old, "new": each.new} for each in update.fields],
    }


def _key(key: tuple[str, str]) -> Json:
    return dict(zip(("namespace", "name"), key, strict=True))
