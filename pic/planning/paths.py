"""Translates a path of an Ingress into the way the proxy matches requests.

Kubernetes matches a Prefix element by element: /foo matches /foo/bar, but not /foobar. The prefix
match of the proxy compares characters, so only a regular expression can express this. A path that
the proxy would misread is refused.

Other controllers write patterns into paths. `/*` at the end of an ImplementationSpecific path means
what is below it, in most of them. Every other pattern is plain text here, unless an annotation says
that it is a regular expression.
"""

import re
from dataclasses import dataclass, replace
from enum import Enum, auto

import re2

from pic.core.ingress import IngressPath, PathType

LONGEST = 1024
# How many characters of a path a message shows.
MOST_SHOWN = 100
# The CRD allows priorities from 1 to 1000.
HIGHEST_PRIORITY = 1000
# Older Pangolin releases distinguish the paths of a host by this many characters (docs/limits.md).
KEY_LENGTH = 50

_QUOTED = re.compile(r"[\\.+*?()|\[\]{}^$]")
# ASCII without the space and the backtick. Pangolin writes the path between backticks into a rule
# of its proxy, so a backtick in it could add a rule for the host of another namespace.
_PRINTABLE = re.compile(r"[!-_a-~]*")
_NAMES = {"`": "a backtick", " ": "a space", "\t": "a tab", "\n": "a line break"}
_ENCODED = {code: f"{code:x}" for code in range(128) if not chr(code).isalnum()}
# The API server refuses these sequences in Exact and Prefix paths, except `?` and `#`. Those two
# end the path of a URL, so no request could match.
_UNCLEAR = re.compile(r"//|[?#]|%2f|/\.\.?(/|$)", re.IGNORECASE)


# These characters are rare in paths, and each means something in a pattern.
_PATTERN = re.compile(r"[()\[\]*+|^${}]")
_BELOW = "/*"


class Dialect(Enum):
    """Whether a path looks as another controller would read it.

    Attributes:
        PLAIN: It does not.
        BELOW: It ends in `/*`, which pic reads as a Prefix.
        PATTERN: It looks like a pattern, but matches only its own text.
    """

    PLAIN = auto()
    BELOW = auto()
    PATTERN = auto()


class UnusablePathError(ValueError):
    """Reports a path that cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class PathMatch:
    """How the proxy matches requests; `path`, `match` and `priority` are None for the whole host.

    Attributes:
        length: The number of characters of the normalised path, which decides its priority.
        capped: The path is so long that its priority exceeds the highest possible one.
        dialect: Whether another controller would read the path in another way.
    """

    path: str | None = None
    match: str | None = None
    priority: int | None = None
    length: int = 1
    capped: bool = False
    dialect: Dialect = Dialect.PLAIN

    @property
    def is_root(self) -> bool:
        """Whether it matches every request of the host."""
        return self.path is None


ROOT = PathMatch()


def translate(path: str, kind: PathType, *, regex: bool) -> PathMatch:
    """Return how the proxy matches a path.

    A Prefix matches whole path elements, as Kubernetes defines it.

    Args:
        path: As written; an empty string means the root.
        kind: The path type.
        regex: An ImplementationSpecific path is a regular expression.

    Raises:
        UnusablePathError: The proxy would misread the path, or it would change the proxy's rule.
    """
    path = path or "/"
    _check_text(path)
    free = kind is PathType.IMPLEMENTATION_SPECIFIC
    if regex and free and path != "/":
        return _expression(path)
    _check_clear(path)
    written = dialect(path, free=free)
    if kind is PathType.EXACT:
        return replace(_route(path, "exact", path, exact=True), dialect=written)
    stem = path.removesuffix(_BELOW) if written is Dialect.BELOW else path.rstrip("/")
    match = _route(f"^{quote(stem)}(/|$)", "regex", stem) if stem else ROOT
    return replace(match, dialect=written)


def dialect(path: str, *, free: bool) -> Dialect:
    """Say how another controller might read a path.

    Args:
        path: The path.
        free: Its type leaves the meaning to the controller.
    """
    if free and path.endswith(_BELOW) and not _PATTERN.search(path.removesuffix(_BELOW)):
        return Dialect.BELOW
    return Dialect.PATTERN if _PATTERN.search(path) else Dialect.PLAIN


def quote(text: str) -> str:
    """Quote the characters that have a meaning in a regular expression, and no others.

    `re.escape` also quotes characters such as `-`, which would make the paths harder to read.
    """
    return _QUOTED.sub(r"\\\g<0>", text)


def shown(path: IngressPath) -> str:
    """Return a path as the Ingress has it, with its place there, for a message."""
    text = path.path or "/"
    text = text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"
    return f"path {text} ({path.where})" if path.where else f"path {text}"


def proxy_key(path: str) -> str:
    """Return the key by which older Pangolin releases distinguish the paths of a host."""
    return path[:KEY_LENGTH].translate(_ENCODED)[:KEY_LENGTH]


def _route(path: str, match: str, normalised: str, *, exact: bool = False) -> PathMatch:
    # As in Kubernetes, the longest path wins, and Exact wins over a Prefix of the same length. The
    # proxy takes priority 100 for "not given", so the priorities of paths begin above it.
    priority = 102 + 2 * len(normalised) + exact
    capped = priority > HIGHEST_PRIORITY
    return PathMatch(path, match, min(priority, HIGHEST_PRIORITY), len(normalised), capped)


def _expression(text: str) -> PathMatch:
    stem = text.removeprefix("^")
    if not stem.startswith("/"):
        raise UnusablePathError("it must begin with /")
    # RE2 has the syntax of Go, in which the proxy is written (ADR 5).
    options = re2.Options()
    # Without this, RE2 also writes each error to standard error.
    options.log_errors = False
    try:
        re2.compile(f"^{stem}", options)
    except re2.error as error:
        problem = f"it is not a valid RE2 regular expression: {_plain(error)}"
        raise UnusablePathError(problem) from error
    return _route(f"^{stem}", "regex", stem)


def _plain(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("ascii", "replace") if isinstance(reason, bytes) else str(reason)


def _check_text(path: str) -> None:
    if len(path) > LONGEST:
        raise UnusablePathError(f"it is longer than {LONGEST} characters")
    # The first character that no path may have.
    rest = _PRINTABLE.sub("", path, count=1)
    if rest:
        raise UnusablePathError(f"it contains {_named(rest[0])}")


def _named(character: str) -> str:
    if name := _NAMES.get(character):
        return name
    code = f"U+{ord(character):04X}"
    return f"{character} ({code})" if character.isprintable() else f"the control character {code}"


def _check_clear(path: str) -> None:
    if not path.startswith("/"):
        raise UnusablePathError("it must begin with /")
    if unclear := _UNCLEAR.search(path):
        raise UnusablePathError(f"it contains {unclear[0]}")
