"""Normalises host names, and splits them at a base domain.

Every spelling of a host has one normal form, so that equal hosts compare equal as text.
"""

import ipaddress
import re
from functools import lru_cache

import idna
from publicsuffixlist import PublicSuffixList

from pic.core.variables import not_filled_in
from pic.core.visible import visible

# RFC 1123: letters, digits and hyphens, with no hyphen at either end of a label. RFC 1035: at most
# 63 characters for each label, and 253 for the whole name as text.
_PLAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")
_ALLOWED = re.compile(r"[a-z0-9.-]")


class UnusableHostError(ValueError):
    """Reports a host that cannot be used; the text says why."""


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """Return the normal form of a host: lower case, no trailing dot, IDNA A-labels.

    Follows IDNA 2008 with the non-transitional mapping of UTS 46. Single labels pass.

    Raises:
        UnusableHostError: The text is not a host name.
    """
    # Text beyond ASCII is lower-cased by UTS 46, whose mapping differs from Python's lower(). A
    # label that begins with xn-- goes through IDNA too, because it may encode what IDNA forbids.
    host = text.lower() if text.isascii() else text
    if not host.isascii() or "xn--" in host:
        host = _to_ascii(host)
    host = host.removesuffix(".")
    if problem := _problem(host):
        # The likely cause: a variable may contain a colon, and looks like an IPv6 address then.
        raise UnusableHostError(not_filled_in(text) or problem)
    return host


def public(text: str) -> str:
    """Return the normal form of a host that can be public, which needs at least two labels.

    Raises:
        UnusableHostError: The text is not a host name, or a single label.
    """
    host = normalise(text)
    if "." not in host:
        raise UnusableHostError("a public host needs a domain, and this is a single label")
    return host


def _to_ascii(host: str) -> str:
    try:
        return idna.encode(host, uts46=True, transitional=False, std3_rules=True).decode("ascii")
    except idna.IDNAError as error:
        problem = not_filled_in(host) or _problem(host) or f"it is not a valid IDNA name: {error}"
        raise UnusableHostError(problem) from error


def _problem(host: str) -> str:
    """Return what is wrong with a lower-case ASCII host; an empty string if it is valid."""
    plain = _PLAIN.fullmatch(host) is not None
    if plain and len(host) <= 253 and not host[-1].isdigit():
        return ""  # Takes almost every host past the slow check for an address.
    # The first match is reported, so the likely cause comes before its consequences: an IPv6
    # address also contains a colon.
    for applies, problem in (
        # Pangolin needs a licence for wildcards (docs/limits.md).
        ("*" in host, "wildcards are not supported"),
        (_is_address(host), "it is an IP address, not a host name"),
        (":" in host, "it contains a colon; write it without a port"),
        (len(host) > 253, "it is longer than 253 characters"),
    ):
        if applies:
            return problem
    return "" if plain else _label_problem(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        # Browsers take a name for an IPv4 address if its last label has only digits (WHATWG URL).
        return "." in host and host.rpartition(".")[2].isdigit()
    return True


def _label_problem(host: str) -> str:
    for label in host.split("."):
        for applies, problem in (
            (not label, "it contains an empty label"),
            (len(label) > 63, f"the label {label[:20]}… is longer than 63 characters"),
            # DNS allows an underscore in a name, but RFC 1123 does not allow it in a host name.
            ("_" in label, "it contains an underscore"),
            (
                label[:1] == "-" or label[-1:] == "-",
                f"the label {label} begins or ends with a hyphen",
            ),
        ):
            if applies:
                return problem
    wrong = next(char for char in host if not _ALLOWED.fullmatch(char))
    # Some characters look like others, such as a dot.
    code_point = "" if wrong.isascii() and wrong.isprintable() else f" (U+{ord(wrong):04X})"
    return f"it contains '{visible(wrong)}'{code_point}, which host names do not allow"


def suffix_of(host: str, domains: tuple[str, ...]) -> str | None:
    """Return the longest of `domains` that the host is or is below; None if no domain fits."""
    fitting = [domain for domain in domains if is_under(host, domain)]
    return max(fitting, key=len, default=None)


def is_under(host: str, domain: str) -> bool:
    """Say whether the host is the domain or below it."""
    return host == domain or host.endswith(f".{domain}")


@lru_cache(maxsize=65536)
def registrable(host: str) -> str:
    """Return the public suffix of the host and one more label, by the Public Suffix List.

    The private section of the list counts as well. A host that is itself a public suffix is
    returned whole, since nothing shorter can be registered.
    """
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    # The list is parsed only if a host needs it: one below a verified domain does not.
    return PublicSuffixList()


def subdomain(host: str, domain: str) -> str | None:
    """Return what precedes the domain in the host; None for the domain itself."""
    return None if host == domain else host.removesuffix(f".{domain}")
