"""Parses YAML and JSON into plain values, and never runs code or grows without bound.

The values are those that kubectl would read, and errors name a line:

* If a key occurs twice, the last one counts, in YAML and in JSON, even if the first came through
  `<<`. kubectl 1.32 does the same, without a message. Such a map is a `RepeatedKeys`.
* The values in a map `annotations` stay as written, and those that are no text are `Unquoted`: the
  API server takes only text there, and 010 must not become 8.
* Keys are always text, as they are written.
* Dates, `1:30` and numbers that are too large stay text. `yes`, `on` and `y` are booleans.

No I/O.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml

from pic.core import yaml_text
from pic.core.json_values import RepeatedKeys, Unquoted
from pic.snapshot.yaml_scalars import is_no_text, parse_number, parse_scalar

# PyYAML's parser in C is ten times as fast, but not in every build of PyYAML. Only its events are
# used here, so neither parser constructs objects.
_PARSER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Bounds against hostile files. Code that walks through a value recurses for each level of it.
# Nested aliases multiply the values.
DEEPEST = 200
MOST_ALIASED = 1_000_000

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS = frozenset({"!", f"{_TAG}str", f"{_TAG}timestamp"})
_PLAIN_TAGS = frozenset(f"{_TAG}{name}" for name in ("bool", "float", "int", "null"))
_COLLECTION_TAGS = frozenset({None, "!", f"{_TAG}map", f"{_TAG}seq"})


_SPACE = " \t\r\n"

_ANNOTATIONS = "annotations"


class TextError(ValueError):
    """Text that cannot be read.

    Attributes:
        line: The line of the mistake, from 1.
    """

    def __init__(self, line: int, problem: str) -> None:
        self.line = line
        super().__init__(problem)


@dataclass(slots=True)
class ParsedDocument:
    """One document of a text.

    Attributes:
        line: The line on which it begins.
        value: Its content.
        problem: A mistake in the document that leaves `value` wrong, although the parser could
            read on; None for a correct document.
        lines: The first line of each item of a list that may be a Kubernetes object, by `id`.
    """

    line: int
    value: object = None
    problem: TextError | None = None
    lines: dict[int, int] = field(default_factory=dict)


def documents(text: str) -> Iterable[ParsedDocument]:
    """Parse all documents of a text.

    Raises:
        TextError: The text is neither YAML nor JSON, its nesting is too deep, or its aliases stand
            for too many values.
    """
    if text.lstrip(_SPACE).startswith("{"):
        try:
            return _json_documents(text)
        except (ValueError, RecursionError):
            # It may be YAML in braces. If not, the YAML parser finds the line of the mistake.
            return _yaml_documents(text)
    return _yaml_documents(text)


def _json_documents(text: str) -> list[ParsedDocument]:
    """Parse a sequence of JSON values, which is much faster than parsing it as YAML."""
    decoder = json.JSONDecoder(
        parse_constant=_refuse, parse_float=parse_number, object_pairs_hook=_from_pairs
    )
    parsed: list[ParsedDocument] = []
    line, position, size = 1, 0, len(text)
    while True:
        start = _skip_space(text, position)
        if start == size:
            break
        line += text.count("\n", position, start)
        value, position = decoder.raw_decode(text, start)
        parsed.append(ParsedDocument(line, value))
        line += text.count("\n", start, position)
    # The check costs a copy of the text, so it runs only if an escape may be half a character.
    if "\\ud" in text.lower():
        _refuse_surrogates(parsed)
    return parsed


def _from_pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    counts = Counter(key for key, _ in pairs)
    return _with_repeated(value, [key for key in value if counts[key] > 1])


def _with_repeated(value: dict[str, object], repeated: Sequence[str]) -> dict[str, object]:
    """Return a map that knows its repeated keys.

    If the annotations occur twice, the second map has to know it as well: it is what remains.
    """
    annotations = value.get(_ANNOTATIONS)
    if _ANNOTATIONS in repeated and (annotations is None or isinstance(annotations, dict)):
        value = {**value, _ANNOTATIONS: RepeatedKeys(annotations or {}, [_ANNOTATIONS])}
    return RepeatedKeys(value, repeated)


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _refuse_surrogates(parsed: list[ParsedDocument]) -> None:
    """Refuse half of a surrogate pair, which JSON can escape but UTF-8 cannot encode."""
    for document in parsed:
        json.dumps(document.value, ensure_ascii=False).encode()


def _yaml_documents(text: str) -> Iterator[ParsedDocument]:
    builder = _Builder()
    try:
        for event in yaml.parse(text, Loader=_PARSER):
            if isinstance(event, yaml.DocumentEndEvent):
                yield builder.document
                builder = _Builder()
            else:
                builder.handle(event)
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        raise TextError(line, f"YAML does not allow the character {_code_point(error)}") from error
    except yaml.MarkedYAMLError as error:
        mark = yaml_text.mark_of(error)
        problem = yaml_text.problem_of(error)
        raise TextError(mark.line + 1 if mark else 1, problem) from error


def _code_point(error: yaml.reader.ReaderError) -> str:
    # PyYAML's parser in C gives a number.
    character: int | str = error.character
    return f"U+{character if isinstance(character, int) else ord(character[:1]):04X}"


class _Merge:
    """The key `<<` without quotes. It is not text, so a quoted "<<" differs from it."""


_MERGE = _Merge()
_OPEN = object()
_Key = str | _Merge | None


@dataclass(slots=True)
class _Frame:
    """A map or a list whose end has not come yet.

    Attributes:
        value: The map or list so far.
        anchor: Its anchor, if it has one.
        earlier: The number of nodes before it in the document.
        line: The line on which it begins.
        key: In a map, the key whose value comes next; None if a key comes next.
        merged: The keys that so far came only through `<<`.
        repeated: The keys that occurred more than once, not counting `<<`.
    """

    value: dict[str, object] | list[object]
    anchor: str | None
    earlier: int
    line: int
    key: _Key = None
    merged: set[str] = field(default_factory=set)
    repeated: list[str] = field(default_factory=list)


class _Builder:
    """Builds the value of one document from the events of the parser.

    PyYAML itself first builds a tree of nodes and then constructs values, which may be of any class
    that a tag names. This class does neither: it needs less memory and cannot run code.
    """

    def __init__(self) -> None:
        self.document = ParsedDocument(0)
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[object, int]] = {}
        self._written: dict[str, str | None] = {}
        self._nodes = 0
        self._aliased = 0
        self._keys: dict[str, str] = {}
        self._handlers: dict[type, Callable[[Any], None]] = {
            yaml.ScalarEvent: self._scalar,
            yaml.MappingStartEvent: self._begin_map,
            yaml.SequenceStartEvent: self._begin_list,
            yaml.MappingEndEvent: self._end,
            yaml.SequenceEndEvent: self._end,
            yaml.AliasEvent: self._alias,
        }

    def handle(self, event: yaml.Event) -> None:
        """Add the next event to the document.

        Raises:
            TextError: The nesting is too deep, or the aliases stand for too many values.
        """
        handler = self._handlers.get(type(event))
        if handler:
            handler(event)

    def _scalar(self, event: yaml.ScalarEvent) -> None:
        self._nodes += 1
        frame = self._frames[-1] if self._frames else None
        if frame and frame.key is None and isinstance(frame.value, dict):
            frame.key = self._as_key(event)
            value: object = event.value
        else:
            value = self._scalar_value(event)
            written = event.value if is_no_text(value, event) else None
            self._put(self._annotation(value, written), event)
            if event.anchor:
                self._written[event.anchor] = written
        if event.anchor:
            self._anchors[event.anchor] = value, 1

    def _as_key(self, event: yaml.ScalarEvent) -> _Key:
        if event.value == "<<" and event.implicit[0]:
            return _MERGE
        # The same keys occur in every object of a file: keep each text in memory once.
        return self._keys.setdefault(event.value, event.value)

    def _scalar_value(self, event: yaml.ScalarEvent) -> object:
        if event.tag is None:
            return parse_scalar(event.value) if event.implicit[0] else event.value
        if event.tag in _PLAIN_TAGS:
            return parse_scalar(event.value)
        if event.tag not in _TEXT_TAGS:
            self._record_problem(event, f"unknown tag {event.tag}")
        return event.value

    def _annotation(self, value: object, written: str | None) -> object:
        """Return a value, but as written if it is an annotation.

        Args:
            value: The value.
            written: How the file writes it; None for text, which is always as written.
        """
        inside = len(self._frames) > 1 and self._frames[-2].key == _ANNOTATIONS
        return Unquoted(written) if inside and written is not None else value

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
            raise TextError(line, f"the nesting is more than {DEEPEST} levels deep")
        if event.tag not in _COLLECTION_TAGS:
            self._record_problem(event, f"unknown tag {event.tag}")
        if event.anchor:
            self._anchors[event.anchor] = _OPEN, 0
        self._frames.append(_Frame(value, event.anchor, self._nodes, line))
        self._nodes += 1

    def _end(self, event: yaml.Event) -> None:
        frame = self._frames.pop()
        value = frame.value
        if frame.repeated and isinstance(value, dict):
            value = _with_repeated(value, frame.repeated)
        if frame.anchor:
            self._anchors[frame.anchor] = value, self._nodes - frame.earlier
        if not self._frames:
            self.document.line = frame.line
        elif isinstance(self._frames[-1].value, list) and _looks_like_an_object(value):
            self.document.lines[id(value)] = frame.line
        self._put(value, event)

    def _alias(self, event: yaml.AliasEvent) -> None:
        name = str(event.anchor)
        value, weight = self._anchors.get(name, (None, 0))
        if name not in self._anchors:
            self._record_problem(event, f"the alias *{name} has no anchor &{name}")
        elif value is _OPEN:
            self._record_problem(event, f"the alias *{name} is inside its own anchor")
            value = None
        # An alias weighs as much as the value it stands for. This stops documents in which nested
        # aliases multiply ("billion laughs").
        self._nodes += weight
        self._aliased += weight
        if self._aliased > MOST_ALIASED:
            raise TextError(
                _line(event), f"the aliases stand for more than {MOST_ALIASED:,} values"
            )
        self._put(self._annotation(value, self._written.get(name)), event)

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
                self._merge(frame, value, event)
            case key:
                if key in frame.value and key not in frame.merged:
                    frame.repeated.append(key)
                frame.merged.discard(key)
                frame.value[key] = value
        frame.key = None

    def _odd_key(self, value: object, event: yaml.Event) -> str:
        """Return a key that is not a plain scalar: an alias of a text, or else a mistake."""
        if not isinstance(value, str):
            self._record_problem(event, "a key is a map or a list")
        return str(value) if isinstance(value, str) else ""

    def _merge(self, into: _Frame, value: object, event: yaml.Event) -> None:
        sources = value if isinstance(value, list) else [value]
        # In YAML, the first map of the list wins. So it is merged last.
        for source in reversed(sources):
            if isinstance(source, dict) and isinstance(into.value, dict):
                into.merged.update(source.keys() - into.value.keys())
                into.value.update(source)
            else:
                self._record_problem(event, "<< needs a map, or a list of maps")

    def _record_problem(self, event: yaml.Event, problem: str) -> None:
        self.document.problem = self.document.problem or TextError(_line(event), problem)


def _looks_like_an_object(value: dict[str, object] | list[object]) -> bool:
    return isinstance(value, dict) and ("metadata" in value or "kind" in value)


def _line(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1
