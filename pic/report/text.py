"""Prints plans, changes and reviews as plain text for a terminal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tabulate import tabulate

from pic.core.held import Held, Verdict, acknowledging
from pic.core.model import LiveResource, Plan, Record, Resource
from pic.core.notices import Level, Notice
from pic.core.outside import OutsideChange, OutsideExposure
from pic.core.sources import Source
from pic.core.visible import visible
from pic.planning.changes import Changes, FieldChange, Update
from pic.planning.record_changes import RecordChanges
from pic.report import accounts, summary, tables
from pic.report.review import Review, access, openings

# An update is one line here. The other forms show all of its fields.
MAX_FIELDS = 6
ABSENT = "(absent)"

_CHANGED = OutsideChange.CHANGED
_WEAKENINGS = {
    "sso": "no longer requires login (sso)",
    "blockAccess": "no longer blocks access (blockAccess)",
}


def render_plan(plan: Plan, *, everything: bool = False) -> str:
    """Return a plan as tables, then its notices, then its counts.

    Args:
        plan: The plan.
        everything: Whether to show what became of each Ingress.
    """
    # A terminal shows the end of a long text, so what needs attention comes last.
    parts = [
        _resources(plan.resources),
        _records(plan),
        sources(plan.sources, everything=everything),
        _notices(plan.notices),
        "\n".join(filter(None, (accounts.line(plan.sources), counts(plan)))),
    ]
    return "\n\n".join(filter(None, parts))


def sources(rows: Sequence[Source], *, everything: bool) -> str:
    """Return what became of each Ingress as a table; empty unless everything is asked for."""
    return table(accounts.table(accounts.section(rows))) if everything else ""


def counts(plan: Plan) -> str:
    """Return the counts of a plan in one line."""
    levels = Counter(notice.level for notice in plan.notices)
    parts = [_many(len(plan.resources), "resource"), *_held_count(plan.resources)]
    if plan.records:
        parts += [_many(len(plan.records), "DNS record"), *_held_count(plan.records)]
    parts.append(_many(levels[Level.WARNING], "warning"))
    parts.append(_many(levels[Level.NORMAL], "remark"))
    return ", ".join(parts)


def _held_count(items: Sequence[Resource | Record]) -> list[str]:
    count = sum(item.held for item in items)
    return [f"{count} of them held"] if count else []


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _resources(resources: Sequence[Resource]) -> str:
    rows = [
        {
            "HOST": resource.host,
            "OBJECT": tables.place(resource),
            "TUNNEL": tables.tunnel(resource),
            "ACCESS": tables.access_of(resource),
            "BACKENDS": "\n".join(tables.backends(resource)),
        }
        for resource in resources
    ]
    return table(rows)


def _records(plan: Plan) -> str:
    rows = [{"HOST": record.host, "ADDRESS": tables.address(record)} for record in plan.records]
    return table(rows)


def _notices(notices: Sequence[Notice]) -> str:
    return "\n".join(map(notice_line, notices))


def notice_line(notice: Notice) -> str:
    """Return a notice in one line, with its level."""
    return f"{notice.level.value}: {notice_text(notice)}"


def notice_text(notice: Notice) -> str:
    """Return a notice in one line without its level, for a log that has levels of its own."""
    # A message quotes texts from the cluster, whose control characters could move the cursor.
    return visible(f"{notice.reason.value}: {notice.about.kind} {notice.about}: {notice.text}")


def table(rows: Sequence[dict[str, str]]) -> str:
    """Return rows as a plain table; empty without rows."""
    return tabulate(rows, headers="keys", tablefmt="plain", disable_numparse=True) if rows else ""


def render_changes(changes: Changes, remarks: Mapping[str, str] | None = None) -> str:
    """Return the changes, one line each, the dangerous ones first.

    Each line begins with a sign: `-` for no longer declared or moved, `!` for open to more
    visitors, `+` for new, `~` for changed.

    Args:
        changes: What would change.
        remarks: What to say about hosts that become public.
    """
    additions = _additions(changes, remarks or {})
    lines = [*_removals(changes), *additions, *_record_additions(changes.records)]
    return "\n".join(lines) or "No changes."


def render_review(review: Review) -> str:
    """Return a review: its counts, a refusal, the changes, then what needs attention."""
    remarks = {it.resource.host: it.remark for it in review.openings if it.remark}
    parts = [
        summary.counts(review),
        _refusal(review) if review.refusals else "",
        render_held(review.changes.held, f"pic up --stack {review.stack} --acknowledge {{}}"),
        render_changes(review.changes, remarks) if review.changes or not review.outside else "",
        "\n".join(map(_outside, review.outside)),
        _held(review.held_records),
        sources(review.sources, everything=review.all_sources),
        _notices(review.notices),
        "\n".join(filter(None, (accounts.line(review.sources), summary.footer(review)))),
    ]
    return "\n\n".join(filter(None, parts))


def render_held(held: Sequence[Held], command: str) -> str:
    """Return what waits for an acknowledgement, one line each, and the commands that let it go.

    Args:
        held: What waits; the text is empty for nothing.
        command: The command that lets it through, with `{}` for the digest.
    """
    if not held:
        return ""
    lines = [f"{_many(len(held), 'change')} held. Everything else is not affected:"]
    lines += [f"= {visible(_held_line(change))}" for change in held]
    which = "it" if len(held) == 1 else "all of them"
    lines.append(f"If you want {which}: {command.format(acknowledging(held))}")
    return "\n".join(lines)


def _held_line(held: Held) -> str:
    # A host that loses its login may keep its block, so what comes instead says too little.
    instead = f", not {held.new}" if held.new and held.verdict is not Verdict.WEAKENED else ""
    return f"{held.host} {_kept(held)}{instead}: {held.reason} ({held.verdict} {held.digest})"


def _kept(held: Held) -> str:
    """Say what stays as it is."""
    match held.verdict:
        case Verdict.WEAKENED:
            return f"keeps its {held.old}"
        case Verdict.MOVED:
            # Its namespace may give the host up: then it goes, but to no other namespace.
            to_namespace = held.old.startswith(f"{held.namespace} (")
            return f"{'belongs to' if to_namespace else 'stays with'} {held.old}"
        case Verdict.RETARGETED:
            return f"stays at {held.old}"
        case _:
            # What stays of a DNS record is its address.
            is_record = "/" in held.host
            return f"stays {'at' if is_record else 'in'} {held.old}"


def _outside(exposure: OutsideExposure) -> str:
    """Return one line about a PangolinResource that the branch itself writes."""
    sign = "-" if exposure.change is OutsideChange.REMOVED else "!"
    place = f"{exposure.namespace}/{exposure.name}"
    facts = [
        f"{sign} outside pic: PangolinResource {place} is {exposure.change}",
        f"host: {exposure.host or ABSENT}",
        f"access: {_access(exposure.resource)}",
        *([f"was: {_access(exposure.before)}"] if exposure.change is _CHANGED else []),
        *([exposure.remark] if exposure.remark else []),
    ]
    return visible(", ".join(facts))


def _access(resource: LiveResource | None) -> str:
    return access(resource.spec) if resource else "unknown"


def _refusal(review: Review) -> str:
    lines = [f"The guard refuses these changes (digest {review.changes.digest}):"]
    lines += [f"- {visible(refusal.message)}" for refusal in review.refusals]
    if review.stale_acknowledgement:
        lines.append(f"The acknowledgement {review.stale_acknowledgement!r} is for other changes.")
    if review.acknowledgeable:
        lines.append(
            f"If this is intended, acknowledge exactly these changes: set {review.variable} in the"
            f" environment of this check, and deploy with: {review.command}"
        )
    return "\n".join(lines)


def _because(why: str | None) -> str:
    return f": {visible(why)}" if why else ""


def _removals(changes: Changes) -> Iterator[str]:
    for live in changes.removed:
        why = changes.departures.get(live.key)
        yield f"- {live.host} ({tables.place(live)}) is no longer declared{_because(why)}"
    for move in changes.moved:
        old, new = tables.place(move.live), tables.place(move.resource)
        yield f"- {move.live.host} moves from {old} to {new}"
    for record in changes.records.removed:
        because = _because(changes.departures.get(record.key))
        yield f"- DNS record {record.host} {record.ip} is removed{because}"


def _additions(changes: Changes, remarks: Mapping[str, str]) -> Iterator[str]:
    said = {host: f": {visible(remark)}" for host, remark in remarks.items()}
    for opening in openings(changes):
        # A new host has a line of its own below, which shows its access.
        if opening.before:
            host = opening.resource.host
            yield f"! {host} becomes public (was: {opening.before}){said.get(host, '')}"
    for weakening in changes.weakened:
        why = changes.weakenings.get(weakening.host)
        yield f"! {weakening.host} {_WEAKENINGS[weakening.field]}{_because(why)}"
    for resource in changes.created:
        now = tables.access_of(resource)
        remark = said.get(resource.host, "")
        yield f"+ {resource.host} ({tables.place(resource)}) is created, access: {now}{remark}"
    for update in changes.updated:
        yield f"~ {update.resource.host}: {_fields(update)}"


def _record_additions(changes: RecordChanges) -> Iterator[str]:
    for record in changes.created:
        yield f"+ DNS record {record.host} {record.ip} is created"
    for update in changes.updated:
        yield f"~ DNS record {update.record.host}: {update.live.ip} → {update.record.ip}"


def _held(records: Sequence[Record]) -> str:
    return "\n".join(f"= DNS record {record.host} {record.ip} is held" for record in records)


def _fields(update: Update) -> str:
    shown = list(map(field, update.fields[:MAX_FIELDS]))
    rest = len(update.fields) - len(shown)
    if rest:
        shown.append(f"and {_many(rest, 'more field')}")
    return "; ".join(shown)


def field(field: FieldChange) -> str:
    """Return a field that changed with both of its values."""
    return f"{field.path}: {shown_value(field.old)} → {shown_value(field.new)}"


def shown_value(field: object) -> str:
    """Return the value of a field as one safe line."""
    value = tables.value(field)
    return ABSENT if value is None else visible(value)
