"""What the operator makes of our objects: rows, errors first. No I/O."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tabulate import tabulate

from pic.core.json_values import (
    MalformedError,
    Raw,
    integer,
    mapping,
    sequence,
    string_map,
    text,
)
from pic.core.model import LiveResource
from pic.core.visible import blanked
from pic.planning.ownership import OwnerKind, Ownership
from pic.snapshot import pangolin
from pic.snapshot.parse import identity

VERSION = 1
LONGEST_MESSAGE = 160
NONE_LIVE = "No object of this stack is live."

_OURS = (OwnerKind.OURS, OwnerKind.STRIPPED)


class ReadyState(StrEnum):
    """How far the operator is with an object; in the order in which people want to see them."""

    ERROR = "error"
    PENDING = "pending"
    READY = "ready"


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One object of ours, and what the operator says of it.

    Attributes:
        host: Its public host, empty where it cannot be told.
        phase: The operator's own word, such as `Creating`; empty before it has said any.
        message: The operator's reason, or why a phase does not count yet.
        binding: How the operator came by its resource in Pangolin.
    """

    host: str
    namespace: str
    name: str
    standing: ReadyState
    phase: str = ""
    message: str = ""
    url: str = ""
    binding: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name."""
        return self.namespace, self.name

    @property
    def order(self) -> tuple[int, str, str, str]:
        """Errors first, then by host."""
        return list(ReadyState).index(self.standing), self.host, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The rows of a stack, in their order."""

    rows: tuple[StatusRow, ...] = ()

    @property
    def counts(self) -> dict[ReadyState, int]:
        """How many rows there are of each standing."""
        found = Counter(row.standing for row in self.rows)
        return {standing: found[standing] for standing in ReadyState}

    @property
    def is_ready(self) -> bool:
        """Every object is ready; so it is where there are none."""
        return self.counts[ReadyState.READY] == len(self.rows)


def build_report(objects: Iterable[Raw], ownership: Ownership) -> StatusReport:
    """Return what the operator says of those PangolinResources that are ours."""
    rows = (_row(raw, ownership) for raw in objects)
    return sort_rows(row for row in rows if row)


def sort_rows(rows: Iterable[StatusRow]) -> StatusReport:
    """Return a report of some rows, errors first."""
    return StatusReport(tuple(sorted(rows, key=lambda row: row.order)))


def select_rows(whole: StatusReport, keys: Iterable[tuple[str, str]]) -> StatusReport:
    """Return the rows of some objects, by namespace and name; one that is missing is pending."""
    known = {row.key: row for row in whole.rows}
    return sort_rows(known.get(key) or _missing(key) for key in sorted(set(keys)))


def _missing(key: tuple[str, str]) -> StatusRow:
    return StatusRow(
        "", *key, ReadyState.PENDING, message="there is no such object, or it is not ours"
    )


def _row(raw: Raw, ownership: Ownership) -> StatusRow | None:
    try:
        found = pangolin.live_resource(raw)
        return _told(found, raw) if ownership.of(found) in _OURS else None
    except MalformedError as error:
        return _unreadable(raw, ownership, error)


def _unreadable(raw: Raw, ownership: Ownership, error: MalformedError) -> StatusRow | None:
    """Return a row for an object of wrong shape, if its labels make it ours."""
    try:
        namespace, name = identity(raw)
        metadata = mapping(raw.get("metadata"), "metadata")
        labels = string_map(metadata.get("labels"), "metadata.labels")
    except MalformedError:
        return None
    if ownership.of(LiveResource(namespace, name, uid="", host="", labels=labels)) not in _OURS:
        return None
    return StatusRow("", namespace, name, ReadyState.ERROR, message=f"cannot be read: {error}")


def _told(found: LiveResource, raw: Raw) -> StatusRow:
    status = mapping(raw.get("status"), "status")
    condition = _ready_condition(status)
    standing, message = _judged(found, raw, condition)
    return StatusRow(
        *(found.host, *found.key, standing, found.status, message),
        url=text(status.get("url")),
        binding=text(status.get("bindingMode")),
    )


def _ready_condition(status: Raw) -> Raw:
    """Return the one condition that the operator keeps; empty where it does not."""
    conditions = sequence(status.get("conditions"), "status.conditions")
    found = [mapping(item, "status.conditions[]") for item in conditions]
    return next((each for each in found if each.get("type") == "Ready"), {})


def _judged(found: LiveResource, raw: Raw, condition: Raw) -> tuple[ReadyState, str]:
    said = text(condition.get("message"))
    if mapping(raw.get("metadata"), "metadata").get("deletionTimestamp") is not None:
        return ReadyState.PENDING, "it is being deleted"
    stale = _is_stale(found, raw, condition)
    match found.status:
        case "":
            return ReadyState.PENDING, said or "the operator has not said anything yet"
        case "Error":
            # The operator may report an error without having taken note of the generation.
            said = said or "the operator gives no reason"
            return ReadyState.ERROR, f"{said} (said before the last change)" if stale else said
        case "Ready" if stale:
            return ReadyState.PENDING, "the operator has not taken up the last change yet"
        case "Ready":
            return ReadyState.READY, said
        case _:
            return ReadyState.PENDING, said


def _is_stale(found: LiveResource, raw: Raw, condition: Raw) -> bool:
    """Say whether the status speaks of an earlier generation; one that names none is believed."""
    status = mapping(raw.get("status"), "status")
    observed = integer(status.get("observedGeneration", condition.get("observedGeneration")))
    return observed is not None and observed < found.generation


def as_text(value: StatusReport) -> str:
    """Return the rows as a table, and their counts in a line."""
    if not value.rows:
        return NONE_LIVE
    table = tabulate(
        [_cells(row) for row in value.rows],
        headers="keys",
        tablefmt="plain",
        disable_numparse=True,
    )
    lines = [line.rstrip() for line in table.splitlines()]
    return "\n".join([*lines, "", counts_line(value)])


def _cells(row: StatusRow) -> Mapping[str, str]:
    return {
        "STATE": row.standing.value,
        "HOST": row.host or "-",
        "OBJECT": "/".join(row.key),
        "PHASE": row.phase or "-",
        "BINDING": short_line(row.binding) or "-",
        "URL": short_line(row.url) or "-",
        # That a ready one is ready needs no words.
        "MESSAGE": "" if row.standing is ReadyState.READY else short_line(row.message),
    }


def short_line(message: str) -> str:
    """Return foreign words in one line of bounded length, without what a terminal would obey."""
    line = " ".join(blanked(message).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1]}…"


def counts_line(value: StatusReport) -> str:
    """Return the counts in a line."""
    counts = value.counts
    return (
        f"{counts[ReadyState.READY]} of {len(value.rows)} ready,"
        f" {counts[ReadyState.PENDING]} pending, {counts[ReadyState.ERROR]} in error"
    )


def as_json(value: StatusReport) -> str:
    """Return the same as JSON, with whole messages."""
    rows = [
        {
            "host": row.host,
            "namespace": row.namespace,
            "name": row.name,
            "state": row.standing.value,
            "phase": row.phase,
            "message": row.message,
            "url": row.url,
            "binding": row.binding,
        }
        for row in value.rows
    ]
    counts = {standing.value: count for standing, count in value.counts.items()}
    whole = {"version": VERSION, "counts": counts, "resources": rows}
    return json.dumps(whole, indent=2, ensure_ascii=False)
