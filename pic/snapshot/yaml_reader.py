"""YAML and JSON text becomes plain values, whatever the text holds. No I/O.

What kubectl makes of a document is what this makes of it, except that broken things have a line:

* A key that stands twice counts as its last, in YAML and in JSON, also where the other one came by
  `<<`. kubectl 1.32 says nothing about it and does the same.
* Keys are text, as they are written.
* Dates, `1:30` and numbers that do not fit stay text; `yes`, `on` and `y` are booleans.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

# The parser in C where PyYAML has it, ten times as fast. Neither constructs anything here.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

DEEPEST = 200
MOST_ALIASED = 1_000_000
LONGEST_NUMBER = 64

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_TAG}str", f"{_TAG}timestamp"})
_PLAIN_TAGS = frozenset(f"{_TAG}{name}" for name in ("bool", "float", "int", "null"))
_COLLECTION_TAGS = frozenset({None, "!", f"{_TAG}map", f"{_TAG}seq"})


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
_WHOLE_FLOATS = 2**53
_OCTAL = re.compile(r"[-+]?0[0-7]+")
_SPACE = " \t\r\n"


class TextError(ValueError):
    """Text that cannot be read; knows its line."""

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(problem)


@dataclass(slots=True)
class Parsed:
    """One document.

    Attributes:
        line: Where it begins.
        problem: Why its value is not to be relied on, though the text could be read on.
        lines: Where each map that may be an object and is an item of a list begins, by `id`.
    """

    line: int
    value: object = None
    problem: TextError | None = None
    lines: dict[int, int] = field(default_factory=dict)


def documents(text: str) -> Iterable[Parsed]:
    """Return the documents of a text.

    Raises:
        TextError: It is neither YAML nor JSON, it is nested too deeply, or its aliases never end.
    """
    if text.lstrip(_SPACE).startswith("{"):
        try:
            return _json_documents(text)
        except (ValueError, RecursionError):
            # It may be YAML in braces; if it is not, the parser of YAML names the line.
            return _yaml_documents(text)
    return _yaml_documents(text)


def _json_documents(text: str) -> list[Parsed]:
    """Parse one JSON value after the other, which is much faster than as YAML."""
    decoder = json.JSONDecoder(parse_constant=_refuse, parse_float=_number)
    found: list[Parsed] = []
    line, position, size = 1, 0, len(text)
    while True:
        start = _skip_space(text, position)
        if start == size:
            break
        line += text.count("\n", position, start)
        value, position = decoder.raw_decode(text, start)
        found.append(Parsed(line, value))
        line += text.count("\n", start, position)
    if "\\ud" in text.lower():
        _refuse_half_characters(found)
    return found


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _refuse_half_characters(found: list[Parsed]) -> None:
    for document in found:
        json.dumps(document.value, ensure_ascii=False).encode()


def _yaml_documents(text: str) -> Iterator[Parsed]:
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            if isinstance(event, yaml.DocumentEndEvent):
                yield builder.document
                builder = _Builder()
            else:
                builder.take(event)
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        raise TextError(line, "it holds a character that YAML does not allow") from error
    except yaml.MarkedYAMLError as error:
        # Of a key without a colon the parser learns lines later.
        begun = error.context == "while scanning a simple key"
        mark = error.context_mark if begun else error.problem_mark
        raise TextError(mark.line + 1 if mark else 1, f"{error.problem}") from error


class _Merge:
    """Stands for the key `<<`, which no text is."""


_MERGE = _Merge()
_OPEN = object()
_Key = str | _Merge | None


@dataclass(slots=True)
class _Frame:
    """A map or list that has begun and not ended.

    Attributes:
        key: The key whose value comes next; None where a key comes next.
        before: How many nodes there were before it.
    """

    value: dict[str, object] | list[object]
    anchor: str | None
    before: int
    line: int
    key: _Key = None


class _Builder:
    """Makes the value of one document out of the events of the parser.

    Unlike PyYAML's own two steps it keeps no tree of nodes, so a large file fits into memory, and
    it calls no constructor that a tag names.
    """

    def __init__(self) -> None:
        self.document = Parsed(0)
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[object, int]] = {}
        self._nodes = 0
        self._aliased = 0
        self._keys: dict[str, str] = {}
        self._takes: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin_map,
            yaml.SequenceStartEvent: self._begin_list,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }

    def take(self, event: yaml.Event) -> None:
        """Go on with the next event.

        Raises:
            TextError: The document is too deep, or grows without end.
        """
        take = self._takes.get(type(event))
        if take:
            take(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._nodes += 1
        frame = self._frames[-1] if self._frames else None
        if frame and frame.key is None and isinstance(frame.value, dict):
            frame.key = self._as_key(event)
            value: object = event.value
        else:
            value = self._scalar_value(event)
            self._put(value, event)
        if event.anchor:
            self._anchors[event.anchor] = value, 1

    def _as_key(self, event: yaml.ScalarEvent) -> _Key:
        if event.value == "<<" and event.implicit[0]:
            return _MERGE
        return self._keys.setdefault(event.value, event.value)

    def _scalar_value(self, event: yaml.ScalarEvent) -> object:
        if event.tag is None:
            return scalar(event.value) if event.implicit[0] else event.value
        if event.tag in _PLAIN_TAGS:
            return scalar(event.value)
        if event.tag not in _TEXT_TAGS:
            self._unsure(event, f"the tag {event.tag} is not known")
        return event.value

    def _begin_map(self, event: yaml.MappingStartEvent) -> None:
        self._begin({}, event)

    def _begin_list(self, event: yaml.SequenceStartEvent) -> None:
        self._begin([], event)

    def _begin(
        self,
        value: dict[str, object] | list[object],
        event: yaml.MappingStartEvent | yaml.SequenceStartEvent,
    ) -> None:
        line = _line(event)
        if len(self._frames) == DEEPEST:
            raise TextError(line, f"it is nested more than {DEEPEST} levels deep")
        if event.tag not in _COLLECTION_TAGS:
            self._unsure(event, f"the tag {event.tag} is not known")
        if event.anchor:
            self._anchors[event.anchor] = _OPEN, 0
        self._frames.append(_Frame(value, event.anchor, self._nodes, line))
        self._nodes += 1

    def _end(self, event: yaml.Event) -> None:
        frame = self._frames.pop()
        if frame.anchor:
            self._anchors[frame.anchor] = frame.value, self._nodes - frame.before
        if not self._frames:
            self.document.line = frame.line
        elif isinstance(self._frames[-1].value, list) and _looks_like_an_object(frame.value):
            self.document.lines[id(frame.value)] = frame.line
        self._put(frame.value, event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        value, weight = self._anchors.get(name, (None, 0))
        if name not in self._anchors:
            self._unsure(event, f"there is no anchor &{name} for *{name}")
        elif value is _OPEN:
            self._unsure(event, f"*{name} is inside of what it stands for")
            value = None
        self._nodes += weight
        self._aliased += weight
        if self._aliased > MOST_ALIASED:
            raise TextError(
                _line(event), f"its aliases stand for more than {MOST_ALIASED:,} values"
            )
        self._put(value, event)

    def _put(self, value: object, event: yaml.Event) -> None:
        if not self._frames:
            self.document.value = value
            return
        frame = self._frames[-1]
        if isinstance(frame.value, list):
            frame.value.append(value)
            return
        match frame.key:
            case None:
                frame.key = self._odd_key(value, event)
                return
            case _Merge():
                self._merge(frame.value, value, event)
            case key:
                frame.value[key] = value
        frame.key = None

    def _odd_key(self, value: object, event: yaml.Event) -> str:
        """Return a key that is an alias; a map or a list can be none."""
        if not isinstance(value, str):
            self._unsure(event, "a key is a map or a list")
        return str(value) if isinstance(value, str) else ""

    def _merge(self, into: dict[str, object], value: object, event: yaml.Event) -> None:
        sources = value if isinstance(value, list) else [value]
        for source in reversed(sources):
            if isinstance(source, dict):
                into.update(source)
            else:
                self._unsure(event, "<< takes a map, or a list of maps")

    def _unsure(self, event: yaml.Event, problem: str) -> None:
        self.document.problem = self.document.problem or TextError(_line(event), problem)


def _looks_like_an_object(value: dict[str, object] | list[object]) -> bool:
    return isinstance(value, dict) and ("metadata" in value or "kind" in value)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def scalar(text: str) -> object:
    """Return what text without quotes means."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS or len(text) > LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return _integer(text)
    return _number(text) if _FLOAT.fullmatch(text) else text


def _integer(text: str) -> int | str:
    digits = text.replace("_", "")
    if _OCTAL.fullmatch(digits):
        return int(digits, 8)
    try:
        return int(digits, 0 if digits.lstrip("+-")[1:2].isalpha() else 10)
    except ValueError:
        return text


def _number(text: str) -> float | str:
    """Return a number, which is whole where its value is, as it will be in JSON."""
    value = float(text)
    if not math.isfinite(value):
        return text
    return int(value) if value.is_integer() and abs(value) < _WHOLE_FLOATS else value
