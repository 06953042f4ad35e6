"""Reads values from parsed JSON and YAML, and checks their types.

Manifest files have not passed the API server, so any field may have any type. A value that is not
the expected map or list is an error. A scalar is read as the author of unquoted YAML means it. A
null is the same as an absent field, as for the API server.
"""

from collections.abc import Mapping, Sequence

Raw = Mapping[str, object]
_NOTHING: Raw = {}
_INT32 = 2**31


class Unquoted(str):
    """Text as a file has it, which YAML reads as a number, a date or a boolean."""

    __slots__ = ()


class RepeatedKeys(dict[str, object]):
    """A map of a file in which keys occurred more than once; it has the last value of each.

    Attributes:
        repeated: The keys. `annotations` is among them if the whole map occurred twice.
    """

    def __init__(self, items: Mapping[str, object], repeated: Sequence[str]) -> None:
        super().__init__(items)
        self.repeated = (*getattr(items, "repeated", ()), *repeated)


class MalformedError(ValueError):
    """A value whose type the API server would refuse; the text names the field and the type."""


def mapping(value: object, where: str) -> Raw:
    """Return a map; an absent one is empty.

    Args:
        value: The value of a field, or None.
        where: The path of the field, for the error.

    Raises:
        MalformedError: The value is not a map.
    """
    if value is None:
        return _NOTHING
    if isinstance(value, Mapping):
        return value
    raise MalformedError(f"{where} is {_kind(value)}, not a map")


def sequence(value: object, where: str) -> Sequence[object]:
    """Return a list; an absent one is empty.

    Args:
        value: The value of a field, or None.
        where: The path of the field, for the error.

    Raises:
        MalformedError: The value is not a list.
    """
    if value is None:
        return ()
    if isinstance(value, list):
        return value
    raise MalformedError(f"{where} is {_kind(value)}, not a list")


def text(value: object) -> str:
    """Return a scalar as text, as if it had been quoted in YAML; an absent one is empty.

    An unquoted `true` or `80` in YAML is a boolean or a number where text is meant. A map or a list
    becomes a description such as `(a map)`, which is no legal value of any field.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        return str(value) if isinstance(value, int | float) else f"({_kind(value)})"
    except ValueError:  # Python refuses to print an integer of more than 4300 digits.
        return "(a number)"


def string_map(value: object, where: str) -> dict[str, str]:
    """Return a map of texts; a null becomes an empty text."""
    return {text(key): text(item) for key, item in mapping(value, where).items()}


def integer(value: object) -> int | None:
    """Return a whole number of 32 bits, the type of ports and priorities; None for others."""
    # A bool is an int in Python. NaN and infinity are not equal to `value // 1`.
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
        return None
    return int(value) if -_INT32 <= value < _INT32 else None


def _kind(value: object) -> str:
    # The words of JSON and YAML, because the author of a file does not know Python's.
    kinds = {str: "text", bool: "a boolean", list: "a list", dict: "a map"}
    return kinds.get(type(value), "a number")
