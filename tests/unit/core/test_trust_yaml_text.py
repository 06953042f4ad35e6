"""A text that does not parse is reported by problem, line and column, never by its text."""

import traceback

import pytest

from pic.core import yaml_text
from pic.core.yaml_text import YamlError
from tests.support.planted import MISPLACED, leaks


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (f"token: {MISPLACED}: x", "line 2, column 15: mapping values are not allowed here"),
        (f"{MISPLACED}\nb: 1", "line 2, column 1: could not find expected ':'"),
        (f"token: *{MISPLACED}", "line 2, column 8: found undefined alias …"),
        (
            f"token: !{MISPLACED} x",
            "line 2, column 8: could not determine a constructor for the tag …",
        ),
        (
            f"token: !a'{MISPLACED}' x",
            "line 2, column 8: could not determine a constructor for the tag …",
        ),
        (f"token: !!int {MISPLACED}", "line 2, column 8: the value does not fit its type"),
        (f"token: !!bool {MISPLACED}", "line 2, column 8: the value does not fit its type"),
        (f"token: !!timestamp {MISPLACED}", "line 2, column 8: the value does not fit its type"),
        ("token: 2026-13-01", "line 2, column 8: the value does not fit its type"),
        (f"token: @{MISPLACED}", "line 2, column 8: found character … that cannot start any token"),
        (f'token: "\\{MISPLACED}"', "line 2, column 10: found unknown escape character …"),
        (f"token: '{MISPLACED}", "line 3, column 1: found unexpected end of stream"),
        (f"token: [{MISPLACED}", "line 3, column 1: expected ',' or ']', but got '<stream end>'"),
        (f"token: {MISPLACED}\x01", "line 2, column 15: YAML does not allow this character"),
        (f"? [{MISPLACED}]\n: 1", "line 2, column 3: found unhashable key"),
        (f"---\n{MISPLACED}", "line 2, column 1: but found another document"),
    ],
)
def test_14_only_problem_and_place_are_told(line: str, problem: str) -> None:
    with pytest.raises(YamlError) as raised:
        yaml_text.parse(f"a: 1\n{line}\n")

    assert str(raised.value) == problem
    assert leaks("".join(traceback.format_exception(raised.value))) == []
