"""Says what became of every Ingress that was read: the counts in one line, and the rows."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from pic.core.sources import Ending, HostFate, Ignored, Source, counts
from pic.core.visible import visible
from pic.planning.serialise import Json
from pic.report.tables import Column, Section

MOST_NEAR = 3
ABSENT = "-"


def line(sources: Sequence[Source]) -> str:
    """Return the counts in one line; empty if no Ingress was accounted for."""
    if not sources:
        return ""
    tally = counts(sources)
    noun = "Ingress" if len(sources) == 1 else "Ingresses"
    parts = ", ".join(f"{tally[ending]:,} {ending}" for ending in Ending if tally[ending])
    near = _near(sources)
    shown = [*near[:MOST_NEAR], *(["…"] if len(near) > MOST_NEAR else [])]
    note = f" ({'; '.join(shown)})" if shown else ""
    return f"{len(sources):,} {noun}: {parts}{note}{_hosts(sources)}"


def _hosts(sources: Sequence[Source]) -> str:
    """Return the counts of the hosts that the Ingresses ask for; empty for none."""
    tally = Counter(fate.ending for source in sources for fate in source.hosts)
    if not tally:
        return ""
    parts = ", ".join(f"{tally[ending]:,} {ending}" for ending in Ending if tally[ending])
    return f"; {tally.total():,} {'host' if tally.total() == 1 else 'hosts'}: {parts}"


def _near(sources: Sequence[Source]) -> list[str]:
    """Return what to say about each class that seems to mean one of ours, each of them once."""
    messages = (it.stop.message for it in sources if it.stop.reason == Ignored.MISSPELT_CLASS)
    return [visible(message) for message in dict.fromkeys(messages)]


def section(sources: Sequence[Source]) -> Section:
    """Return a row for each Ingress, those first that a user should look at."""
    columns = (
        Column("Ingress"),
        Column("Ending", literal=False),
        Column("Hosts"),
        Column("Reason", literal=False),
        Column("Why"),
    )
    ordered = sorted(sources, key=_order)
    return Section(
        "Ingresses",
        columns,
        tuple(map(_row, ordered)),
        tuple(source.about.namespace for source in ordered),
    )


def _order(source: Source) -> tuple[int, bool, tuple[str, str]]:
    misspelt = source.stop.reason == Ignored.MISSPELT_CLASS
    about = source.about
    return list(Ending).index(source.ending), not misspelt, (about.namespace, about.name)


def _row(source: Source) -> tuple[str | None, ...]:
    hosts = ", ".join(fate.host for fate in source.hosts if fate.host)
    name = f"{source.about} ({source.origin})" if source.origin else str(source.about)
    stop = source.stop
    return name, source.ending.value, hosts or None, stop.reason or None, stop.message or None


def table(rows: Section) -> list[dict[str, str]]:
    """Return a section as rows of a plain table, in which no character moves the cursor."""
    titles = [column.title.upper() for column in rows.columns]
    return [
        dict(zip(titles, (visible(cell) if cell else ABSENT for cell in row), strict=True))
        for row in rows.rows
    ]


def unexposed(sources: Sequence[Source], live: Collection[str]) -> Iterator[Json]:
    """Yield the hosts that Ingresses ask for, and that are held, refused or not live yet.

    Args:
        sources: What became of each Ingress.
        live: The hosts that have an object.
    """
    for ending in (Ending.REFUSED, Ending.HELD, Ending.EXPOSED):
        for source in sources:
            for fate in source.hosts:
                if fate.ending is ending and (ending is not Ending.EXPOSED or _waits(fate, live)):
                    yield _asked(source, fate)


def _waits(fate: HostFate, live: Collection[str]) -> bool:
    return fate.host not in live


def _asked(source: Source, fate: HostFate) -> Json:
    is_planned = fate.ending is Ending.EXPOSED
    message = "it is not deployed yet: run pic up" if is_planned else fate.stop.message
    return {
        "state": "planned" if is_planned else fate.ending.value,
        "host": fate.host or None,
        "namespace": source.about.namespace,
        "ingress": source.about.name,
        "reason": fate.stop.reason or None,
        "message": message,
    }


def as_json(sources: Sequence[Source], *, rows: bool) -> Json:
    """Return the counts as JSON, and the rows if they are asked for."""
    listed = [_json_row(source) for source in sorted(sources, key=_order)]
    return {
        "counts": {ending.value: count for ending, count in counts(sources).items()},
        "near": _near(sources),
        **({"rows": listed} if rows else {}),
    }


def _json_row(source: Source) -> Json:
    return {
        "namespace": source.about.namespace,
        "name": source.about.name,
        "file": source.origin or None,
        "ending": source.ending.value,
        "reason": source.stop.reason or None,
        "message": source.stop.message or None,
        "hosts": [
            {
                "host": fate.host or None,
                "ending": fate.ending.value,
                "reason": fate.stop.reason or None,
                "message": fate.stop.message or None,
            }
            for fate in source.hosts
        ],
    }
