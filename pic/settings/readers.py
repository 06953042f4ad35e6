"""Reads the value of one setting: takes text or a YAML value and returns a checked value.

A value comes from a stack file (where YAML has already parsed it), from a `--config` flag, or from
an environment variable (both always text). Every reader accepts all of these. No I/O.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from ipaddress import IPv4Address, ip_network
from typing import NoReturn, TypeVar
from urllib.parse import urlsplit

from pic.core.visible import is_visible

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")
E = TypeVar("E", bound=StrEnum)
Reader = Callable[[object], T]

LONGEST_DESCRIPTION = 80
# The largest number that the pattern below accepts: nine digits.
LARGEST = 999_999_999
SHORTEST_DURATION = timedelta(seconds=1)
LONGEST_DURATION = timedelta(days=30)

BOOLEAN_WORDS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}

_WHOLE = re.compile(r"([0-9]{1,9})(\.0+)?")
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?|\.[0-9]{1,9}")
_DURATION = re.compile(r"([0-9]{1,9}(\.[0-9]{1,9})?(h|ms|m|s))+")
# "ms" comes before "m", which would otherwise match its first letter.
_DURATION_PART = re.compile(r"([0-9.]+)(h|ms|m|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

# RFC 1123, as Kubernetes uses it for the names of namespaces (a label) and objects (a subdomain).
_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_STARRED = r"[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?"
_NAMESPACE = re.compile(_LABEL)
_OBJECT_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
# Clients take a name for an address if its last label has only digits.
_DOMAIN = re.compile(rf"(?:{_LABEL}\.)*(?![0-9]+$){_LABEL}")
_HOST_PATTERN = re.compile(rf"{_STARRED}(?:\.{_STARRED})*")


class InvalidValueError(ValueError):
    """A value that a setting does not allow.

    The text names the part that is wrong. It is empty when the whole value is wrong.
    """


def describe(value: object) -> str:
    """Return a value as messages show it: short, on one line, and never with a password."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        # Python does not print numbers of thousands of digits.
        return "a value that is too large to show"
    # A URL can carry a password before "@" or in its query.
    if "@" in text or ("?" in text and "://" in text):
        return "hidden because it may contain a password"
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[: LONGEST_DESCRIPTION - 1]}…"


def plain_text(value: object) -> str:
    """Read text and strip the space around it.

    A whole number counts as text, because YAML turns an unquoted `42` into a number.
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST:
        return str(value)
    raise InvalidValueError


def single_line(value: object) -> str:
    """Read text without control characters."""
    # The value appears in messages, where such a character could hide or forge a line.
    text = plain_text(value)
    if not is_visible(text):
        raise InvalidValueError
    return text


def matching(pattern: re.Pattern[str], longest: int = 253) -> Reader[str]:
    """Return a reader of text that matches a pattern.

    Args:
        pattern: Must match the whole text.
        longest: The largest number of characters; 253 is the limit for names in Kubernetes.
    """

    def read(value: object) -> str:
        text = plain_text(value)
        if len(text) > longest or not pattern.fullmatch(text):
            raise InvalidValueError
        return text

    return read


def dns_name(pattern: re.Pattern[str]) -> Reader[str]:
    """Return a reader of DNS names that lower-cases them and drops one trailing dot."""
    read = matching(pattern)
    return lambda value: read(plain_text(value).lower().removesuffix("."))


namespace = matching(_NAMESPACE)
object_name = matching(_OBJECT_NAME)
domain = dns_name(_DOMAIN)
host_pattern = dns_name(_HOST_PATTERN)


def unless_empty(reader: Reader[T], empty: V) -> Reader[T | V]:
    """Return a reader that treats empty text as "not set"."""

    def read(value: object) -> T | V:
        return empty if isinstance(value, str) and not value.strip() else reader(value)

    return read


def one_of(options: type[E]) -> Reader[E]:
    """Return a reader of the words of an enumeration; upper and lower case are the same."""

    def read(value: object) -> E:
        try:
            return options(plain_text(value).lower())
        except ValueError as error:
            raise InvalidValueError from error

    return read


def boolean(value: object) -> bool:
    """Read true or false in any of the usual spellings."""
    if isinstance(value, bool):
        return value
    try:
        return BOOLEAN_WORDS[plain_text(value).lower()]
    except KeyError as error:
        raise InvalidValueError from error


def boolean_or(words: Mapping[str, str], options: type[E]) -> Reader[E]:
    """Return a reader of an enumeration with the values `true` and `false`.

    Args:
        words: The value for each word that is no boolean.
        options: The enumeration.
    """

    def read(value: object) -> E:
        word = None if isinstance(value, bool) else words.get(plain_text(value).lower())
        return options(word or str(boolean(value)).lower())

    return read


def whole_number(value: object) -> int:
    """Read a whole number that is not negative. 5.0 counts as one, true does not."""
    match = _WHOLE.fullmatch(_number_text(value))
    if not match:
        raise InvalidValueError
    return int(match[1])


def ratio(value: object) -> float:
    """Read a number from 0 to 1."""
    text = _number_text(value)
    if not _NUMBER.fullmatch(text) or float(text) > 1:
        raise InvalidValueError
    return float(text)


def duration(value: object) -> timedelta:
    """Read a duration in the notation of Go (`1h30m`), or a number of seconds."""
    seconds = _seconds(_number_text(value))
    if not SHORTEST_DURATION.total_seconds() <= seconds <= LONGEST_DURATION.total_seconds():
        raise InvalidValueError
    return timedelta(seconds=seconds)


def pause(value: object) -> timedelta:
    """Read a duration that may be zero."""
    text = _number_text(value)
    return timedelta() if text in ("0", "0s") else duration(value)


def _seconds(text: str) -> float:
    if _NUMBER.fullmatch(text):
        return float(text)
    if not _DURATION.fullmatch(text):
        raise InvalidValueError
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(text))


def _number_text(value: object) -> str:
    # str() would write small numbers with an exponent, which the patterns do not accept.
    return f"{value:.9f}" if isinstance(value, float) else plain_text(value)


def list_of(reader: Reader[T], at_least: int = 0) -> Reader[tuple[T, ...]]:
    """Return a reader of lists, in YAML, in JSON, or as text with commas or line breaks.

    The reader drops duplicates and keeps the order.
    """

    def read(value: object) -> tuple[T, ...]:
        parts = tuple(dict.fromkeys(read_part(reader, item) for item in _split(value)))
        if len(parts) < at_least:
            raise InvalidValueError
        return parts

    return read


def read_part(reader: Reader[T], value: object) -> T:
    """Read one part of a value.

    Raises:
        InvalidValueError: The part is not allowed; the text of the error names it.
    """
    try:
        return reader(value)
    except InvalidValueError as error:
        raise InvalidValueError(f"{describe(value)} is not allowed") from error


def _split(value: object) -> Iterable[object]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = parse_json(value)
    if isinstance(value, list | tuple):
        return value
    return (text for text in re.split(r"[,\n]", plain_text(value)) if text.strip())


def map_of(keys: Reader[K], values: Reader[V]) -> Reader[dict[K, V]]:
    """Return a reader of maps, in YAML or in JSON."""

    def read(value: object) -> dict[K, V]:
        entries = parse_json(value) if isinstance(value, str) else value
        if not isinstance(entries, Mapping):
            raise InvalidValueError
        return map_of_unique(
            (read_part(keys, key), read_part(values, item)) for key, item in entries.items()
        )

    return read


def assignments_of(keys: Reader[K], values: Reader[V]) -> Reader[dict[K, V]]:
    """Return a reader of maps that also accepts `key=value` pairs, split at commas and lines."""
    structured = map_of(keys, values)

    def read(value: object) -> dict[K, V]:
        if not isinstance(value, str) or value.lstrip().startswith("{"):
            return structured(value)
        pairs = (_assignment(text) for text in re.split(r"[,\n]", value) if text.strip())
        return map_of_unique((read_part(keys, key), read_part(values, item)) for key, item in pairs)

    return read


def _assignment(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidValueError(f"{describe(text.strip())} has no =")
    return key.strip(), value.strip()


def map_of_unique(pairs: Iterable[tuple[K, V]]) -> dict[K, V]:
    """Return a map of the pairs.

    Raises:
        InvalidValueError: A key occurs twice.
    """
    result: dict[K, V] = {}
    for key, value in pairs:
        if key in result:
            raise InvalidValueError(f"{describe(key)} occurs twice")
        result[key] = value
    return result


def parse_json(text: str) -> object:
    """Parse JSON, and refuse a key that occurs twice.

    Raises:
        InvalidValueError: The text is not valid JSON, or a key occurs twice.
    """
    try:
        # Python would silently take the last of two equal keys, and lose a rule of pic:hostPolicy.
        value: object = json.loads(
            text, object_pairs_hook=map_of_unique, parse_constant=_refuse_constant
        )
    except InvalidValueError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidValueError("not valid JSON") from error
    return value


def _refuse_constant(text: str) -> NoReturn:
    # Python would accept NaN and Infinity, which the JSON standard does not have.
    raise InvalidValueError(f"JSON has no {text}")


def ipv4(value: object) -> str:
    """Read an IPv4 address."""
    try:
        return str(IPv4Address(plain_text(value)))
    except ValueError as error:
        raise InvalidValueError from error


def network(value: object) -> str:
    """Read an IP address, or a network such as 169.254.0.0/16."""
    try:
        return str(ip_network(plain_text(value)))
    except ValueError as error:
        raise InvalidValueError from error


def web_address(value: object) -> str:
    """Read an http or https URL. It must not contain a user, a password or a query."""
    text = plain_text(value).rstrip("/")
    # The URL appears in messages and in the state of the engine, so it must not carry a password.
    try:
        parts = urlsplit(text)
        usable = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError as error:
        raise InvalidValueError from error
    if not usable or not re.fullmatch(r"[!-~]+", text) or set(text) & set("@?#\\"):
        raise InvalidValueError
    return text


def format_value(value: object) -> str:
    """Return a parsed value in the notation of a stack file."""
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
            return _format_duration(int(value.total_seconds()))
        case _:
            return str(value)


def _format_duration(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{seconds}s" if rest else f"{minutes}m"
