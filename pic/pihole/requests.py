"""Which requests bring changes of lines about: the whole list at once, or line by line. No I/O."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.pihole.hosts_lines import Change, Merged, changed
from pic.pihole.http import encoded
from pic.pihole.protocol import RecordEdit

LIMIT = 60_000  # bytes of a body; Pi-hole reads one of 65,535 or more as none at all


@dataclass(frozen=True, slots=True)
class ReplaceList:
    """The whole list, in one request.

    Attributes:
        by_line: Which change each added line is of.
    """

    lines: tuple[str, ...]
    by_line: Mapping[str, Change]


@dataclass(frozen=True, slots=True)
class EditLines:
    """One request for each line; of each change the new line first.

    Attributes:
        refusals: The edits for which there is no request.
    """

    changes: tuple[Change, ...]
    refusals: Mapping[RecordEdit, PiholeError] = field(default_factory=dict)


def size(lines: Sequence[str]) -> int:
    """Return how many bytes the body of a request with the whole list has."""
    return len(encoded(body(lines)))


def body(lines: Sequence[str]) -> Mapping[str, object]:
    """Return the body of a request with the whole list."""
    return {"config": {"dns": {"hosts": list(lines)}}}


def step(lines: Sequence[str], changes: Sequence[Change]) -> ReplaceList | EditLines:
    """Return the next thing to write.

    A lone change goes line by line: that cannot undo what somebody else writes meanwhile, as the
    whole list does. Of more changes as many as fit go with the whole list; the rest is for the
    next step.
    """
    single = _singly(lines, changes)
    if len(changes) == 1 and len(changes[0].gone) <= 1 and not single.refusals:
        return single
    fitting = tuple(_fitting(lines, changes))
    if not fitting:
        return single
    return ReplaceList(changed(lines, fitting), _added(fitting))


def restoring(merged: Merged) -> ReplaceList:
    """Return what to write where lines of others got lost: all of it, or they stay lost."""
    return ReplaceList(merged.lines, _added(merged.changes))


def _added(changes: Sequence[Change]) -> dict[str, Change]:
    return {change.put: change for change in changes if change.put is not None}


def _singly(lines: Sequence[str], changes: Sequence[Change]) -> EditLines:
    """Leave out what has no URL: Pi-hole splits a path after it has decoded it."""
    refusals = {
        change.edit: PiholeError(
            f"{change.edit.host}: Pi-hole cannot delete the line {lines[at]!r} through its API,"
            " because of the / in it, and its list is too long to be sent whole: delete that line"
            " in the web interface",
            kind=FailureClass.INVALID,
        )
        for change in changes
        for at in change.gone
        if "/" in lines[at]
    }
    return EditLines(tuple(each for each in changes if each.edit not in refusals), refusals)


def _fitting(lines: Sequence[str], changes: Sequence[Change]) -> Iterator[Change]:
    """Yield what fits: all that replaces or removes, and as many new lines as there is room for."""
    inside = [change for change in changes if change.gone]
    total = size(changed(lines, inside))
    if total > LIMIT:
        return
    yield from inside
    for change in changes:
        if not change.gone:
            total += len(encoded(change.put)) + len(",")
            if total > LIMIT:
                return
            yield change
