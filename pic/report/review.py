"""Collects what a reviewer of a change must know, the most important first.

A review is a value. `tables` makes tables of it, and `text`, `markdown` and `html` print them.
docs/reviewing.md describes its parts and their order.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pic.core.held import Held
from pic.core.model import LiveRecord, LiveResource, Plan, Record, Resource, Spec, record_id
from pic.core.notices import Level, Notice, Reason, Ref
from pic.core.outside import OutsideExposure
from pic.core.sources import Source
from pic.planning import serialise
from pic.planning.changes import Changes, Move, Update
from pic.planning.guard import Refusal
from pic.planning.record_changes import RecordChanges
from pic.planning.serialise import Json

VERSION = 1

_PROTECTION = {"sso": "login", "blockAccess": "block"}


class Access(StrEnum):
    """Who can open a host."""

    PUBLIC = "public"
    LOGIN = "login"
    BLOCKED = "blocked"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Opening:
    """A host that becomes public.

    Attributes:
        before: Who could open it before; None if the host is new.
        remark: Why its author may not expect it, such as a login of another controller.
    """

    resource: Resource
    before: Access | None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Loss:
    """A host that loses protection: `login`, `block` or both.

    Attributes:
        after: Its new access.
        why: What its Ingresses say; empty if pic does not know.
    """

    host: str
    lost: tuple[str, ...]
    after: Access
    namespace: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Review:
    """Everything that a report shows.

    Attributes:
        project: Names the report, together with `stack`, so that a later report can replace it.
        openings: Hosts that become public, sorted by host.
        losses: Hosts that lose login or block, sorted by host.
        notices: The notices to show, warnings first.
        hidden_notices: How many notices are not shown because they exist without the branch too;
            None without a branch, because then all are shown.
        refusals: Why the guard refuses the changes; empty if it allows them.
        stale_acknowledgement: An acknowledgement that was given for other changes.
        held_records: DNS records that stay unchanged because their Ingress cannot be understood.
        outside: PangolinResources that the branch itself adds, changes or removes, sorted by host.
        sources: What became of each Ingress.
        all_sources: Whether to show them all, and not only their counts.
    """

    project: str
    stack: str
    changes: Changes
    openings: tuple[Opening, ...] = ()
    losses: tuple[Loss, ...] = ()
    notices: tuple[Notice, ...] = ()
    hidden_notices: int | None = None
    refusals: tuple[Refusal, ...] = ()
    stale_acknowledgement: str = ""
    held_records: tuple[Record, ...] = ()
    outside: tuple[OutsideExposure, ...] = ()
    sources: tuple[Source, ...] = ()
    all_sources: bool = False

    @property
    def has_changes(self) -> bool:
        """Whether a deployment, or the branch itself, would change what is exposed."""
        return bool(self.changes or self.outside)

    @property
    def has_records(self) -> bool:
        """Whether the stack has DNS records; without Pi-hole a report does not mention them."""
        return self.changes.records != RecordChanges()

    @property
    def held_command(self) -> str:
        """The command that lets everything through that is held."""
        return f"pic up --stack {self.stack} --acknowledge {self.changes.acknowledge_all}"

    @property
    def acknowledgeable(self) -> bool:
        """Whether an acknowledgement lets the changes through."""
        return all(refusal.acknowledgeable for refusal in self.refusals)

    @property
    def command(self) -> str:
        """The command that lets exactly these changes through."""
        return f"pic up --stack {self.stack} --acknowledge {self.changes.digest}"

    @property
    def variable(self) -> str:
        """The environment variable that lets a check of exactly these changes pass."""
        return f"PIC_ACKNOWLEDGE={self.changes.digest}"


@dataclass(frozen=True, slots=True)
class StackRef:
    """Names a stack of a project."""

    project: str
    stack: str


def build(
    ref: StackRef,
    plan: Plan,
    changes: Changes,
    *,
    refusals: Sequence[Refusal] = (),
    acknowledgement: str = "",
) -> Review:
    """Return the review of changes, with all notices of the plan.

    Args:
        ref: The stack whose changes are reviewed.
        plan: What should exist.
        changes: The difference between what is live and that plan.
        refusals: Why the guard refuses the changes.
        acknowledgement: The value of `pic:acknowledge`.
    """
    return Review(
        ref.project,
        ref.stack,
        changes,
        openings=tuple(_remarked(openings(changes), plan.notices)),
        losses=tuple(_losses(plan, changes)),
        notices=tuple(sorted(plan.notices, key=_warnings_first)),
        refusals=tuple(refusals),
        stale_acknowledgement=_stale(acknowledgement, changes, refusals),
        held_records=tuple(_unresolved(plan)),
        sources=plan.sources,
    )


def _unresolved(plan: Plan) -> Iterator[Record]:
    """Yield the held records, without those that wait for an acknowledgement."""
    waiting = {held.host for held in plan.held}
    return (it for it in plan.records if it.held and record_id(it) not in waiting)


def hide_notices(review: Review, base_notices: Collection[Notice]) -> Review:
    """Return the review without the notices that exist without the branch too."""
    notices = tuple(notice for notice in review.notices if notice not in base_notices)
    hidden = len(review.notices) - len(notices)
    return replace(review, notices=notices, hidden_notices=hidden)


def _warnings_first(notice: Notice) -> tuple[bool, tuple[Ref, str, str, str]]:
    return notice.level is not Level.WARNING, notice.order


def _stale(acknowledgement: str, changes: Changes, refusals: Sequence[Refusal]) -> str:
    """Return the acknowledgement if it is for other changes and a new one would help."""
    # No digest lets a refusal such as a wrong cluster through, so a new one would not help there.
    helps = bool(refusals) and all(refusal.acknowledgeable for refusal in refusals)
    return acknowledgement if helps and acknowledgement != changes.digest else ""


def access(spec: Spec) -> Access:
    """Say who can open the host of a spec."""
    # In the CRD, an absent `enabled` means true.
    if spec.enabled is False:
        return Access.OFF
    # A block comes before a login: it keeps out users who are logged in (docs/limits.md).
    if spec.http.block_access:
        return Access.BLOCKED
    return Access.LOGIN if spec.http.sso else Access.PUBLIC


def openings(changes: Changes) -> Iterator[Opening]:
    """Yield the hosts that become public."""
    for resource in changes.created:
        if access(resource.spec) is Access.PUBLIC:
            yield Opening(resource, None)
    existing: list[Update | Move] = [*changes.updated, *changes.moved]
    # A host that loses its block but keeps its login is no opening, only a loss.
    for change in existing:
        before = access(change.live.spec)
        if before is not Access.PUBLIC and access(change.resource.spec) is Access.PUBLIC:
            yield Opening(change.resource, before)


def _remarked(hosts: Iterable[Opening], notices: Iterable[Notice]) -> Iterator[Opening]:
    """Yield the openings by host, each with what notices say about its protection."""
    remarks = {it.host: it.message for it in notices if it.reason is Reason.FOREIGN_PROTECTION}
    for opening in sorted(hosts, key=lambda opening: opening.resource.host):
        yield replace(opening, remark=remarks.get(opening.resource.host, ""))


def _losses(plan: Plan, changes: Changes) -> Iterator[Loss]:
    resources = {resource.host: resource for resource in plan.resources}
    lost: dict[str, list[str]] = {}
    for weakening in changes.weakened:
        lost.setdefault(weakening.host, []).append(_PROTECTION[weakening.field])
    for host in sorted(lost):
        resource = resources[host]
        why = changes.weakenings.get(host, "")
        yield Loss(host, tuple(lost[host]), access(resource.spec), resource.namespace, why)


def as_json(review: Review) -> Json:
    """Return the review as JSON; `version` changes when readers have to change."""
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
            {
                "host": opening.resource.host,
                "before": opening.before or "new",
                "remark": opening.remark or None,
            }
            for opening in review.openings
        ],
        "weakened": [
            {
                "host": loss.host,
                "loses": list(loss.lost),
                "after": loss.after,
                **({"why": loss.why} if loss.why else {}),
            }
            for loss in review.losses
        ],
        "outside": list(map(_json_outside, review.outside)),
        "removed": [_json_removal(live, changes) for live in changes.removed],
        "moved": [
            {
                "host": move.resource.host,
                "from": _key(move.live.key),
                "to": _key(move.resource.key),
            }
            for move in changes.moved
        ],
        "created": [serialise.resource(resource) for resource in changes.created],
        "updated": [_json_update(update) for update in changes.updated],
        **({"records": _json_records(review)} if review.has_records else {}),
        "held": [held_json(held) for held in changes.held],
        "heldCommand": review.held_command if changes.held else None,
        "notices": [serialise.notice(notice) for notice in review.notices],
    }


def _json_removal(live: LiveResource, changes: Changes) -> Json:
    why = changes.departures.get(live.key)
    return {"host": live.host or None, **_key(live.key), **({"why": why} if why else {})}


def held_json(held: Held) -> Json:
    """Return a change that waits for an acknowledgement as JSON."""
    return {
        "host": held.host,
        "verdict": held.verdict,
        "namespace": held.namespace,
        "stays": held.old,
        "insteadOf": held.new or None,
        "reason": held.reason,
        "digest": held.digest,
    }


def _json_outside(exposure: OutsideExposure) -> Json:
    """Return an object past pic; what cannot be read is null."""
    resource, before = exposure.resource, exposure.before
    return {
        "change": exposure.change,
        "host": exposure.host or None,
        "namespace": exposure.namespace,
        "name": exposure.name,
        "access": access(resource.spec) if resource else None,
        "login": bool(resource.spec.http.sso) if resource else None,
        "block": bool(resource.spec.http.block_access) if resource else None,
        "accessBefore": access(before.spec) if before else None,
        "remark": exposure.remark or None,
    }


def _json_records(review: Review) -> Json:
    """Return the DNS records; `compared` is false if Pi-hole was not read."""
    changes = review.changes.records
    return {
        "live": changes.live_count,
        "planned": changes.planned_count,
        "compared": changes.compared,
        "removed": [_json_gone(record, review.changes) for record in changes.removed],
        "updated": [
            {"host": update.record.host, "old": update.live.ip, "new": update.record.ip}
            for update in changes.updated
        ],
        "created": [
            {**_json_record(record), "owners": serialise.owners(record.owners)}
            for record in changes.created
        ],
        "held": [_json_record(record) for record in review.held_records],
    }


def _json_gone(record: LiveRecord, changes: Changes) -> Json:
    why = changes.departures.get(record.key)
    return {**_json_record(record), **({"why": why} if why else {})}


def _json_record(record: Record | LiveRecord) -> Json:
    return {"host": record.host, "ip": record.ip}


def _json_counts(review: Review) -> Mapping[str, int | None]:
    changes, levels = review.changes, Counter(notice.level for notice in review.notices)
    return {
        "live": changes.live_count,
        "planned": changes.planned_count,
        "public": len(review.openings),
        "weakened": len(review.losses),
        "outside": len(review.outside),
        "removed": len(changes.removed),
        "moved": len(changes.moved),
        "created": len(changes.created),
        "updated": len(changes.updated),
        "held": len(changes.held),
        "register": len(changes.register),
        "warnings": levels[Level.WARNING],
        "remarks": levels[Level.NORMAL],
        "knownNotices": review.hidden_notices,
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
        "fields": [
            {"path": field.path, "old": field.old, "new": field.new} for field in update.fields
        ],
    }


def _key(key: tuple[str, str]) -> Json:
    return dict(zip(("namespace", "name"), key, strict=True))
