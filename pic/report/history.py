"""Prints what became of hosts over time as text, JSON or CSV."""

import csv
import io
from collections.abc import Sequence

from pic.core.visible import visible
from pic.planning.past import Deployment, Happening, Past
from pic.planning.serialise import Json
from pic.report import text

VERSION = 1
ABSENT = "-"
COMMIT_LENGTH = 12
COLUMNS = (
    *("time", "host", "record", "what", "place", "access", "fields", "actor", "commit"),
    *("pipeline", "acknowledged", "result", "remark"),
)
# A spreadsheet takes a cell that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def render(past: Past) -> str:
    """Return the past as a table, the latest line first, and how far back it goes."""
    parts = [text.table(list(map(_row, past.happenings))), *past.remarks, horizon(past)]
    return "\n\n".join(visible_lines(part) for part in parts if part)


def visible_lines(block: str) -> str:
    """Return a text of several lines without other control characters."""
    return "\n".join(map(visible, block.split("\n")))


def horizon(past: Past) -> str:
    """Say how far back the past goes."""
    if not past.deployments:
        return "No deployment is known: what is shown is what the register remembers."
    noun = "deployment" if past.deployments == 1 else "deployments"
    since = f" since {past.since}" if past.since else ""
    return (
        f"{past.deployments} {noun}{since}. The backend keeps no older ones (pic:keepHistory); what"
        " is older is known by the register only."
    )


def _row(happening: Happening) -> dict[str, str]:
    what = f"{happening.what} ({happening.access})" if happening.access else happening.what.value
    return {
        "TIME": happening.time or "earlier",
        "HOST": f"{happening.host} (DNS)" if happening.is_record else happening.host,
        "WHAT": what,
        "BY": _by(happening) or ABSENT,
        "DETAILS": "; ".join(_details(happening)) or ABSENT,
    }


def _by(happening: Happening) -> str:
    made = happening.deployment
    if made is None:
        return happening.remark
    commit = f"commit {made.commit[:COMMIT_LENGTH]}" if made.commit else ""
    acknowledged = f"acknowledged {made.acknowledged}" if made.acknowledged else ""
    failed = f"the run {made.result}" if made.result not in ("", "succeeded") else ""
    return ", ".join(filter(None, (made.actor, commit, made.pipeline, acknowledged, failed)))


def _details(happening: Happening) -> list[str]:
    fields = list(map(text.field, happening.fields[: text.MAX_FIELDS]))
    more = len(happening.fields) - len(fields)
    return [happening.place, *fields, *([f"and {more} more"] if more else [])]


def as_json(past: Past) -> Json:
    """Return the past as JSON; `version` changes when readers have to change."""
    return {
        "version": VERSION,
        "deployments": past.deployments,
        "since": past.since or None,
        "remarks": list(past.remarks),
        "history": list(map(_json, past.happenings)),
    }


def _json(happening: Happening) -> Json:
    return {
        "time": happening.time or None,
        "host": happening.host,
        "record": happening.is_record,
        "what": happening.what.value,
        "place": happening.place or None,
        "access": happening.access or None,
        "fields": [{"path": it.path, "old": it.old, "new": it.new} for it in happening.fields],
        "deployment": _deployment(happening.deployment) if happening.deployment else None,
        "remark": happening.remark or None,
    }


def _deployment(made: Deployment) -> Json:
    return {
        "number": made.number,
        "time": made.time or None,
        "result": made.result or None,
        "actor": made.actor or None,
        "commit": made.commit or None,
        "pipeline": made.pipeline or None,
        "acknowledged": made.acknowledged or None,
    }


def as_csv(past: Past) -> str:
    """Return the past as CSV in which no cell is a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_cells, past.happenings))
    return out.getvalue()


def _cells(happening: Happening) -> Sequence[str]:
    made = happening.deployment or Deployment(0)
    cells = (
        *(happening.time, happening.host, "true" if happening.is_record else "false"),
        *(happening.what.value, happening.place, happening.access),
        "; ".join(map(text.field, happening.fields)),
        *(made.actor, made.commit, made.pipeline, made.acknowledged, made.result),
        happening.remark,
    )
    return [_harmless(cell) for cell in cells]


def _harmless(cell: str) -> str:
    shown = visible(cell)
    return f"'{shown}" if shown.startswith(_FORMULA) else shown
