"""The resource that is one DNS record: its id, what may be in it, and how it changes. No I/O."""

import ipaddress
from collections.abc import Iterator, Mapping, Sequence

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import RECORD_TYPE, Family, LiveRecord
from pic.planning import hosts

_TEXT = {"type": "string"}
_FIELDS = {
    "host": {**_TEXT, "description": "The name, without a wildcard."},
    "ip": {**_TEXT, "description": "Its IPv4 or IPv6 address."},
}
SCHEMA = {
    "name": "pihole",
    "displayName": "Pi-hole",
    "description": "Local DNS records of a Pi-hole.",
    "resources": {
        RECORD_TYPE: {
            "description": "A name with an address of one family. Its id is host/A or host/AAAA.",
            "inputProperties": _FIELDS,
            "requiredInputs": ["host", "ip"],
            "properties": _FIELDS,
            "required": ["host", "ip"],
        }
    },
}


def checked(inputs: Mapping[str, object]) -> tuple[dict[str, object], list[tuple[str, str]]]:
    """Return inputs as they are declared, and what is wrong with which of them.

    Args:
        inputs: A value that is not text is not known yet, or wrong; None is an absent one.
    """
    problems = []
    found: dict[str, object] = {}
    for name, reader in (("host", _host), ("ip", _ip)):
        try:
            found[name] = reader(inputs.get(name))
        except ValueError as error:
            problems.append((name, str(error)))
    problems += [(name, "is no property of a record") for name in sorted(set(inputs) - {*_FIELDS})]
    return found, problems


def _host(value: object) -> str:
    text = _text(value)
    try:
        return hosts.normalise(text)
    except hosts.UnusableHostError as error:
        raise ValueError(f"{text[:80]!r} cannot be a name: {error}") from error


def _ip(value: object) -> str:
    text = _text(value)
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is no IPv4 or IPv6 address") from None
    if "%" in text:
        raise ValueError(f"{text[:80]!r} has a zone, which means nothing to another host")
    return str(address)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("needed is text" if value is not None else "is missing")


def parsed(identifier: str) -> tuple[str, Family]:
    """Return host and family of an id.

    Raises:
        PiholeError: It is none.
    """
    host, _, family = identifier.rpartition("/")
    try:
        return hosts.normalise(host), Family(family)
    except ValueError as error:
        raise PiholeError(
            f"{identifier[:80]!r} is no id of a record: it is HOST/A or HOST/AAAA",
            kind=FailureClass.INVALID,
        ) from error


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """Yield the properties that differ, and whether they make it another record."""
    if old.get("host") != new.get("host"):
        yield "host", True
    if old.get("ip") != new.get("ip"):
        families = {Family.of(str(each.get("ip"))) for each in (old, new)}
        yield "ip", len(families) > 1


def live(
    found: Sequence[LiveRecord], key: tuple[str, Family], remembered: object
) -> LiveRecord | None:
    """Return our record of a host and family, if there is one.

    An interrupted change leaves a second one beside it, with another address. That is the one that
    is told, so that the next run puts it right.
    """
    # The host alone is told apart first: each of a thousand records is looked up among all.
    ours = [each for each in found if each.host == key[0] and each.ours and each.key == key]
    others = [each for each in ours if each.ip != remembered]
    return next(iter([*others, *ours]), None)
