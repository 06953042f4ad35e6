"""Tests how YAML and JSON are parsed, correct or hostile."""

from itertools import pairwise

import pytest

from pic.core.json_values import RepeatedKeys, Unquoted
from pic.snapshot.yaml_reader import DEEPEST, TextError, documents


def values(text: str) -> list[object]:
    return [document.value for document in documents(text)]


def single_value(text: str) -> object:
    return values(text)[0]


def problem(text: str) -> tuple[int, str]:
    with pytest.raises(TextError) as caught:
        values(text)
    return caught.value.line, str(caught.value)


def document_problem(text: str) -> tuple[int, str] | None:
    (document,) = documents(text)
    if document.problem is None:
        return None
    return document.problem.line, str(document.problem)


def test_quotes_and_tags_decide_the_type_of_a_scalar() -> None:
    text = "{a: '1', b: !!str 1, c: ! 1, d: !!int '1', e: !!timestamp 2001-01-01, f: !!map {}}"

    assert single_value(text) == {"a": "1", "b": "1", "c": "1", "d": 1, "e": "2001-01-01", "f": {}}
    assert document_problem(text) is None


def test_keys_are_always_text() -> None:
    assert single_value("{on: 1, 2: 3, ~: 4, 0x10: 5, '<<': 6}") == {
        "on": 1,
        "2": 3,
        "~": 4,
        "0x10": 5,
        "<<": 6,
    }


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", '{"a": 1, "b": 2, "a": 3}'])
def test_the_last_of_two_equal_keys_counts(text: str) -> None:
    assert single_value(text) == {"a": 3, "b": 2}


def test_aliases_and_merge_keys_are_resolved() -> None:
    text = """
base: &base {a: 1, b: 1}
more: &more {b: 2, c: 2}
name: &name web
one: {<<: *base, b: 3}
late: {b: 3, <<: *base}
many: {<<: [*base, *more], d: *name}
key: {*name : 1}
"""

    assert single_value(text) == {
        "base": {"a": 1, "b": 1},
        "more": {"b": 2, "c": 2},
        "name": "web",
        "one": {"a": 1, "b": 3},
        "late": {"a": 1, "b": 1},
        "many": {"a": 1, "b": 1, "c": 2, "d": "web"},
        "key": {"web": 1},
    }


def test_an_anchor_is_valid_only_in_its_document() -> None:
    first, second = documents("a: &x 1\n---\nb: *x\n")

    assert (first.value, first.problem) == ({"a": 1}, None)
    assert str(second.problem) == "the alias *x has no anchor &x"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: !Ref x", 2, "unknown tag !Ref"),
        (
            "a: !!python/object:os.system {}",
            1,
            "unknown tag tag:yaml.org,2002:python/object:os.system",
        ),
        ("a: 1\n{b: c}: 1\n", 2, "a key is a map or a list"),
        ("? [a]\n: 1\n", 1, "a key is a map or a list"),
        ("a: &a [*a]", 1, "the alias *a is inside its own anchor"),
        ("a: *b", 1, "the alias *b has no anchor &b"),
        ("a: 1\n<<: 3\nb: !Ref x", 2, "<< needs a map, or a list of maps"),
    ],
)
def test_a_mistake_that_the_parser_can_read_past_is_recorded(
    text: str, line: int, message: str
) -> None:
    assert document_problem(text) == (line, message)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: [", 3, "did not find expected node content"),
        ("a: 1\nb\n\n\nc: 2\n", 2, "could not find expected ':'"),
        ("a: 1\nb: \x01\n", 2, "YAML does not allow the character U+0001"),
        ("a: é\nb: \x00\n", 2, "YAML does not allow the character U+0000"),
        ('{"a": "\\ud800"}', 1, "found invalid Unicode character escape code"),
        (
            '{"\\ud83d\\ude00": 1,\n"b": "\\udc00"}',
            1,
            "found invalid Unicode character escape code",
        ),
        ('{"a": 1,\n"b" "c"}', 2, "did not find expected ',' or '}'"),
    ],
)
def test_the_error_for_a_mistake_has_its_line(text: str, line: int, message: str) -> None:
    assert problem(text) == (line, message)


@pytest.mark.parametrize("text", ["- " * 100_000, "{a: " * 100_000, '{"a":' * 9999, "[" * 900])
def test_deep_nesting_is_an_error(text: str) -> None:
    assert problem(text) == (1, f"the nesting is more than {DEEPEST} levels deep")


def test_nesting_that_the_parser_itself_refuses_is_an_error() -> None:
    line, message = problem("[" * 100_000)

    assert (line, "nest" in message) == (1, True)


def test_an_alias_bomb_is_an_error() -> None:
    names = [f"x{number}" for number in range(30)]
    bomb = "x0: &x0 [lol, lol]\n" + "".join(
        f"{name}: &{name} [{', '.join(f'*{last}' for _ in range(9))}]\n"
        for last, name in pairwise(names)
    )

    assert problem(bomb) == (7, "the aliases stand for more than 1,000,000 values")


def test_json_is_read_as_json() -> None:
    text = '\n{"a": "\\ud83d\\ude00", "b": [1.0, 2.5, 1e999]}\n\n{\n"c": "\\/"\n}'

    parsed = [(document.line, document.value) for document in documents(text)]

    assert parsed == [(2, {"a": "😀", "b": [1, 2.5, "1e999"]}), (4, {"c": "/"})]


def test_yaml_in_braces_is_read_as_yaml() -> None:
    assert values("{a: b}\n---\n{\"c\": NaN, 'd': 1}\n") == [{"a": "b"}, {"c": "NaN", "d": 1}]


def test_text_that_only_looks_like_json_is_read_as_yaml() -> None:
    assert single_value('{"a": NaN, "b": 1}') == {"a": "NaN", "b": 1}


def test_documents_and_items_know_their_lines() -> None:
    (first, second) = documents(
        "# one\na: 1\n---\n\nitems:\n  - kind: b\n    c: {}\n  - {metadata: 1}\n  - {}\n"
    )

    assert (first.line, second.line) == (2, 5)
    assert sorted(second.lines.values()) == [6, 8]


def test_documents_can_be_empty_or_plain_text() -> None:
    assert values("") == []
    assert values("---\n---\nweb\n---\n- 1\n") == [None, "web", [1]]


def annotations_of(text: str) -> dict[str, object]:
    value = single_value(text)
    assert isinstance(value, dict)
    annotations = value["annotations"]
    assert isinstance(annotations, dict)
    return annotations


def test_annotations_that_are_no_text_stay_as_written() -> None:
    text = """
number: &n 010
annotations:
  octal: 010
  alias: *n
  boolean: yes
  float: &f 1.50
  date: 2024-01-01
  text: web
  quoted: "010"
  "null":
  tagged: !!str 1
port: *f
"""
    values = annotations_of(text)

    assert {key: value for key, value in values.items() if isinstance(value, Unquoted)} == {
        "octal": "010",
        "alias": "010",
        "boolean": "yes",
        "float": "1.50",
        "date": "2024-01-01",
    }
    assert (values["text"], values["quoted"], values["null"]) == ("web", "010", None)
    assert values["tagged"] == "1"
    # Elsewhere the same scalars have the values that kubectl reads.
    assert single_value(text) == {"number": 8, "annotations": values, "port": 1.5}
    assert type(single_value("a: 2024-01-01")) is dict


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("{a: 1, b: 2, a: 3}", ("a",)),
        ('{"a": 1, "b": 2, "a": 3}', ("a",)),
        ("{a: 1, b: 2, a: 3, a: 4}", ("a", "a")),
    ],
)
def test_a_map_knows_the_keys_that_occur_more_than_once(
    text: str, repeated: tuple[str, ...]
) -> None:
    value = single_value(text)

    assert isinstance(value, RepeatedKeys)
    assert value.repeated == repeated


def test_a_key_that_replaces_a_merged_one_is_not_repeated() -> None:
    value = single_value("base: &b {a: 1, c: 2}\nnew: {<<: *b, a: 3}\nold: {a: 3, <<: *b}")

    assert value == {"base": {"a": 1, "c": 2}, "new": {"a": 3, "c": 2}, "old": {"a": 1, "c": 2}}
    assert isinstance(value, dict)
    assert [type(part) for part in value.values()] == [dict, dict, dict]


@pytest.mark.parametrize(
    "text",
    [
        "annotations: {a: x}\nannotations: {b: y, b: z}",
        '{"annotations": {"a": "x"}, "annotations": {"b": "y", "b": "z"}}',
    ],
)
def test_the_second_of_two_maps_of_annotations_knows_of_the_first(text: str) -> None:
    values = annotations_of(text)

    assert isinstance(values, RepeatedKeys)
    assert (dict(values), values.repeated) == ({"b": "z"}, ("b", "annotations"))


def test_annotations_may_be_repeated_by_nothing_or_by_something_odd() -> None:
    assert annotations_of("annotations: {a: x}\nannotations:") == {}
    assert single_value("annotations: {a: x}\nannotations: 3") == {"annotations": 3}
