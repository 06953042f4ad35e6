"""What a review shows, as tables: the same for every form of it, most important first. No I/O."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pic.core.model import (
    LiveResource,
    Plan,
    Record,
    Resource,
)
from pic.core.notices import Level, Notice
from pic.planning.changes import Changes
from pic.report.review import Review, access


def access_of(resource: Resource) -> str:
    """Return who may see a host, and whether it is held."""
    who = access(resource.spec)
    return f"{who} (held)" if resource.held else who


def backends(resource: Resource) -> list[str]:
    """Return where the paths of a host lead."""
    return [
        f"{each.path or '/'} → {each.method}://{each.ip}:{each.port}"
        for each in resource.spec.targets
    ]


def tunnel(resource: Resource) -> str:
    """Return the tunnel of a host; empty where it has none."""
    found = resource.spec.tunnel
    if found is None:
        return ""
    return f"{found.namespace}/{found.name}" if found.namespace else found.name


def counts(review: Review) -> str:
    """Return the review in a line; what is zero is left out."""
    changes, levels = review.changes, Counter(each.level for each in review.notices)
    new = "" if review.known_notices is None else "new "
    found = [
        _many(len(review.openings), "host becomes public", "hosts become public"),
        _many(len(review.losses), "host loses login or block", "hosts lose login or block"),
        _many(len(changes.removed), "removed"),
        _many(len(changes.moved), "moved"),
        _many(len(changes.created), "new"),
        _many(len(changes.updated), "changed"),
        *_record_counts(review),
        _many(levels[Level.WARNING], f"{new}warning", f"{new}warnings"),
        _many(levels[Level.NORMAL], f"{new}remark", f"{new}remarks"),
    ]
    said = [each for each in found if each]
    if not changes:
        said.insert(0, "no changes")
    return f"{', '.join(said)} ({_sizes(review)})"


def _record_counts(review: Review) -> Iterator[str]:
    changes = review.changes.records
    yield _many(len(changes.removed), "DNS record removed", "DNS records removed")
    yield _many(len(changes.created), "new DNS record", "new DNS records")
    yield _many(len(changes.updated), "DNS record changed", "DNS records changed")
    yield _many(len(review.held_records), "DNS record held", "DNS records held")


def _sizes(review: Review) -> str:
    changes, records = review.changes, review.changes.records
    found = f"{changes.known:,} live, {changes.wanted:,} planned"
    if not review.has_records:
        return found
    live = f"{records.known:,} live" if records.compared else "not compared"
    return f"{found}; DNS records: {live}, {records.wanted:,} planned"


def foot(review: Review) -> str:
    """Return what tells this review from others, and what is not in it."""
    found = [f"digest {review.changes.digest}"]
    if review.changes.cluster_id:
        found.append(f"cluster {review.changes.cluster_id}")
    if review.known_notices:
        there = _many(
            review.known_notices,
            "notice that is there without the branch is",
            "notices that are there without the branch are",
        )
        found.append(f"{there} not shown")
    return " · ".join(found)


def _many(count: int, one: str, more: str = "") -> str:
    if not count:
        return ""
    return f"{count:,} {one if count == 1 else more or one}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column; `literal` holds names and values of others, which must show as they are."""

    title: str
    literal: bool = True


Row = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """One kind of thing to know; a cell that is None is of something absent."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


_HOST, _ADDRESS, _ACCESS = Column("Host"), Column("Address"), Column("Access", literal=False)
_OBJECT, _TUNNEL, _BACKENDS = Column("Object"), Column("Tunnel"), Column("Backends")


def of_review(review: Review) -> list[Section]:
    """Return what is not empty, most important first."""
    title = "Notices" if review.known_notices is None else "New notices"
    found = (
        *_exposure(review),
        *_going(review.changes),
        *_coming(review.changes),
        _records("DNS records held", [(each.host, each.ip) for each in review.held_records]),
        _noticed(review.notices, title),
    )
    return [section for section in found if section.rows]


def of_plan(plan: Plan) -> list[Section]:
    """Return what is not empty of a plan."""
    found = (
        _whole(plan.resources, "Resources"),
        _records("DNS records", [(each.host, address(each)) for each in plan.records]),
        _noticed(plan.notices, "Notices"),
    )
    return [section for section in found if section.rows]


def _exposure(review: Review) -> Iterator[Section]:
    yield Section(
        "Become public",
        (_HOST, Column("Before", literal=False), _BACKENDS),
        tuple(
            (each.resource.host, each.before or "new", ", ".join(backends(each.resource)))
            for each in review.openings
        ),
    )
    yield Section(
        "Lose login or block",
        (_HOST, Column("Loses", literal=False), Column("After", literal=False)),
        tuple((each.host, ", ".join(each.lost), each.after) for each in review.losses),
    )


def _going(changes: Changes) -> Iterator[Section]:
    yield Section(
        "Removed",
        (_HOST, _OBJECT),
        tuple((live.host or None, place(live)) for live in changes.removed),
    )
    yield Section(
        "Moved to another namespace",
        (_HOST, Column("From"), Column("To")),
        tuple(
            (each.resource.host, place(each.live), place(each.resource)) for each in changes.moved
        ),
    )
    gone = [(each.host, each.ip) for each in changes.records.removed]
    yield _records("DNS records removed", gone)


def _coming(changes: Changes) -> Iterator[Section]:
    yield _whole(changes.created, "New")
    yield Section(
        "Changed",
        (_HOST, Column("Field"), Column("Live"), Column("Planned")),
        tuple(
            (each.resource.host, field.path, value(field.old), value(field.new))
            for each in changes.updated
            for field in each.fields
        ),
    )
    yield _records("New DNS records", [(each.host, each.ip) for each in changes.records.created])
    yield Section(
        "DNS records changed",
        (_HOST, Column("Live"), Column("Planned")),
        tuple((each.record.host, each.live.ip, each.record.ip) for each in changes.records.updated),
    )


def _records(title: str, rows: Sequence[tuple[str, str]]) -> Section:
    """Return DNS records as a section."""
    return Section(title, (_HOST, _ADDRESS), tuple(rows))


def address(record: Record) -> str:
    """Return the address of a record as a plan shows it."""
    return f"{record.ip} (held)" if record.held else record.ip


def _whole(resources: Sequence[Resource], title: str) -> Section:
    """Return resources as a section, whole."""
    return Section(
        title,
        (_HOST, _OBJECT, _TUNNEL, _ACCESS, _BACKENDS),
        tuple(
            (
                each.host,
                place(each),
                tunnel(each) or None,
                access_of(each),
                ", ".join(backends(each)) or None,
            )
            for each in resources
        ),
    )


def _noticed(notices: Sequence[Notice], title: str) -> Section:
    """Return notices as a section."""
    return Section(
        title,
        (
            Column("Level", literal=False),
            Column("Reason", literal=False),
            _OBJECT,
            Column("Message"),
        ),
        tuple(
            (each.level.value, each.reason.value, f"{each.about.kind} {each.about}", each.message)
            for each in notices
        ),
    )


def place(found: Resource | LiveResource) -> str:
    """Return namespace and name."""
    return "/".join(found.key)


def value(field: object) -> str | None:
    """Return the value of a field as it shows; None where it is absent."""
    if field is None or (isinstance(field, str) and field):
        return field
    return json.dumps(field, ensure_ascii=False)
