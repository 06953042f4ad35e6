"""Validates and tidies lines of `dns.hosts` as Pi-hole does. No I/O."""

import functools
import re
import socket
from collections.abc import Sequence

KEY = "dns.hosts"
LONGEST_HINT = 255
CACHED = 10_000  # lines, since each PUT validates all of them
_SPACES = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"(?:^|[ \t])(?P<hash>#)")
_CHARACTERS = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST_NAME = 255
_LONGEST_LABEL = 63


def complaint(lines: Sequence[str]) -> str | None:
    """Return the problem of the first invalid line, in Pi-hole's words."""
    for index, line in enumerate(lines):
        problem = _complaint(line)
        if problem is not None:
            return f"{KEY}[{index}]: {problem}"
    return None


def hint(lines: Sequence[str]) -> str | None:
    """Return the problem of the first invalid line, cut off as in an answer of Pi-hole."""
    problem = complaint(lines)
    return None if problem is None else problem[:LONGEST_HINT]


@functools.lru_cache(CACHED)
def tidy(line: str) -> str:
    """Normalise the white space, as Pi-hole does when it writes its file; keep a comment."""
    start = _COMMENT.search(line)
    hosts, comment = (line[: start.start()], line[start.end() :]) if start else (line, "")
    words = " ".join(hosts.split())
    return f"{words} {start['hash']}{comment}" if words and start else words or line


def names(line: str) -> list[str]:
    """Return the host names of a line, without its comment."""
    return line.partition("#")[0].split()[1:]


@functools.lru_cache(CACHED)
def _complaint(line: str) -> str | None:
    address, *rest = _SPACES.split(line.strip())
    if not address:
        return f'found no first element ("{line}")'
    if not _is_address(address):
        return f'neither a valid IPv4 nor IPv6 address ("{address}")'
    return _complaint_of_names(_before_comment(rest), line)


def _complaint_of_names(hosts: Sequence[str], line: str) -> str | None:
    if not hosts:
        return f'entry does not have at least one hostname ("{line}")'
    # Pi-hole does not check a comment, so a line break in it starts a new line of the hosts file.
    bad = [host for host in hosts if not _is_name(host)]
    return f'invalid hostname ("{bad[0]}")' if bad else None


def _before_comment(words: Sequence[str]) -> list[str]:
    ends = [at for at, word in enumerate(words) if word.startswith("#")]
    return list(words[: ends[0]] if ends else words)


def _is_address(text: str) -> bool:
    return any(_parses(family, text) for family in (socket.AF_INET, socket.AF_INET6))


def _parses(family: socket.AddressFamily, text: str) -> bool:
    try:
        socket.inet_pton(family, text)
    except (OSError, ValueError):
        return False
    return True


def _is_name(text: str) -> bool:
    """Check a name as Pi-hole does: it measures only labels that a dot ends, not the last one."""
    if len(text) > _LONGEST_NAME or not _CHARACTERS.fullmatch(text):
        return False
    return all(0 < len(label) <= _LONGEST_LABEL for label in text.split(".")[:-1])
