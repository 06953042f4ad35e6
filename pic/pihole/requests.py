"""Chooses the requests for changes of lines: the whole list at once, or line by line. No I/O.

Pi-hole rotates its backups and validates the whole list at each write, and many writes in a row can
crash it. So the whole list goes in one request wherever it fits. To make a long list fit, names
with one address share a line. A list that is too long even then is changed line by line, where the
new names of one address share lines as well.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.pihole import hosts_lines
from pic.pihole.hosts_lines import Change, Merged, apply_changes
from pic.pihole.http import encode
from pic.pihole.lines import compact, parse, shared_lines
from pic.pihole.protocol import RecordEdit

# Bytes. Pi-hole treats a body of 65,535 bytes or more as empty (docs/pihole.md).
LARGEST_BODY = 65_000


@dataclass(frozen=True, slots=True)
class ReplaceList:
    """A request that replaces the whole list.

    Attributes:
        by_line: The changes of each added line, so that a refusal of a line leads to its edits.
    """

    lines: tuple[str, ...]
    by_line: Mapping[str, tuple[Change, ...]]


@dataclass(frozen=True, slots=True)
class Put:
    """A request that adds a line.

    Attributes:
        changes: The changes that need it; none if it is the remainder of a shared line.
    """

    text: str
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class EditLines:
    """Requests for single lines: first all that add one, so a name always resolves.

    Attributes:
        deletes: The lines to delete, each with the changes that need it.
        refusals: The edits that no request can express.
    """

    puts: tuple[Put, ...]
    deletes: tuple[tuple[str, tuple[Change, ...]], ...] = ()
    refusals: Mapping[RecordEdit, PiholeError] = field(default_factory=dict)


def list_size(lines: Sequence[str]) -> int:
    """Return the size of a request body with the whole list, in bytes."""
    return len(encode(list_body(lines)))


def list_body(lines: Sequence[str]) -> Mapping[str, object]:
    """Return the request body with the whole list."""
    return {"config": {"dns": {"hosts": list(lines)}}}


def next_write(
    lines: Sequence[str], changes: Sequence[Change], marker: str
) -> ReplaceList | EditLines:
    """Return the next write.

    A single change goes line by line, because a write of the whole list would undo what another
    program writes at the same moment. Several changes go as one list.
    """
    single = _line_by_line(lines, changes, marker)
    requests = max(len(changes), len(single.puts), len(single.deletes))
    if requests <= 1 and not single.refusals:
        return single
    fitting = _fitting(apply_changes(lines, changes, marker), changes, marker)
    return fitting or single


def restore(merged: Merged, marker: str) -> ReplaceList:
    """Return the write that brings back lost foreign lines: it must hold the whole list."""
    write = _fitting(merged.lines, merged.changes, marker)
    return write or ReplaceList(merged.lines, _added(merged.changes, merged.lines))


def _fitting(lines: Sequence[str], changes: Sequence[Change], marker: str) -> ReplaceList | None:
    """Return the write of a whole list, on as few lines as it needs; None if it is too long."""
    if list_size(lines) > LARGEST_BODY:
        lines = compact(lines, marker)
    if list_size(lines) > LARGEST_BODY:
        return None
    return ReplaceList(tuple(lines), _added(changes, lines))


def _added(changes: Sequence[Change], lines: Sequence[str]) -> dict[str, tuple[Change, ...]]:
    """Return the changes that add a name, by the line that has the name after the write."""
    by_name = {key: change for change in changes for key in _names(change.put or "")}
    added = {text: tuple(by_name[it] for it in _names(text) if it in by_name) for text in lines}
    return {text: its_changes for text, its_changes in added.items() if its_changes}


def _names(text: str) -> list[tuple[str, str]]:
    """Return each name of a line with its address."""
    line = parse(text)
    return [(name, line.ip) for name in line.names] if line else []


def _line_by_line(lines: Sequence[str], changes: Sequence[Change], marker: str) -> EditLines:
    """Return the requests for single lines.

    A change that removes a line with a slash is refused. Pi-hole decodes a path before it splits
    it, so no URL can name such a line.
    """
    refusals = {
        change.edit: PiholeError(
            f"{change.edit.host}: the API of Pi-hole cannot delete the line {lines[at]!r} because"
            " it contains a slash, and the list is too long for one request: delete the line in the"
            " web interface",
            kind=FailureClass.INVALID,
        )
        for change in changes
        for at in change.removed
        if "/" in lines[at]
    }
    possible = [change for change in changes if change.edit not in refusals]
    remainders = hosts_lines.remainders(lines, possible, marker)
    puts = (*_new_lines(possible, marker), *(Put(text) for text in remainders.values() if text))
    by_index: dict[int, list[Change]] = {}
    for change in possible:
        for index in (*change.removed, *change.left):
            by_index.setdefault(index, []).append(change)
    deletes = tuple((lines[index], tuple(by_index[index])) for index in sorted(by_index))
    return EditLines(puts, deletes, refusals)


def _new_lines(changes: Sequence[Change], marker: str) -> Iterator[Put]:
    """Yield the lines to add: names with one address share them."""
    by_address: dict[str, dict[str, Change]] = {}
    for change in changes:
        for name, ip in _names(change.put or ""):
            by_address.setdefault(ip, {})[name] = change
    for ip, by_name in by_address.items():
        for text in shared_lines(ip, [*by_name], marker):
            yield Put(text, tuple(by_name[name] for name, _ in _names(text)))
