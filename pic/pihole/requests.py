"""Chooses the requests for changes of lines: the whole list at once, or line by line. No I/O."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.pihole.hosts_lines import Change, Merged, apply_changes
from pic.pihole.http import encode
from pic.pihole.protocol import RecordEdit

# Bytes. Pi-hole treats a body of 65,535 bytes or more as empty (docs/pihole.md).
LARGEST_BODY = 60_000


@dataclass(frozen=True, slots=True)
class ReplaceList:
    """A request that replaces the whole list.

    Attributes:
        by_line: The change of each added line, so that a refusal of a line leads to its edit.
    """

    lines: tuple[str, ...]
    by_line: Mapping[str, Change]


@dataclass(frozen=True, slots=True)
class EditLines:
    """Requests for single lines.

    Each change adds its new line before it removes old ones, so a name always resolves.

    Attributes:
        refusals: The edits that no request can express.
    """

    changes: tuple[Change, ...]
    refusals: Mapping[RecordEdit, PiholeError] = field(default_factory=dict)


def list_size(lines: Sequence[str]) -> int:
    """Return the size of a request body with the whole list, in bytes."""
    return len(encode(list_body(lines)))


def list_body(lines: Sequence[str]) -> Mapping[str, object]:
    """Return the request body with the whole list."""
    return {"config": {"dns": {"hosts": list(lines)}}}


def next_write(lines: Sequence[str], changes: Sequence[Change]) -> ReplaceList | EditLines:
    """Return the next write.

    A single change goes line by line, because a write of the whole list would undo what another
    program writes at the same moment. Several changes go as one list, as many as fit; the next
    write has the rest.
    """
    single = _line_by_line(lines, changes)
    if len(changes) == 1 and len(changes[0].removed) <= 1 and not single.refusals:
        return single
    fitting = tuple(_fitting(lines, changes))
    if not fitting:
        return single
    return ReplaceList(apply_changes(lines, fitting), _added(fitting))


def restore(merged: Merged) -> ReplaceList:
    """Return the write that brings back lost foreign lines: it must hold the whole list."""
    return ReplaceList(merged.lines, _added(merged.changes))


def _added(changes: Sequence[Change]) -> dict[str, Change]:
    return {change.put: change for change in changes if change.put is not None}


def _line_by_line(lines: Sequence[str], changes: Sequence[Change]) -> EditLines:
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
    return EditLines(tuple(change for change in changes if change.edit not in refusals), refusals)


def _fitting(lines: Sequence[str], changes: Sequence[Change]) -> Iterator[Change]:
    """Yield the changes that fit: all that remove lines, then as many new lines as fit.

    Line by line, a changed address takes two requests and a new line only one. So the changes that
    remove lines come first.
    """
    replacing = [change for change in changes if change.removed]
    total = list_size(apply_changes(lines, replacing))
    if total > LARGEST_BODY:
        return
    yield from replacing
    for change in changes:
        if not change.removed:
            total += len(encode(change.put)) + len(",")
            if total > LARGEST_BODY:
                return
            yield change
