"""Defines the resource of one DNS record: its id, its inputs and its differences. No I/O."""

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
# Only in the outputs: the marker that pic gave the line. Without it, an earlier version wrote it.
MARKER = "marker"
_OUTPUTS = {**_FIELDS, MARKER: {**_TEXT, "description": "The comment that marks its line."}}
SCHEMA = {
    "name": "pihole",
    "displayName": "Pi-hole",
    "description": "Local DNS records of a Pi-hole.",
    "resources": {
        RECORD_TYPE: {
            "description": "A name with an address of one family. Its id is host/A or host/AAAA.",
            "inputProperties": _FIELDS,
            "requiredInputs": ["host", "ip"],
            "properties": _OUTPUTS,
            "required": ["host", "ip"],
        }
    },
}


def check_inputs(inputs: Mapping[str, object]) -> tuple[dict[str, object], list[tuple[str, str]]]:
    """Return inputs in their normal form, and the problem of each invalid one by name.

    Args:
        inputs: The values; None means that a value is missing.
    """
    problems = []
    valid: dict[str, object] = {}
    for name, reader in (("host", _host), ("ip", _ip)):
        try:
            valid[name] = reader(inputs.get(name))
        except ValueError as error:
            problems.append((name, str(error)))
    problems += [
        (name, "is not a property of a record") for name in sorted(set(inputs) - {*_FIELDS})
    ]
    return valid, problems


def _host(value: object) -> str:
    text = _text(value)
    try:
        return hosts.normalise(text)
    except hosts.UnusableHostError as error:
        raise ValueError(f"{text[:80]!r} cannot be a host name: {error}") from error


def _ip(value: object) -> str:
    text = _text(value)
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"{text[:80]!r} is not an IPv4 or IPv6 address") from None
    if "%" in text:
        # Pi-hole refuses it too, but only when the record is written.
        raise ValueError(f"{text[:80]!r} has a zone, which has no meaning on another host")
    return str(address)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("must be text" if value is not None else "is missing")


def parse_id(identifier: str) -> tuple[str, Family]:
    """Return the host and the family of an id.

    Raises:
        PiholeError: The id is invalid.
    """
    host, _, family = identifier.rpartition("/")
    try:
        return hosts.normalise(host), Family(family)
    except ValueError as error:
        raise PiholeError(
            f"{identifier[:80]!r} is not the id of a record: write HOST/A or HOST/AAAA",
            kind=FailureClass.INVALID,
        ) from error


def differences(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[tuple[str, bool]]:
    """Yield each property that differs, and whether it needs a new resource."""
    if old.get("host") != new.get("host"):
        yield "host", True
    if old.get("ip") != new.get("ip"):
        # The id of a resource names the family, and an update cannot change the id.
        families = {Family.of(str(properties.get("ip"))) for properties in (old, new)}
        yield "ip", len(families) > 1


def find_live(
    records: Sequence[LiveRecord], key: tuple[str, Family], state_ip: object, *, legacy: bool
) -> LiveRecord | None:
    """Return our record of a host and family; None if Pi-hole has no such record.

    An interrupted update leaves two records with different addresses. Then this returns the record
    whose address is not in the state, so that the engine sees a difference and repairs it.

    Args:
        records: All records of the Pi-hole.
        key: The host and the family.
        state_ip: The address in the state of the engine; None for an import.
        legacy: Whether a record with the marker of earlier versions is ours.
    """
    # The host is compared first because it is cheap: each of 1,000 reads looks at 1,000 records.
    ours = [
        record
        for record in records
        if record.host == key[0]
        and record.ours
        and (legacy or not record.legacy)
        and record.key == key
    ]
    differing = [record for record in ours if record.ip != state_ip]
    return next(iter([*differing, *ours]), None)
