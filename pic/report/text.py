"""Plans and changes as people read them. No I/O."""

from collections import Counter
from collections.abc import Iterator, Sequence

from tabulate import tabulate

from pic.core.model import Plan, Record, Resource
from pic.core.notices import Level, Notice
from pic.core.visible import visible
from pic.planning.changes import Changes, Update
from pic.planning.record_changes import RecordChanges
from pic.report import tables
from pic.report.review import Review, openings

SHOWN_FIELDS = 6


def plan(value: Plan) -> str:
    """Return the plan as tables, what needs attention last."""
    parts = [_resources(value.resources), _records(value), _notices(value.notices), counts(value)]
    return "\n\n".join(filter(None, parts))


def counts(value: Plan) -> str:
    """Return the plan in a line."""
    levels = Counter(notice.level for notice in value.notices)
    held = sum(each.held for each in value.resources)
    found = [_many(len(value.resources), "resource"), *([f"{held} of them held"] if held else [])]
    if value.records:
        found.append(_many(len(value.records), "DNS record"))
        left = sum(each.held for each in value.records)
        found += [f"{left} of them held"] if left else []
    found.append(_many(levels[Level.WARNING], "warning"))
    found.append(_many(levels[Level.NORMAL], "remark"))
    return ", ".join(found)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _resources(resources: Sequence[Resource]) -> str:
    rows = [
        {
            "HOST": each.host,
            "OBJECT": "/".join(each.key),
            "TUNNEL": tables.tunnel(each),
            "ACCESS": tables.access_of(each),
            "BACKENDS": "\n".join(tables.backends(each)),
        }
        for each in resources
    ]
    return _table(rows)


def _records(value: Plan) -> str:
    return _table([{"HOST": each.host, "ADDRESS": tables.address(each)} for each in value.records])


def _notices(notices: Sequence[Notice]) -> str:
    return "\n".join(notice(each) for each in notices)


def notice(value: Notice) -> str:
    """Return one notice in a line."""
    return f"{value.level.value}: {remark(value)}"


def remark(value: Notice) -> str:
    """Return one notice in a line, for where its level shows by itself."""
    return visible(f"{value.reason.value}: {value.about.kind} {value.about}: {value.message}")


def _table(rows: Sequence[dict[str, str]]) -> str:
    return tabulate(rows, headers="keys", tablefmt="plain") if rows else ""


def changes(value: Changes) -> str:
    """Return what would change, the dangerous first."""
    lines = [*_going(value), *_coming(value), *_records_coming(value.records)]
    return "\n".join(lines) or "Nothing differs from what is live."


def review(value: Review) -> str:
    """Return a review: counts first, then a refusal, the changes, and what needs attention."""
    refused = _refusal(value) if value.refusals else ""
    told = changes(value.changes), _held(value.held_records), _notices(value.notices)
    parts = [tables.counts(value), refused, *told, tables.foot(value)]
    return "\n\n".join(filter(None, parts))


def _refusal(value: Review) -> str:
    lines = [f"The guard refuses this (digest {value.changes.digest}):"]
    lines += [f"- {visible(refusal.message)}" for refusal in value.refusals]
    if value.stale_acknowledgement:
        lines.append(f"The acknowledgement {value.stale_acknowledgement!r} is for other changes.")
    if value.acknowledgeable:
        lines.append(
            f"If this is intended, let exactly these changes through, this check with"
            f" {value.variable} in its environment, and the deployment with: {value.command}"
        )
    return "\n".join(lines)


def _going(value: Changes) -> Iterator[str]:
    for live in value.removed:
        yield f"- {live.host} ({'/'.join(live.key)}) is removed"
    for move in value.moved:
        places = ("/".join(move.live.key), "/".join(move.resource.key))
        yield f"- {move.live.host} moves from {places[0]} to {places[1]}"
    for record in value.records.removed:
        yield f"- DNS record {record.host} {record.ip} is removed"


def _coming(value: Changes) -> Iterator[str]:
    for opening in openings(value):
        if opening.before:
            yield f"! {opening.resource.host} becomes public (was: {opening.before})"
    for weak in value.weakened:
        yield f"! {weak.host} loses {weak.field}"
    for resource in value.created:
        yield f"+ {resource.host} ({'/'.join(resource.key)}) becomes {tables.access_of(resource)}"
    for update in value.updated:
        yield f"~ {update.resource.host}: {_fields(update)}"


def _records_coming(value: RecordChanges) -> Iterator[str]:
    for record in value.created:
        yield f"+ DNS record {record.host} {record.ip}"
    for update in value.updated:
        yield f"~ DNS record {update.record.host}: {update.live.ip} → {update.record.ip}"


def _held(records: Sequence[Record]) -> str:
    return "\n".join(f"= DNS record {each.host} {each.ip} is held" for each in records)


def _fields(update: Update) -> str:
    shown = [f"{each.path}: {each.old!r} → {each.new!r}" for each in update.fields[:SHOWN_FIELDS]]
    left = len(update.fields) - len(shown)
    return "; ".join([*shown, *([f"and {left} more fields"] if left else [])])
