"""The page of the Pi-hole target: its table of requirements against the tests that there are."""

import re

import pytest

from dev.workspace import ROOT
from pic.settings.fields import FIELDS
from pic.settings.parse import PiholeApi

PAGE = (ROOT / "docs" / "pihole.md").read_text(encoding="utf-8")
REQUIREMENTS = [
    *(f"FR-{number}" for number in range(1, 20)),
    *(f"NFR-{number}" for number in range(1, 6)),
    *("4.2", "5.2", "6.4", "8.1", "8.2", "8.3", "9.1", "9.2", "10.1", "10.2"),
]
ROWS = re.findall(r"^\| (N?FR-\d+|\d+\.\d) \| (.+) \| (.+) \|$", PAGE, re.MULTILINE)


def exists(named: str) -> bool:
    """Whether there is such a test, or such a scenario."""
    path, _, test = named.partition("::")
    file = ROOT / path
    if not file.is_file():
        return False
    defined = re.search(
        rf"^def {re.escape(test)}\(", file.read_text(encoding="utf-8"), re.MULTILINE
    )
    return defined is not None if test else path.startswith("tests/scenarios/")


def test_every_requirement_has_a_row_in_their_order() -> None:
    assert [requirement for requirement, _, _ in ROWS] == REQUIREMENTS


@pytest.mark.parametrize(("requirement", "how", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_a_requirement_is_shown_by_tests_that_exist(requirement: str, how: str, tests: str) -> None:
    named = re.findall(r"`([^`]+)`", tests)

    assert re.sub(r"`[^`]+`| ", "", tests) == "", requirement
    assert how.endswith("."), requirement
    assert named, requirement
    assert [name for name in named if not exists(name)] == [], requirement


def test_a_test_that_is_not_there_is_noticed() -> None:
    here = "tests/docs/test_docs_pihole.py"
    there = "test_a_test_that_is_not_there_is_noticed"

    assert [exists(f"{here}::{there}"), exists(f"{here}::test_gone"), exists("tests/x.py::y")] == [
        *(True, False, False)
    ]


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`(tests/[^`]+(?:::|\.yaml)[^`]*)`", PAGE)

    assert [name for name in named if not exists(name)] == []


def test_the_page_names_settings_that_exist() -> None:
    known = {row.key for row in FIELDS}

    assert set(re.findall(r"pic:([A-Za-z]+)", PAGE)) - known == set()
    assert f"pic:piholeApi: {PiholeApi.DNS_LOCAL}" in PAGE
