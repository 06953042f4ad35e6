"""Reads parsed JSON and YAML with checks: maps, lists, texts and integers."""

from collections.abc import Mapping, Sequence

Raw = Mapping[str, object]
_NOTHING: Raw = {}
_INT32 = 2**31


class MalformedError(ValueError):
    """An object whose shape no API server would take; the text says where and why."""


def mapping(value: object, where: str) -> Raw:
    """Return a map, an absent one as empty.

    Raises:
        MalformedError: It is something else.
    """
    if value is None:
        return _NOTHING
    if isinstance(value, Mapping):
        return value
    raise MalformedError(f"{where} is {_kind(value)}, not a map")


def sequence(value: object, where: str) -> Sequence[object]:
    """Return a list, an absent one as empty.

    Raises:
        MalformedError: It is something else.
    """
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    raise MalformedError(f"{where} is {_kind(value)}, not a list")


def text(value: object) -> str:
    """Return a scalar as text, an absent one as empty, as YAML people mean it unquoted."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, int | float) else f"({_kind(value)})"
    except ValueError:  # Python refuses to write numbers of thousands of digits
        return "(a number)"


def string_map(value: object, where: str) -> dict[str, str]:
    """Return a map of texts, nulls as empty ones."""
    return {text(key): text(item) for key, item in mapping(value, where).items()}


def integer(value: object) -> int | None:
    """Return a whole number of 32 bits, which is what Kubernetes has for ports and priorities."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value) if -_INT32 <= value < _INT32 else None


def _kind(value: object) -> str:
    kinds = {str: "text", bool: "a boolean", list: "a list", dict: "a map"}
    return kinds.get(type(value), "a number")
