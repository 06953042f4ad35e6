"""Parses and writes single lines of `dns.hosts`. No I/O."""

import ipaddress
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pic.core.model import Family
from pic.core.visible import is_visible

# Characters. A line must fit into a URL, where a space takes three bytes: Pi-hole accepts 11 KB.
LONGEST_LINE = 4_000
_PLAIN = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST_NAME, _LONGEST_LABEL = 255, 63


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


# Cached, because a write reads the same lines several times and parses each of them twice.
@lru_cache(maxsize=65536)
def parse(text: str) -> Line | None:
    """Return the content of a line; None if it is not an address with names."""
    # Pi-hole copies the text into a hosts file. A line break in it would make two lines there.
    if not is_visible(text.replace("\t", " ")):
        return None
    entry, sign, comment = text.partition("#")
    words = entry.split()
    ip = address_of(words[0]) if words else None
    if ip is None or len(words) == 1:
        return None
    names = tuple(dict.fromkeys(name_of(word) for word in words[1:]))
    return Line(ip, names, comment.strip() if sign and entry[-1].isspace() else None)


def problem(text: str) -> str:
    """Return why Pi-hole refuses a list with this line; empty if it accepts the line."""
    address, *words = text.split() or [""]
    comments = [index for index, word in enumerate(words) if word.startswith("#")]
    names = words[: comments[0]] if comments else words
    if "%" in address or address_of(address) is None:
        return f"{address!r} is no IP address"
    if not names:
        return "it has no host name"
    bad = next((name for name in names if not _is_accepted(name)), None)
    return "" if bad is None else f"{bad!r} is no host name"


def _is_accepted(name: str) -> bool:
    # As measured: Pi-hole checks only the labels before the last dot.
    labels = name.split(".")[:-1]
    plain = _PLAIN.fullmatch(name) is not None and len(name) <= _LONGEST_NAME
    return plain and all(0 < len(label) <= _LONGEST_LABEL for label in labels)


def is_ours(text: str, marker: str) -> bool:
    """Return whether pic wrote a line with this marker."""
    line = parse(text)
    return line is not None and line.comment == _comment(marker, len(line.names))


def _comment(marker: str, count: int) -> str:
    return marker if count == 1 else f"{marker}*{count}"


def shared_line(ip: str, names: Sequence[str], marker: str) -> str:
    """Return the line of ours with some names."""
    return f"{ip} {' '.join(names)} # {_comment(marker, len(names))}"


def shared_lines(ip: str, names: Sequence[str], marker: str) -> Iterator[str]:
    """Yield the lines of ours that some names need, each as long as a line may be."""
    batch: list[str] = []
    for name in names:
        if batch and len(shared_line(ip, [*batch, name], marker)) > LONGEST_LINE:
            yield shared_line(ip, batch, marker)
            batch = []
        batch.append(name)
    if batch:
        yield shared_line(ip, batch, marker)


def compact(lines: Sequence[str], marker: str) -> tuple[str, ...]:
    """Return lines with our names on as few lines as possible; foreign lines come first."""
    names: dict[str, set[str]] = {}
    foreign = []
    for text in lines:
        line = parse(text)
        if line and is_ours(text, marker):
            names.setdefault(line.ip, set()).update(line.names)
        else:
            foreign.append(text)
    shared = (shared_lines(ip, sorted(names[ip]), marker) for ip in sorted(names))
    return *foreign, *(text for group in shared for text in group)


def address_of(text: str) -> str | None:
    """Return an address in its shortest form; None if it is none."""
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return None


def name_of(text: str) -> str:
    """Return a host name as pic compares it."""
    return text.lower().removesuffix(".")
