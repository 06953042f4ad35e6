"""Public host names: their one spelling, and where their base domain begins. No I/O."""

import ipaddress
import re
from functools import lru_cache

import idna
from publicsuffixlist import PublicSuffixList

_PLAIN = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*")


class UnusableHostError(ValueError):
    """A host that cannot be exposed; the text says why."""


@lru_cache(maxsize=65536)
def normalise(text: str) -> str:
    """Return the one spelling of a host: lower case, no trailing dot, IDNA A-labels.

    IDNA 2008 with the non-transitional mapping of UTS 46. Single labels pass.

    Raises:
        UnusableHostError: It is no host name.
    """
    # What is not ASCII is lower-cased by UTS 46, which knows more letters than Python's lower().
    host = text.lower() if text.isascii() else text
    if not host.isascii() or "xn--" in host:
        host = _to_ascii(host)
    host = host.removesuffix(".")
    if problem := _problem(host):
        raise UnusableHostError(problem)
    return host


def public(text: str) -> str:
    """Return the normalised host, if it can be public: it has two labels at least.

    Raises:
        UnusableHostError: It is no host name, or a single label.
    """
    host = normalise(text)
    if "." not in host:
        raise UnusableHostError("a single label is no public host")
    return host


def _to_ascii(host: str) -> str:
    try:
        return idna.encode(host, uts46=True, transitional=False, std3_rules=True).decode("ascii")
    except idna.IDNAError as error:
        raise UnusableHostError(_problem(host) or f"not a valid IDNA name: {error}") from error


def _problem(host: str) -> str:
    """Say what is wrong with a lower-case ASCII host; empty where nothing is."""
    plain = _PLAIN.fullmatch(host) is not None
    if plain and len(host) <= 253 and not host[-1].isdigit():
        return ""  # Almost every host: looking for an address takes longer than all the rest.
    for found, problem in (
        ("${" in host or "{{" in host, "it holds a variable that nothing has filled in"),
        ("*" in host, "a wildcard cannot be exposed"),
        (_is_address(host), "it is an address, not a name"),
        (":" in host, "it holds a port or a colon"),
        (len(host) > 253, "it is longer than 253 characters"),
    ):
        if found:
            return problem
    return "" if plain else _label_problem(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        # A last label of digits only is read as an address by clients, whatever its length.
        return "." in host and host.rpartition(".")[2].isdigit()
    return True


def _label_problem(host: str) -> str:
    for label in host.split("."):
        for found, problem in (
            (not label, "it has an empty label"),
            (len(label) > 63, f"the label {label[:20]}… is longer than 63 characters"),
            ("_" in label, "an underscore is not allowed in a host name"),
            (
                label[:1] == "-" or label[-1:] == "-",
                f"the label {label} begins or ends with a hyphen",
            ),
        ):
            if found:
                return problem
    return "it holds a character that host names cannot have"


def suffix_of(host: str, domains: tuple[str, ...]) -> str | None:
    """Return the longest of `domains` that is the host itself or ends it at a label boundary."""
    fitting = [domain for domain in domains if is_under(host, domain)]
    return max(fitting, key=len, default=None)


def is_under(host: str, domain: str) -> bool:
    """Say whether the host is the domain or below it."""
    return host == domain or host.endswith(f".{domain}")


@lru_cache(maxsize=65536)
def registrable(host: str) -> str:
    """Return the public suffix of the host and one label more, private suffixes included.

    A host that is a public suffix itself is returned whole: nothing shorter can be registered.
    """
    return _suffixes().privatesuffix(host) or host


@lru_cache(maxsize=1)
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def subdomain(host: str, domain: str) -> str | None:
    """Return what stands before the domain, or None for the domain itself."""
    return None if host == domain else host.removesuffix(f".{domain}")
