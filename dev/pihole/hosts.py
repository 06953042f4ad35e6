"""What Pi-hole accepts as a line of `dns.hosts`. No I/O."""

import functools
import re
import socket
from collections.abc import Sequence

KEY = "dns.hosts"
REMEMBERED = 10_000  # lines that were looked at: each PUT looks at all of them
_SPACES = re.compile(r"[ \t]+")
_COMMENT = re.compile(r"(?:^|[ \t])(?P<hash>#)")
_CHARACTERS = re.compile(r"[A-Za-z0-9._-]+")
_LONGEST_NAME = 255
_LONGEST_LABEL = 63


def complaint(lines: Sequence[str]) -> str | None:
    """Say what is wrong with the first line that is wrong, in Pi-hole's words."""
    for index, line in enumerate(lines):
        wrong = _complaint(line)
        if wrong is not None:
            return f"{KEY}[{index}]: {wrong}"
    return None


@functools.lru_cache(REMEMBERED)
def tidy(line: str) -> str:
    """Clean the white space up, as Pi-hole does when it writes its file; a comment stays as is."""
    start = _COMMENT.search(line)
    hosts, comment = (line[: start.start()], line[start.end() :]) if start else (line, "")
    words = " ".join(hosts.split())
    return f"{words} {start['hash']}{comment}" if words and start else words or line


def names(line: str) -> list[str]:
    """The host names of a line, without its comment."""
    return line.partition("#")[0].split()[1:]


@functools.lru_cache(REMEMBERED)
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
    # A line break within a comment is not looked at, and so makes more lines of the hosts file.
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
    """Labels are measured where a dot ends them, so the last one may be of any length."""
    if len(text) > _LONGEST_NAME or not _CHARACTERS.fullmatch(text):
        return False
    return all(0 < len(label) <= _LONGEST_LABEL for label in text.split(".")[:-1])
