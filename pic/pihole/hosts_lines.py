"""Lines of `dns.hosts`: what they say, whose they are, and what edits make of them. No I/O.

A line is ours when it is as pic writes it: one name, and the marker as its whole comment. Any other
line is foreign and stays as it is, byte for byte.
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
    """What a line says.

    Attributes:
        ip: The address in its shortest form.
        names: In lower case, without a trailing dot, each once.
        comment: The text after a space and `#`, without the space around it; None where there is
            none.
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
    """How edits are brought about.

    Attributes:
        marker: The comment of our lines, as `marker` returns it.
        take_over: A foreign line for a host of ours is replaced, if it has no other name.
    """

    marker: str
    take_over: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """What one edit does to the lines.

    Attributes:
        put: The line that is added; None where none is.
        gone: The positions of lines that go, the first of which the added line takes.
    """

    edit: RecordEdit
    put: str | None
    gone: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """What edits make of lines.

    Attributes:
        lines: All lines afterwards.
        changes: What leads there, sorted by host and family.
        refusals: The edits that cannot be done, and why.
    """

    lines: tuple[str, ...]
    changes: tuple[Change, ...] = ()
    refusals: Mapping[RecordEdit, PiholeError] = field(default_factory=dict)


def marker(cluster_id: str) -> str:
    """Return the comment that makes a line the one of a cluster."""
    return f"k8s:{cluster_id}"


@lru_cache(maxsize=65536)
def parse(text: str) -> Line | None:
    """Return what a line says, or None where it is no address with names."""
    # A line break makes two lines of the hosts file, of which nothing is known.
    if not is_visible(text.replace("\t", " ")):
        return None
    said, sign, comment = text.partition("#")
    words = said.split()
    ip = _address(words[0]) if words else None
    if ip is None or len(words) == 1:
        return None
    names = tuple(dict.fromkeys(_name(word) for word in words[1:]))
    return Line(ip, names, comment.strip() if sign and said[-1].isspace() else None)


def is_ours(text: str, mark: str) -> bool:
    """Say whether a line is one that pic wrote for the cluster of this marker."""
    line = parse(text)
    return line is not None and line.comment == mark and len(line.names) == 1


def records(lines: Sequence[str], mark: str) -> tuple[LiveRecord, ...]:
    """Return each name and address of the lines once, sorted."""
    found = {
        LiveRecord(name, line.ip, is_ours(text, mark), len(line.names) == 1)
        for text in lines
        if (line := parse(text))
        for name in line.names
    }
    return tuple(sorted(found, key=lambda each: (*each.key, each.ip, each.ours, each.alone)))


def merged(lines: Sequence[str], edits: Sequence[RecordEdit], rules: Rules) -> Merged:
    """Return what edits make of lines; of several edits of a host and family the last one counts.

    A line of ours is replaced in its place, new ones come last in the order of their hosts.
    """
    there = _there(lines, rules.marker)
    wanted: dict[Key, RecordEdit] = {(_name(edit.host), edit.family): edit for edit in edits}
    changes, refusals = [], {}
    for key in sorted(wanted):
        try:
            change = _decide(wanted[key], there.get(key, _There()), rules)
        except PiholeError as error:
            refusals[wanted[key]] = error
        else:
            changes += [change] if change else []
    return Merged(changed(lines, changes), tuple(changes), refusals)


def changed(lines: Sequence[str], changes: Sequence[Change]) -> tuple[str, ...]:
    """Return the lines after some changes."""
    instead: dict[int, str | None] = {at: None for change in changes for at in change.gone}
    for change in changes:
        if change.gone:
            instead[change.gone[0]] = change.put
    kept = [instead.get(at, text) for at, text in enumerate(lines)]
    added = [change.put for change in changes if not change.gone]
    return tuple(text for text in (*kept, *added) if text is not None)


def lost(sent: Sequence[str], found: Sequence[str], mark: str) -> tuple[str, ...]:
    """Return the foreign lines that were sent and are not there; Pi-hole tidies the space in them.

    Args:
        sent: What Pi-hole was told to have.
        found: What it has.
        mark: The marker of our lines, which are not looked at.
    """
    left = Counter(_tidy(text) for text in found)
    gone = []
    for text in sent:
        if left[_tidy(text)] > 0:
            left[_tidy(text)] -= 1
        elif not is_ours(text, mark):
            gone.append(text)
    return tuple(gone)


@dataclass(frozen=True, slots=True)
class _There:
    """The lines for a host and family, by position."""

    ours: dict[int, Line] = field(default_factory=dict)
    others: dict[int, Line] = field(default_factory=dict)


def _there(lines: Sequence[str], mark: str) -> dict[Key, _There]:
    found: dict[Key, _There] = {}
    for at, text in enumerate(lines):
        if line := parse(text):
            for name in line.names:
                place = found.setdefault((name, line.family), _There())
                (place.ours if is_ours(text, mark) else place.others)[at] = line
    return found


def _decide(edit: RecordEdit, there: _There, rules: Rules) -> Change | None:
    if edit.ip is None:
        return Change(edit, None, tuple(there.ours)) if there.ours else None
    ip, text = _line(edit, edit.ip, rules.marker)
    if there.ours:
        return _update(edit, ip, text, there.ours)
    if not there.others:
        return Change(edit, text)
    if any(other.ip == ip for other in there.others.values()):
        return None
    if not (rules.take_over and all(len(other.names) == 1 for other in there.others.values())):
        raise conflict(edit, [other.ip for other in there.others.values()], rules)
    return Change(edit, text, tuple(there.others))


def _update(edit: RecordEdit, ip: str, text: str, ours: Mapping[int, Line]) -> Change | None:
    keep = next((at for at, line in ours.items() if line.ip == ip), None)
    if keep is None:
        return Change(edit, text, tuple(ours))
    gone = tuple(at for at in ours if at != keep)
    return Change(edit, None, gone) if gone else None


def conflict(edit: RecordEdit, there: Sequence[str], rules: Rules) -> PiholeError:
    """Return what to tell where others have the host with another address."""
    advice = (
        "it shares its line with other names, so change it by hand"
        if rules.take_over
        else "remove it by hand, or set pic:piholeTakeOver"
    )
    return PiholeError(
        f"RecordConflict: {edit.host} is wanted with {edit.ip}, and Pi-hole has it with"
        f" {', '.join(sorted(set(there)))} of somebody else, which is left alone: {advice}",
        kind=FailureClass.INVALID,
    )


def address(edit: RecordEdit, ip: str) -> str:
    """Return an address of an edit in its shortest form.

    Raises:
        PiholeError: It is none, or of the other family, or the host is none.
    """
    found = _address(ip)
    problem = _problem(edit.host)
    if found is None or "%" in found or Family.of(found) is not edit.family:
        problem = f"{ip!r} is no address for a record {edit.family}"
        found = None
    if found is None or problem:
        raise PiholeError(
            f"{edit.host!r} gets no record in Pi-hole: {problem}", kind=FailureClass.INVALID
        )
    return found


def _problem(host: str) -> str:
    try:
        hosts.normalise(host)
    except hosts.UnusableHostError as error:
        return str(error)
    return ""


def _line(edit: RecordEdit, ip: str, mark: str) -> tuple[str, str]:
    found = address(edit, ip)
    return found, f"{found} {hosts.normalise(edit.host)} # {mark}"


def _address(text: str) -> str | None:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def _name(text: str) -> str:
    return text.lower().removesuffix(".")


def _tidy(text: str) -> str:
    return " ".join(text.split())
