"""Reports the state of our PangolinResources as their operator sees it, errors first. No I/O."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tabulate import tabulate

from pic.cluster import readiness
from pic.cluster.readiness import ReadyState
from pic.core.json_values import MalformedError, Raw, mapping, string_map, text
from pic.core.model import LiveResource
from pic.core.visible import blanked
from pic.planning.ownership import OwnerKind, Ownership
from pic.snapshot import pangolin
from pic.snapshot.parse import identity

# Of the JSON: it changes when readers have to change.
VERSION = 1
# Characters of a message in a table row.
LONGEST_MESSAGE = 160
NONE_LIVE = "No object of this stack is live."

_OURS = (OwnerKind.OURS, OwnerKind.STRIPPED)


@dataclass(frozen=True, slots=True)
class StatusRow:
    """One PangolinResource of the stack with its status.

    Attributes:
        host: The public host; empty if the object cannot be read.
        readiness: What pic concludes from the status.
        phase: `status.status` as the operator wrote it, such as `Creating`; empty before that.
        message: The operator's reason, or why pic does not trust the phase yet.
        url: The public URL in Pangolin; empty until the operator has written it.
        binding: `status.bindingMode`: whether the operator created its counterpart in Pangolin or
            bound an existing one.
    """

    host: str
    namespace: str
    name: str
    readiness: ReadyState
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
        return list(ReadyState).index(self.readiness), self.host, self.namespace, self.name


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The rows of a stack, in their order."""

    rows: tuple[StatusRow, ...] = ()

    @property
    def counts(self) -> dict[ReadyState, int]:
        """The number of rows of each readiness."""
        counter = Counter(row.readiness for row in self.rows)
        return {readiness: counter[readiness] for readiness in ReadyState}

    @property
    def is_ready(self) -> bool:
        """Whether every object is ready; true for a stack without objects."""
        return self.counts[ReadyState.READY] == len(self.rows)


def build_report(objects: Iterable[Raw], ownership: Ownership) -> StatusReport:
    """Return the report on the PangolinResources that are ours."""
    rows = (_row(raw, ownership) for raw in objects)
    return sort_rows(row for row in rows if row)


def sort_rows(rows: Iterable[StatusRow]) -> StatusReport:
    """Return a report of the rows, errors first."""
    return StatusReport(tuple(sorted(rows, key=lambda row: row.order)))


def select_rows(report: StatusReport, keys: Iterable[tuple[str, str]]) -> StatusReport:
    """Return the rows of some objects, by namespace and name; a missing object is pending."""
    rows = {row.key: row for row in report.rows}
    return sort_rows(rows.get(key) or _missing(key) for key in sorted(set(keys)))


def _missing(key: tuple[str, str]) -> StatusRow:
    return StatusRow(
        "", *key, ReadyState.PENDING, message="the object does not exist or is not ours"
    )


def _row(raw: Raw, ownership: Ownership) -> StatusRow | None:
    try:
        live = pangolin.live_resource(raw)
        return _readable(live, raw) if ownership.of(live) in _OURS else None
    except MalformedError as error:
        return _unreadable(raw, ownership, error)


def _unreadable(raw: Raw, ownership: Ownership, error: MalformedError) -> StatusRow | None:
    """Return a row for a malformed object if its labels make it ours."""
    try:
        namespace, name = identity(raw)
        metadata = mapping(raw.get("metadata"), "metadata")
        labels = string_map(metadata.get("labels"), "metadata.labels")
    except MalformedError:
        return None
    if ownership.of(LiveResource(namespace, name, uid="", host="", labels=labels)) not in _OURS:
        return None
    return StatusRow("", namespace, name, ReadyState.ERROR, message=f"cannot be read: {error}")


def _readable(live: LiveResource, raw: Raw) -> StatusRow:
    status = mapping(raw.get("status"), "status")
    ready_state, message = readiness.judge(live, status)
    return StatusRow(
        *(live.host, *live.key, ready_state, live.status, message),
        url=text(status.get("url")),
        binding=text(status.get("bindingMode")),
    )


def as_text(report: StatusReport) -> str:
    """Return the rows as a table, followed by their counts."""
    if not report.rows:
        return NONE_LIVE
    table = tabulate(
        [_cells(row) for row in report.rows],
        headers="keys",
        tablefmt="plain",
        disable_numparse=True,  # or it reformats a text that looks like a number
    )
    lines = [line.rstrip() for line in table.splitlines()]
    return "\n".join([*lines, "", counts_line(report)])


def _cells(row: StatusRow) -> Mapping[str, str]:
    return {
        "STATE": row.readiness.value,
        "HOST": row.host or "-",
        "OBJECT": "/".join(row.key),
        "PHASE": row.phase or "-",
        "BINDING": short_line(row.binding) or "-",
        "URL": short_line(row.url) or "-",
        # The state `ready` says it all.
        "MESSAGE": "" if row.readiness is ReadyState.READY else short_line(row.message),
    }


def short_line(message: str) -> str:
    """Return a message as one short line without characters that could control a terminal."""
    line = " ".join(blanked(message).split())
    return line if len(line) <= LONGEST_MESSAGE else f"{line[: LONGEST_MESSAGE - 1]}…"


def counts_line(report: StatusReport) -> str:
    """Return the counts as one line."""
    counts = report.counts
    return (
        f"{counts[ReadyState.READY]} of {len(report.rows)} ready,"
        f" {counts[ReadyState.PENDING]} pending, {counts[ReadyState.ERROR]} in error"
    )


def as_json(
    report: StatusReport, held: Sequence[Raw] = (), extra: Mapping[str, object] | None = None
) -> str:
    """Return the report as JSON, with complete messages.

    Args:
        report: The report.
        held: The changes that wait for an acknowledgement, as JSON.
        extra: Further keys of the document.
    """
    rows = [
        {
            "host": row.host,
            "namespace": row.namespace,
            "name": row.name,
            "state": row.readiness.value,
            "phase": row.phase,
            "message": row.message,
            "url": row.url,
            "binding": row.binding,
        }
        for row in report.rows
    ]
    counts = {readiness.value: count for readiness, count in report.counts.items()}
    document = {"version": VERSION, "counts": counts, "resources": rows, "held": list(held)}
    document |= extra or {}
    return json.dumps(document, indent=2, ensure_ascii=False)
