"""Decides what edits change in the lines of `dns.hosts`, and which lines are ours. No I/O.

A line is ours if it has the form that pic writes: one name, and the marker as its whole comment.
Every other line is foreign, and stays as it is, byte for byte (docs/pihole.md).
"""

import ipaddress
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord
from pic.core.visible import is_visible
from pic.pihole.protocol import RecordEdit
from pic.planning import hosts

Key = tuple[str, Family]


@dataclass(frozen=True, slots=True)
class Line:
    """The content of a line.

    Attributes:
        ip: The address in its shortest form.
        names: In lower case, without a trailing dot and without duplicates.
        comment: The text after a space and `#`, stripped; None without a comment.
    """

    ip: str
    names: tuple[str, ...]
    comment: str | None = None

    @property
    def family(self) -> Family:
        """The type of its records."""
        return Family.of(self.ip)


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for edits.

    Attributes:
        marker: The comment of our lines, as `marker_for` returns it.
        take_over: Whether an edit may replace a foreign line that has no other name.
    """

    marker: str
    take_over: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The change that one edit makes to the lines.

    Attributes:
        put: The line to add; None adds no line.
        removed: The positions of the lines to remove. The added line takes the first position.
    """

    edit: RecordEdit
    put: str | None
    removed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """The lines after some edits.

    Attributes:
        lines: All lines.
        changes: The changes that lead to them, sorted by host and family.
        refusals: The edits that are not possible, with their errors.
    """

    lines: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    refusals: Mapping[RecordEdit, PiholeError] = field(default_factory=dict)


def marker_for(cluster_id: str) -> str:
    """Return the comment that marks the lines of a cluster."""
    return f"k8s:{cluster_id}"


# Cached, because a write reads the same lines several times and parses each of them twice.
@lru_cache(maxsize=65536)
def parse(text: str) -> Line | None:
    """Return the content of a line; None if it is not an address with names."""
    # Pi-hole copies the text into a hosts file. A line break in it would make two lines there.
    if not is_visible(text.replace("\t", " ")):
        return None
    entry, sign, comment = text.partition("#")
    words = entry.split()
    ip = _address(words[0]) if words else None
    if ip is None or len(words) == 1:
        return None
    names = tuple(dict.fromkeys(_name(word) for word in words[1:]))
    return Line(ip, names, comment.strip() if sign and entry[-1].isspace() else None)


def is_ours(text: str, marker: str) -> bool:
    """Return whether pic wrote a line for the cluster of this marker."""
    line = parse(text)
    return line is not None and line.comment == marker and len(line.names) == 1


def records(lines: Sequence[str], marker: str) -> tuple[LiveRecord, ...]:
    """Return each name and address of the lines once, sorted."""
    unique = {
        LiveRecord(name, line.ip, is_ours(text, marker), len(line.names) == 1)
        for text in lines
        if (line := parse(text))
        for name in line.names
    }
    return tuple(
        sorted(unique, key=lambda record: (*record.key, record.ip, record.ours, record.alone))
    )


def merge(lines: Sequence[str], edits: Sequence[RecordEdit], rules: Rules) -> Merged:
    """Return the lines after some edits; the last edit of a host and family counts.

    An edit replaces a line of ours in place. New lines come last, sorted by host.
    """
    lines_by_key = _by_key(lines, rules.marker)
    wanted: dict[Key, RecordEdit] = {(_name(edit.host), edit.family): edit for edit in edits}
    changes, refusals = [], {}
    # The threads of the engine come in any order, and the same edits should give the same list.
    for key in sorted(wanted):
        try:
            change = _decide(wanted[key], lines_by_key.get(key, _Lines()), rules)
        except PiholeError as error:
            refusals[wanted[key]] = error
        else:
            changes += [change] if change else []
    return Merged(apply_changes(lines, changes), tuple(changes), refusals)


def apply_changes(lines: Sequence[str], changes: Sequence[Change]) -> tuple[str, ...]:
    """Return the lines after some changes."""
    replacements: dict[int, str | None] = {
        index: None for change in changes for index in change.removed
    }
    for change in changes:
        if change.removed:
            replacements[change.removed[0]] = change.put
    remaining = [replacements.get(index, text) for index, text in enumerate(lines)]
    added = [change.put for change in changes if not change.removed]
    return tuple(text for text in (*remaining, *added) if text is not None)


def lost_lines(sent: Sequence[str], live: Sequence[str], marker: str) -> tuple[str, ...]:
    """Return the foreign lines that pic sent and that Pi-hole no longer has.

    Args:
        sent: The lines of the last write.
        live: The lines that Pi-hole has now.
        marker: The marker of our lines, which this function ignores.
    """
    # Pi-hole normalises white space when it stores a line, so spaces do not count. It may store
    # equal lines more than once, so the number of copies counts.
    unmatched = Counter(_tidy(text) for text in live)
    lost = []
    for text in sent:
        if unmatched[_tidy(text)] > 0:
            unmatched[_tidy(text)] -= 1
        elif not is_ours(text, marker):
            lost.append(text)
    return tuple(lost)


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of one host and family, by position."""

    ours: dict[int, Line] = field(default_factory=dict)
    foreign: dict[int, Line] = field(default_factory=dict)


def _by_key(lines: Sequence[str], marker: str) -> dict[Key, _Lines]:
    lines_by_key: dict[Key, _Lines] = {}
    for index, text in enumerate(lines):
        if line := parse(text):
            for name in line.names:
                entry = lines_by_key.setdefault((name, line.family), _Lines())
                (entry.ours if is_ours(text, marker) else entry.foreign)[index] = line
    return lines_by_key


def _decide(edit: RecordEdit, live: _Lines, rules: Rules) -> Change | None:
    if edit.ip is None:
        return Change(edit, None, tuple(live.ours)) if live.ours else None
    ip, text = _line(edit, edit.ip, rules.marker)
    # A line of ours stays up to date even next to a foreign line with another address.
    if live.ours:
        return _update(edit, ip, text, live.ours)
    if not live.foreign:
        return Change(edit, text)
    # The host resolves as wanted already; a second line with the same address adds nothing.
    if any(line.ip == ip for line in live.foreign.values()):
        return None
    if not (rules.take_over and all(len(line.names) == 1 for line in live.foreign.values())):
        raise conflict_error(edit, [line.ip for line in live.foreign.values()], rules)
    return Change(edit, text, tuple(live.foreign))


def _update(edit: RecordEdit, ip: str, text: str, ours: Mapping[int, Line]) -> Change | None:
    # An interrupted update may have left several lines. The correct one stays where it is.
    keep = next((index for index, line in ours.items() if line.ip == ip), None)
    if keep is None:
        return Change(edit, text, tuple(ours))
    removed = tuple(index for index in ours if index != keep)
    return Change(edit, None, removed) if removed else None


def conflict_error(edit: RecordEdit, addresses: Sequence[str], rules: Rules) -> PiholeError:
    """Return the error for a host that has foreign records with other addresses."""
    advice = (
        "its line has other names too, so change it by hand"
        if rules.take_over
        else "remove it by hand, or set pic:piholeTakeOver"
    )
    return PiholeError(
        f"RecordConflict: pic wants {edit.host} with {edit.ip}, but Pi-hole has a record of another"
        f" owner with {', '.join(sorted(set(addresses)))}. pic leaves it as it is: {advice}",
        kind=FailureClass.INVALID,
    )


def checked_address(edit: RecordEdit, ip: str) -> str:
    """Return an address of an edit in its shortest form.

    Raises:
        PiholeError: The address or the host is invalid, or the address has another family.
    """
    address = _address(ip)
    problem = _host_problem(edit.host)
    # A zone such as %eth0 names an interface of one machine, and Pi-hole refuses it.
    if address is None or "%" in address or Family.of(address) is not edit.family:
        problem = f"{ip!r} is not an address for a record of type {edit.family}"
        address = None
    if address is None or problem:
        raise PiholeError(
            f"{edit.host!r} gets no record in Pi-hole: {problem}", kind=FailureClass.INVALID
        )
    return address


def _host_problem(host: str) -> str:
    try:
        hosts.normalise(host)
    except hosts.UnusableHostError as error:
        return str(error)
    return ""


def _line(edit: RecordEdit, ip: str, marker: str) -> tuple[str, str]:
    address = checked_address(edit, ip)
    return address, f"{address} {hosts.normalise(edit.host)} # {marker}"


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _name(text: str) -> str:
    return text.lower().removesuffix(".")


def _tidy(text: str) -> str:
    return " ".join(text.split())
