"""Makes tables of reviews and plans, the most important rows first.

Text, Markdown and HTML take their words from here, so that they agree on the same plan.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pic.core.model import LiveRecord, LiveResource, Plan, Record, Resource
from pic.core.notices import Notice
from pic.core.outside import OutsideChange, OutsideExposure
from pic.planning.changes import Changes
from pic.report.review import Review, access


def access_of(resource: Resource) -> str:
    """Return who can open a host, and whether the host is held."""
    level = access(resource.spec)
    return f"{level} (held)" if resource.held else level


def backends(resource: Resource) -> list[str]:
    """Return each path of a host with the backend that serves it."""
    return [
        f"{target.path or '/'} → {target.method}://{target.ip}:{target.port}"
        for target in resource.spec.targets
    ]


def tunnel(resource: Resource) -> str:
    """Return the tunnel of a host; empty if the host has none."""
    ref = resource.spec.tunnel
    if ref is None:
        return ""
    return f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        literal: Whether the cells contain text that users choose, such as names and values. Such
            text must not count as markup.
    """

    title: str
    literal: bool = True


Row = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A table with a title; a cell that is `None` stands for an absent value.

    Attributes:
        namespaces: The namespace of each row; empty where a row has none.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    namespaces: tuple[str, ...]


def _section(title: str, columns: tuple[Column, ...], rows: Iterable[tuple[str, Row]]) -> Section:
    """Return a section.

    Args:
        title: Its title.
        columns: Its columns.
        rows: The rows, each with its namespace.
    """
    pairs = list(rows)
    return Section(
        title, columns, tuple(row for _, row in pairs), tuple(namespace for namespace, _ in pairs)
    )


_HOST, _ADDRESS, _ACCESS = Column("Host"), Column("Address"), Column("Access", literal=False)
_WHY = Column("Why")
REMOVED_RECORDS = "Removed DNS records"
_OBJECT, _TUNNEL, _BACKENDS = Column("Object"), Column("Tunnel"), Column("Backends")


def review_sections(review: Review) -> list[Section]:
    """Return the tables of a review that have rows, the most important first."""
    title = "Notices" if review.hidden_notices is None else "New notices"
    sections = (
        _held(review),
        *_exposure(review),
        *_removals(review.changes),
        *_additions(review.changes),
        _records("Held DNS records", review.held_records),
        _notices(title, review.notices),
    )
    return [section for section in sections if section.rows]


def plan_sections(plan: Plan) -> list[Section]:
    """Return the tables of a plan that have rows."""
    sections = (
        _resources("Resources", plan.resources),
        _addresses("DNS records", [(record, address(record)) for record in plan.records]),
        _notices("Notices", plan.notices),
    )
    return [section for section in sections if section.rows]


def _held(review: Review) -> Section:
    return Section(
        "Held until acknowledged",
        (
            _HOST,
            Column("Verdict", literal=False),
            Column("Stays"),
            Column("Instead of"),
            Column("Why"),
            Column("Digest"),
        ),
        tuple(
            (held.host, held.verdict, held.old, held.new or None, held.reason, held.digest)
            for held in review.changes.held
        ),
        tuple(held.namespace for held in review.changes.held),
    )


def _exposure(review: Review) -> Iterator[Section]:
    # Few hosts that become public have a remark, so its column often is not there.
    remarked = any(opening.remark for opening in review.openings)
    columns = (_HOST, Column("Access before", literal=False), _BACKENDS)
    yield _section(
        "Hosts that become public",
        (*columns, Column("Remark")) if remarked else columns,
        (
            (
                opening.resource.namespace,
                (
                    opening.resource.host,
                    opening.before or "new",
                    ", ".join(backends(opening.resource)),
                    *([opening.remark or None] if remarked else []),
                ),
            )
            for opening in review.openings
        ),
    )
    explained = any(loss.why for loss in review.losses)
    yield _section(
        "Hosts that lose protection",
        (
            _HOST,
            Column("Protection lost", literal=False),
            Column("Access after", literal=False),
            *([_WHY] if explained else []),
        ),
        (
            (
                loss.namespace,
                (
                    loss.host,
                    ", ".join(loss.lost),
                    loss.after,
                    *([loss.why or None] if explained else []),
                ),
            )
            for loss in review.losses
        ),
    )
    yield _section(
        "Exposures outside pic",
        (
            _HOST,
            _OBJECT,
            Column("Change", literal=False),
            Column("Access before", literal=False),
            _ACCESS,
            Column("Remark"),
        ),
        ((exposure.namespace, _outside(exposure)) for exposure in review.outside),
    )


def _outside(exposure: OutsideExposure) -> Row:
    resource, before, removed = exposure.resource, exposure.before, OutsideChange.REMOVED
    return (
        exposure.host or None,
        f"{exposure.namespace}/{exposure.name}",
        exposure.change,
        access(before.spec) if before else None,
        access(resource.spec) if resource and exposure.change is not removed else None,
        exposure.remark or None,
    )


def _removals(changes: Changes) -> Iterator[Section]:
    explained = any(live.key in changes.departures for live in changes.removed)
    yield _section(
        "Hosts no longer declared",
        (_HOST, _OBJECT, *([_WHY] if explained else [])),
        (
            (
                live.namespace,
                (
                    live.host or None,
                    place(live),
                    *([changes.departures.get(live.key)] if explained else []),
                ),
            )
            for live in changes.removed
        ),
    )
    yield _section(
        "Hosts that move to another namespace",
        (_HOST, Column("From"), Column("To")),
        (
            (
                move.live.namespace,
                (move.resource.host, place(move.live), place(move.resource)),
            )
            for move in changes.moved
        ),
    )
    yield _removed_records(changes)


def _removed_records(changes: Changes) -> Section:
    removed, departures = changes.records.removed, changes.departures
    if not any(record.key in departures for record in removed):
        return _records(REMOVED_RECORDS, removed)
    rows = ((record.host, record.ip, departures.get(record.key)) for record in removed)
    return _section(REMOVED_RECORDS, (_HOST, _ADDRESS, _WHY), (("", row) for row in rows))


def _additions(changes: Changes) -> Iterator[Section]:
    yield _resources("New hosts", changes.created)
    # One row for each field, so a host may have several.
    yield _section(
        "Changed fields",
        (_HOST, Column("Field"), Column("Live"), Column("Planned")),
        (
            (
                update.resource.namespace,
                (update.resource.host, field.path, value(field.old), value(field.new)),
            )
            for update in changes.updated
            for field in update.fields
        ),
    )
    yield _records("New DNS records", changes.records.created)
    yield _section(
        "Changed DNS records",
        (_HOST, Column("Live"), Column("Planned")),
        (
            (
                _record_namespace(update.record),
                (update.record.host, update.live.ip, update.record.ip),
            )
            for update in changes.records.updated
        ),
    )


def _records(title: str, records: Sequence[Record | LiveRecord]) -> Section:
    return _addresses(title, [(record, record.ip) for record in records])


def _addresses(title: str, rows: Sequence[tuple[Record | LiveRecord, str]]) -> Section:
    return _section(
        title,
        (_HOST, _ADDRESS),
        ((_record_namespace(record), (record.host, address)) for record, address in rows),
    )


def _record_namespace(record: Record | LiveRecord) -> str:
    """Return the namespace of a record; empty if pic does not know its Ingress any more."""
    owners = record.owners if isinstance(record, Record) else ()
    return owners[0].namespace if owners else ""


def address(record: Record) -> str:
    """Return the address of a record, and whether the record is held."""
    return f"{record.ip} (held)" if record.held else record.ip


def _resources(title: str, resources: Sequence[Resource]) -> Section:
    return _section(
        title,
        (_HOST, _OBJECT, _TUNNEL, _ACCESS, _BACKENDS),
        (
            (
                resource.namespace,
                (
                    resource.host,
                    place(resource),
                    tunnel(resource) or None,
                    access_of(resource),
                    ", ".join(backends(resource)) or None,
                ),
            )
            for resource in resources
        ),
    )


def _notices(title: str, notices: Sequence[Notice]) -> Section:
    columns = (
        Column("Level", literal=False),
        Column("Reason", literal=False),
        _OBJECT,
        Column("Message"),
    )
    return _section(
        title,
        columns,
        (
            (
                notice.about.namespace,
                (
                    notice.level.value,
                    notice.reason.value,
                    f"{notice.about.kind} {notice.about}",
                    notice.text,
                ),
            )
            for notice in notices
        ),
    )


def place(resource: Resource | LiveResource) -> str:
    """Return the namespace and the name of an object."""
    return "/".join(resource.key)


def value(field: object) -> str | None:
    """Return the value of a field as text; None if the field is absent."""
    # JSON shows an empty string as "", so that it differs from an absent value.
    if field is None or (isinstance(field, str) and field):
        return field
    return json.dumps(field, ensure_ascii=False)
