"""What a path of an Ingress becomes as a target of the proxy. No I/O."""

import re
from dataclasses import dataclass

import re2

from pic.core.model import PathType

LONGEST = 1024
HIGHEST_PRIORITY = 1000
KEY_LENGTH = 50

_QUOTED = re.compile(r"[\\.+*?()|\[\]{}^$]")
_PRINTABLE = re.compile(
    r"[!-_a-~]*"
)  # ASCII without space and backtick, which ends the proxy's rule
_ENCODED = {code: f"{code:x}" for code in range(128) if not chr(code).isalnum()}
_UNCLEAR = re.compile(r"//|[?#]|%2f|/\.\.?(/|$)", re.IGNORECASE)


class UnusablePathError(ValueError):
    """A path that cannot be sent on; the text says why."""


@dataclass(frozen=True, slots=True)
class PathMatch:
    """How requests are matched: `path`, `match` and `priority` are None for the whole host.

    Attributes:
        length: Characters of the normalised path, which is what its priority comes from.
        capped: It is so long that its priority would be higher than there are.
    """

    path: str | None = None
    match: str | None = None
    priority: int | None = None
    length: int = 1
    capped: bool = False

    @property
    def is_root(self) -> bool:
        """It matches every request of the host."""
        return self.path is None


ROOT = PathMatch()


def translate(path: str, kind: PathType, *, regex: bool) -> PathMatch:
    """Return the route of a path.

    Prefix means whole path elements, as Kubernetes defines it. With `regex` the text of an
    ImplementationSpecific path is a regular expression itself.

    Raises:
        UnusablePathError: The path would be misread, or injected into the proxy's rule.
    """
    path = path or "/"
    _check_text(path)
    if kind is PathType.EXACT:
        _check_clear(path)
        return _route(path, "exact", path, exact=True)
    if regex and kind is PathType.IMPLEMENTATION_SPECIFIC and path != "/":
        return _expression(path)
    _check_clear(path)
    stem = path.rstrip("/")
    return _route(f"^{quote(stem)}(/|$)", "regex", stem) if stem else ROOT


def quote(text: str) -> str:
    """Quote what has a meaning in a regular expression, and nothing else."""
    return _QUOTED.sub(r"\\\g<0>", text)


def proxy_key(path: str) -> str:
    """Return what older Pangolin releases tell the paths of a host apart by."""
    return path[:KEY_LENGTH].translate(_ENCODED)[:KEY_LENGTH]


def _route(path: str, match: str, normalised: str, *, exact: bool = False) -> PathMatch:
    # 100 is what the proxy takes for "none given", so a path never has it.
    priority = 102 + 2 * len(normalised) + exact
    capped = priority > HIGHEST_PRIORITY
    return PathMatch(path, match, min(priority, HIGHEST_PRIORITY), len(normalised), capped)


def _expression(text: str) -> PathMatch:
    stem = text.removeprefix("^")
    if not stem.startswith("/"):
        raise UnusablePathError("it does not begin with /")
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(f"^{stem}", options)
    except re2.error as error:
        raise UnusablePathError(f"not a regular expression of RE2: {_plain(error)}") from error
    return _route(f"^{stem}", "regex", stem)


def _plain(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode("ascii", "replace") if isinstance(reason, bytes) else str(reason)


def _check_text(path: str) -> None:
    if len(path) > LONGEST:
        raise UnusablePathError(f"it is longer than {LONGEST} characters")
    if not _PRINTABLE.fullmatch(path):
        raise UnusablePathError(
            "it holds a backtick, a space, a control character or a letter beyond ASCII"
        )


def _check_clear(path: str) -> None:
    if not path.startswith("/"):
        raise UnusablePathError("it does not begin with /")
    if _UNCLEAR.search(path):
        raise UnusablePathError("it holds //, /./, /../, ?, # or %2f")
