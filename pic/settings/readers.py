"""Readers of single settings: text or a YAML value in, a checked value out. No I/O."""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Address
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
E = TypeVar("E", bound=StrEnum)
Reader = Callable[[object], T]

LONGEST_SHOWN = 80
LARGEST = 999_999_999
SHORTEST_DURATION = timedelta(seconds=1)
LONGEST_DURATION = timedelta(days=30)

SWITCH_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}

_WHOLE = re.compile(r"([0-9]{1,9})(\.0+)?")
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}")
_DURATION = re.compile(r"([0-9]{1,9}(\.[0-9]{1,9})?(h|ms|m|s))+")
_DURATION_PART = re.compile(r"([0-9.]+)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_STARRED = r"[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?"
_NAMESPACE = re.compile(_LABEL)
_OBJECT_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# A last label of digits only is read as an address by clients.
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)*(?![0-9]+$){_LABEL}")
_HOST_PATTERN = re.compile(rf"{_STARRED}(?:\.{_STARRED})*")


class UnfitError(ValueError):
    """A value that a setting cannot have; its text says which part, and is empty for all of it."""


def shown(value: object) -> str:
    """Return a value as messages have it: short, on one line, and never with a password."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "a value too large to show"
    if "@" in text or ("?" in text and "://" in text):
        return "not shown, since it may hold a password"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"


def plain(value: object) -> str:
    """Return text without the space around it; a whole number counts as text."""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return str(value)
    raise UnfitError


def line(value: object) -> str:
    """Read text without control characters."""
    text = plain(value)
    if not text.isprintable():
        raise UnfitError
    return text


def matching(pattern: re.Pattern[str], longest: int = 253) -> Reader[str]:
    """Return a reader of text of a certain form."""

    def read(value: object) -> str:
        text = plain(value)
        if len(text) > longest or not pattern.fullmatch(text):
            raise UnfitError
        return text

    return read


def name_like(pattern: re.Pattern[str]) -> Reader[str]:
    """Return a reader of DNS names: lower-cased, one trailing dot dropped."""
    fitting = matching(pattern)
    return lambda value: fitting(plain(value).lower().removesuffix("."))


namespace = matching(_NAMESPACE)
object_name = matching(_OBJECT_NAME)
domain = name_like(_DOMAIN)
host_pattern = name_like(_HOST_PATTERN)


def unless_empty(reader: Reader[T], empty: V) -> Reader[T | V]:
    """Return a reader that takes empty text for a setting that is left open."""

    def read(value: object) -> T | V:
        return empty if isinstance(value, str) and not value.strip() else reader(value)

    return read


def choice(options: type[E]) -> Reader[E]:
    """Return a reader of one of some words, in any case."""

    def read(value: object) -> E:
        try:
            return options(plain(value).lower())
        except ValueError as error:
            raise UnfitError from error

    return read


def switch(value: object) -> bool:
    """Read true or false, in any of the usual spellings."""
    if isinstance(value, bool):
        return value
    try:
        return SWITCH_WORDS[plain(value).lower()]
    except KeyError as error:
        raise UnfitError from error


def whole(value: object) -> int:
    """Read a whole number that is not negative; 5.0 is one, true is none."""
    found = _WHOLE.fullmatch(_number_text(value))
    if not found:
        raise UnfitError
    return int(found[1])


def ratio(value: object) -> float:
    """Read a number from 0 to 1."""
    text = _number_text(value)
    if not _NUMBER.fullmatch(text) or float(text) > 1:
        raise UnfitError
    return float(text)


def duration(value: object) -> timedelta:
    """Read a duration as Go writes it, or seconds."""
    seconds = _seconds(_number_text(value))
    if not SHORTEST_DURATION.total_seconds() <= seconds <= LONGEST_DURATION.total_seconds():
        raise UnfitError
    return timedelta(seconds=seconds)


def _seconds(text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text):
        raise UnfitError
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(text))


def _number_text(value: object) -> str:
    return f"{value:.9f}" if isinstance(value, float) else plain(value)


def items(reader: Reader[T], at_least: int = 0) -> Reader[tuple[T, ...]]:
    """Return a reader of lists: YAML, JSON, or text with commas; what stands twice counts once."""

    def read(value: object) -> tuple[T, ...]:
        found = tuple(dict.fromkeys(part(reader, item) for item in _listed(value)))
        if len(found) < at_least:
            raise UnfitError
        return found

    return read


def part(reader: Reader[T], value: object) -> T:
    """Read one part of a value; the error names the part.

    Raises:
        UnfitError: It does not fit.
    """
    try:
        return reader(value)
    except UnfitError as error:
        raise UnfitError(f"{shown(value)} does not fit") from error


def _listed(value: object) -> Iterable[object]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = from_json(value)
    if isinstance(value, list | tuple):
        return value
    return (text for text in re.split(r"[,\n]", plain(value)) if text.strip())


def mapping(keys: Reader[K], values: Reader[V]) -> Reader[dict[K, V]]:
    """Return a reader of maps: YAML or JSON."""

    def read(value: object) -> dict[K, V]:
        found = from_json(value) if isinstance(value, str) else value
        if not isinstance(found, Mapping):
            raise UnfitError
        return unique((part(keys, key), part(values, item)) for key, item in found.items())

    return read


def assignments(keys: Reader[K], values: Reader[V]) -> Reader[dict[K, V]]:
    """Return a reader of maps that may also be `k=v`, one a line or with commas."""
    structured = mapping(keys, values)

    def read(value: object) -> dict[K, V]:
        if not isinstance(value, str) or value.lstrip().startswith("{"):
            return structured(value)
        pairs = (_assignment(text) for text in re.split(r"[,\n]", value) if text.strip())
        return unique((part(keys, key), part(values, item)) for key, item in pairs)

    return read


def _assignment(text: str) -> tuple[str, str]:
    key, found, value = text.partition("=")
    if not found:
        raise UnfitError(f"{shown(text.strip())} has no =")
    return key.strip(), value.strip()


def unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """Return the pairs as a map.

    Raises:
        UnfitError: A key stands twice.
    """
    result: dict[K, V] = {}
    for key, value in pairs:
        if key in result:
            raise UnfitError(f"{shown(key)} is there twice")
        result[key] = value
    return result


def from_json(text: str) -> object:
    """Parse JSON in which no key stands twice.

    Raises:
        UnfitError: It is none.
    """
    try:
        found: object = json.loads(text, object_pairs_hook=unique, parse_constant=_refuse)
    except UnfitError:
        raise
    except (ValueError, RecursionError) as error:
        raise UnfitError("it is not valid JSON") from error
    return found


def _refuse(text: str) -> NoReturn:
    raise UnfitError(f"{text} is no JSON")


def ipv4(value: object) -> str:
    """Read an IPv4 address."""
    try:
        return str(IPv4Address(plain(value)))
    except ValueError as error:
        raise UnfitError from error


def web_address(value: object) -> str:
    """Read an http or https URL; a user, a password or a query in it is refused."""
    text = plain(value).rstrip("/")
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:
        raise UnfitError from error
    if not usable or not re.fullmatch(r"[!-~]+", text) or set(text) & set("@?#\\"):
        raise UnfitError
    return text


def written(value: object) -> str:
    """Return a parsed value as a person would write it into a stack file."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case tuple():
            return ", ".join(value)
        case Mapping():
            return ", ".join(f"{key}={item}" for key, item in sorted(value.items()))
        case timedelta():
            return _written_duration(int(value.total_seconds()))
        case _:
            return str(value)


def _written_duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{seconds}s" if rest else f"{minutes}m"
