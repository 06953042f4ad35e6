"""Decides what edits change in the lines of `dns.hosts`, and which lines are ours. No I/O.

A line is ours if it has the form that pic writes: one name, and the marker of the stack as its
whole comment. Where a list is long, names with one address share a line. Then the marker ends with
the number of names, so that a line to which a user adds a name is not ours any more.

Earlier versions wrote a marker that all stacks of a cluster share. A line with that one is ours
only for an edit that says so. Every other line is foreign, and stays as it is, byte for byte
(docs/pihole.md).
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord, Maker
from pic.pihole.lines import Line, address_of, is_ours, name_of, parse, shared_line
from pic.pihole.protocol import RecordEdit
from pic.planning import foreign_records, hosts
from pic.settings.field import TakeOver

Key = tuple[str, Family]

PREFIX = "k8s:"
SHOWN = 8  # characters of an id in a marker
_OF_PIC = re.compile(r"k8s:(?P<cluster>[0-9A-Za-z-]+)(\.[0-9A-Za-z-]+)?(\*[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for edits.

    Attributes:
        marker: The comment of our lines.
        take_over: Which foreign lines an edit may replace.
        legacy: The comment that earlier versions wrote; None if it is the same.
    """

    marker: str
    take_over: TakeOver = TakeOver.NONE
    legacy: str | None = None

    def is_legacy(self, text: str) -> bool:
        """Return whether an earlier version wrote a line, for any stack of the cluster."""
        return self.legacy is not None and is_ours(text, self.legacy)

    def maker(self, line: Line) -> Maker:
        """Return which other pic made a line that is not ours."""
        match = _OF_PIC.fullmatch(line.comment or "")
        if match is None:
            return Maker.UNKNOWN
        cluster = self.marker.removeprefix(PREFIX).partition(".")[0]
        same = match["cluster"][:SHOWN] == cluster[:SHOWN]
        return Maker.OTHER_STACK if same else Maker.OTHER_CLUSTER

    def may_take_over(self, line: Line) -> bool:
        """Return whether an edit may replace a foreign line."""
        alone = len(line.names) == 1
        return foreign_records.may_take_over(self.take_over, self.maker(line), alone=alone)


@dataclass(frozen=True, slots=True)
class Change:
    """The change that one edit makes to the lines.

    Attributes:
        put: The line to add; None adds no line.
        removed: The positions of the lines to remove. The added line takes the first position.
        left: The positions of shared lines that lose the host of the edit.
    """

    edit: RecordEdit
    put: str | None
    removed: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


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


def rules_for(cluster_id: str, stack_id: str, *, take_over: TakeOver = TakeOver.NONE) -> Rules:
    """Return the rules for the lines of a stack.

    Args:
        cluster_id: The id of the cluster.
        stack_id: The id of the stack. A stack without one keeps the marker of earlier versions.
        take_over: Which foreign lines an edit may replace.
    """
    legacy = f"{PREFIX}{cluster_id}"
    if not stack_id:
        return Rules(legacy, take_over)
    # No id of a cluster contains a dot, so no stack without an id has this marker. A slash would
    # keep Pi-hole from deleting the line by its URL.
    return Rules(f"{PREFIX}{cluster_id[:SHOWN]}.{stack_id[:SHOWN]}", take_over, legacy)


def records(lines: Sequence[str], rules: Rules) -> tuple[LiveRecord, ...]:
    """Return each name and address of the lines once, sorted."""
    unique = {
        record for text in lines if (line := parse(text)) for record in _records(text, line, rules)
    }
    return tuple(sorted(unique, key=_record_order))


def _records(text: str, line: Line, rules: Rules) -> Iterator[LiveRecord]:
    legacy = rules.is_legacy(text)
    ours = legacy or is_ours(text, rules.marker)
    maker = Maker.UNKNOWN if ours else rules.maker(line)
    for name in line.names:
        yield LiveRecord(name, line.ip, ours, ours or len(line.names) == 1, legacy, maker)


def _record_order(record: LiveRecord) -> tuple[object, ...]:
    return *record.key, record.ip, record.ours, record.alone, record.legacy, record.maker


def merge(lines: Sequence[str], edits: Sequence[RecordEdit], rules: Rules) -> Merged:
    """Return the lines after some edits; the last edit of a host and family counts.

    An edit replaces a line of ours in place. New lines come last, sorted by host.
    """
    lines_by_key = _by_key(lines, rules)
    wanted: dict[Key, RecordEdit] = {(name_of(edit.host), edit.family): edit for edit in edits}
    changes, refusals = [], {}
    # The threads of the engine come in any order, and the same edits should give the same list.
    for key in sorted(wanted):
        try:
            change = _decide(wanted[key], lines_by_key.get(key, _Lines()), rules)
        except PiholeError as error:
            refusals[wanted[key]] = error
        else:
            changes += [change] if change else []
    return Merged(apply_changes(lines, changes, rules.marker), tuple(changes), refusals)


def remainders(lines: Sequence[str], changes: Sequence[Change], marker: str) -> dict[int, str]:
    """Return what is left of the shared lines that lose names, by position; "" for nothing."""
    leaving: dict[int, set[str]] = {}
    for change in changes:
        for index in change.left:
            leaving.setdefault(index, set()).add(name_of(change.edit.host))
    texts = {}
    for index, hosts_ in leaving.items():
        line = parse(lines[index])
        names = [name for name in line.names if name not in hosts_] if line else []
        texts[index] = shared_line(line.ip, names, marker) if line and names else ""
    return texts


def apply_changes(lines: Sequence[str], changes: Sequence[Change], marker: str) -> tuple[str, ...]:
    """Return the lines after some changes."""
    replacements: dict[int, str | None] = {
        index: text or None for index, text in remainders(lines, changes, marker).items()
    }
    replacements |= {index: None for change in changes for index in change.removed}
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
    legacy: dict[int, Line] = field(default_factory=dict)
    foreign: dict[int, Line] = field(default_factory=dict)

    def kind(self, text: str, rules: Rules) -> dict[int, Line]:
        """Return the lines to which a line belongs."""
        if is_ours(text, rules.marker):
            return self.ours
        return self.legacy if rules.is_legacy(text) else self.foreign

    def visible_to(self, edit: RecordEdit) -> tuple[dict[int, Line], dict[int, Line]]:
        """Return our lines and the foreign ones, as an edit says, each by position."""
        ours, foreign = self.ours, {**self.foreign, **self.legacy}
        if edit.legacy:
            ours, foreign = {**self.ours, **self.legacy}, self.foreign
        return dict(sorted(ours.items())), dict(sorted(foreign.items()))


def _by_key(lines: Sequence[str], rules: Rules) -> dict[Key, _Lines]:
    lines_by_key: dict[Key, _Lines] = {}
    for index, text in enumerate(lines):
        if line := parse(text):
            for name in line.names:
                entry = lines_by_key.setdefault((name, line.family), _Lines())
                entry.kind(text, rules)[index] = line
    return lines_by_key


def _decide(edit: RecordEdit, live: _Lines, rules: Rules) -> Change | None:
    ours, foreign = live.visible_to(edit)
    if edit.ip is None:
        return _removal(edit, None, ours) if ours else None
    ip, text = _line(edit, edit.ip, rules.marker)
    # A line of ours stays up to date even next to a foreign line with another address.
    if ours:
        # An interrupted update may have left several lines. The correct one stays where it is.
        keep = next((index for index, line in live.ours.items() if line.ip == ip), None)
        return _update(edit, text, ours, keep)
    if not foreign:
        return Change(edit, text)
    # The host resolves as wanted already; a second line with the same address adds nothing.
    if any(line.ip == ip for line in foreign.values()):
        return None
    if not all(map(rules.may_take_over, foreign.values())):
        raise conflict_error(edit, [line.ip for line in foreign.values()], rules)
    return Change(edit, text, tuple(foreign))


def _update(
    edit: RecordEdit, text: str, ours: Mapping[int, Line], keep: int | None
) -> Change | None:
    if keep is None:
        return _removal(edit, text, ours)
    others = {index: line for index, line in ours.items() if index != keep}
    return _removal(edit, None, others) if others else None


def _removal(edit: RecordEdit, text: str | None, ours: Mapping[int, Line]) -> Change:
    """Return a change that removes a host from lines: the whole line, or only its name."""
    removed = tuple(index for index, line in ours.items() if len(line.names) == 1)
    return Change(edit, text, removed, tuple(index for index in ours if index not in removed))


def conflict_error(edit: RecordEdit, addresses: Sequence[str], rules: Rules) -> PiholeError:
    """Return the error for a host that has foreign records with other addresses."""
    advice = (
        "pic:piholeTakeOver does not cover it, or its line has other names too: change it by hand"
        if rules.take_over is not TakeOver.NONE
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
    address = address_of(ip)
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


def _tidy(text: str) -> str:
    return " ".join(text.split())
