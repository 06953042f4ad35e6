"""Reads scalars of YAML 1.1 as kubectl reads them. No I/O."""

import math
import re
from collections.abc import Iterator, Mapping

import yaml

# Converting a long number takes more than linear time.
LONGEST_NUMBER = 64


def _cased(*words: str) -> Iterator[str]:
    for word in words:
        yield from (word, word.capitalize(), word.upper())


_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(("", "~", *_cased("null"))),
    **dict.fromkeys(_cased("true", "yes", "on", "y"), True),
    **dict.fromkeys(_cased("false", "no", "off", "n"), False),
}
_NUMBER_STARTS = frozenset("+-.0123456789")
_INTEGER = re.compile(r"[-+]?(0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
# Above this value, a float cannot represent every whole number.
_WHOLE_FLOATS = 2**53
# YAML 1.1, which kubectl reads, has octal numbers with a leading zero: 0644.
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?")


def parse_scalar(text: str) -> object:
    """Return the value of a scalar without quotes, as kubectl reads it."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return parse_number(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str) -> int | str:
    digits = text.replace("_", "")
    if _OCTAL.fullmatch(digits):
        return int(digits, 8)
    try:
        return int(digits, 0 if digits.lstrip("+-")[1:2].isalpha() else 10)
    except ValueError:
        return text


def parse_number(text: str) -> float | str:
    """Return a number, as an int if its value is whole: JSON does not tell 80.0 from 80."""
    value = float(text)
    if not math.isfinite(value):
        return text
    return int(value) if value.is_integer() and abs(value) < _WHOLE_FLOATS else value


def is_no_text(value: object, event: yaml.ScalarEvent) -> bool:
    """Say whether a plain scalar is something that the API server does not take as text."""
    # kubectl takes a date as text, but other tools do not.
    plain = event.tag is None and event.implicit[0]
    is_date = plain and _DATE.fullmatch(event.value) is not None
    return is_date or isinstance(value, bool | int | float)
