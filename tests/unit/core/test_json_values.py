"""Checked access to parsed JSON and YAML."""

import pytest

from pic.core import json_values
from pic.core.json_values import MalformedError


def test_an_absent_map_or_list_is_empty() -> None:
    assert json_values.mapping(None, "spec") == {}
    assert json_values.sequence(None, "spec.rules") == ()
    assert json_values.string_map(None, "metadata.labels") == {}


def test_a_map_and_a_list_are_returned_as_they_are() -> None:
    assert json_values.mapping({"a": [1]}, "spec") == {"a": [1]}
    assert json_values.sequence([1, "b"], "spec.rules") == [1, "b"]


@pytest.mark.parametrize(
    ("value", "kind"),
    [("x", "text"), (True, "a boolean"), (7, "a number"), ([], "a list"), ({}, "a map")],
)
def test_another_type_is_an_error_that_names_the_field(value: object, kind: str) -> None:
    if kind != "a map":
        with pytest.raises(MalformedError, match=f"^spec is {kind}, not a map$"):
            json_values.mapping(value, "spec")
    if kind != "a list":
        with pytest.raises(MalformedError, match=f"^spec.rules is {kind}, not a list$"):
            json_values.sequence(value, "spec.rules")


def test_the_keys_and_values_of_a_map_of_texts_become_text() -> None:
    labels = {"a": None, 1: True, "b": "x"}

    assert json_values.string_map(labels, "metadata.labels") == {"a": "", "1": "true", "b": "x"}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, ""),
        ("x", "x"),
        (True, "true"),
        (False, "false"),
        (7, "7"),
        (1.5, "1.5"),
        ([], "(a list)"),
        ({}, "(a map)"),
    ],
)
def test_a_scalar_becomes_the_text_that_stands_in_yaml(value: object, expected: str) -> None:
    assert json_values.text(value) == expected


def test_a_number_too_long_for_python_to_print_still_becomes_text() -> None:
    assert json_values.text(10**5000) == "(a number)"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (80, 80),
        (80.0, 80),
        (-1, -1),
        (2**31 - 1, 2**31 - 1),
        (2**31, None),
        (-(2**31) - 1, None),
        (0.5, None),
        (float("inf"), None),
        (float("nan"), None),
        (True, None),
        ("80", None),
        (None, None),
    ],
)
def test_an_integer_is_whole_and_has_32_bits(value: object, expected: int | None) -> None:
    assert json_values.integer(value) == expected
