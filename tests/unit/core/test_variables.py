"""Tests how variables that no tool has filled in are recognised."""

import pytest

from pic.core.variables import not_filled_in, variable_in


@pytest.mark.parametrize(
    "variable",
    [
        "${HOST}",
        "${HOST:-x}",
        "$HOST",
        "$host",
        "$(HOST)",
        "<your-host>",
        "{{ .Values.host }}",
        "${",
    ],
)
def test_a_variable_is_found_in_any_place(variable: str) -> None:
    assert variable_in(variable) == variable
    assert variable_in(f"app-{variable}") == variable
    assert not_filled_in(f"a.{variable}") == f"variable not filled in: {variable}"


@pytest.mark.parametrize(
    "text",
    ["", "a.b", "$", "$1", "5$", "g$h", "<", "a<b", "< x>", "(a)", "(?P<a>x)", "/a(/|$)(.*)"],
)
def test_other_text_has_no_variable(text: str) -> None:
    assert not variable_in(text)
    assert not not_filled_in(text)


def test_a_long_variable_is_cut() -> None:
    assert variable_in("${" + "a" * 500 + "}") == "${" + "a" * 78


def test_a_variable_in_capitals_may_follow_a_letter() -> None:
    assert variable_in("app$ENV.example") == "$ENV"
