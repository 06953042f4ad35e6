"""Checks the page on Pi-hole: its table of requirements names tests and settings that exist."""

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


def exists(name: str) -> bool:
    """Return whether a test or a scenario exists."""
    path, _, test = name.partition("::")
    file = ROOT / path
    if not file.is_file():
        return False
    definition = re.search(
        rf"^def {re.escape(test)}\(", file.read_text(encoding="utf-8"), re.MULTILINE
    )
    return definition is not None if test else path.startswith("tests/scenarios/")


def test_the_table_lists_every_requirement_in_order() -> None:
    assert [requirement for requirement, _, _ in ROWS] == REQUIREMENTS


@pytest.mark.parametrize(("requirement", "how", "tests"), ROWS, ids=[row[0] for row in ROWS])
def test_existing_tests_prove_a_requirement(requirement: str, how: str, tests: str) -> None:
    names = re.findall(r"`([^`]+)`", tests)

    assert re.sub(r"`[^`]+`| ", "", tests) == "", requirement
    assert how.endswith("."), requirement
    assert names, requirement
    assert [name for name in names if not exists(name)] == [], requirement


def test_a_missing_test_is_detected() -> None:
    module = "tests/docs/test_docs_pihole.py"
    names = [f"{module}::test_a_missing_test_is_detected", f"{module}::test_x", "tests/x.py::y"]

    assert [exists(name) for name in names] == [True, False, False]


def test_every_test_that_the_page_names_exists() -> None:
    names = re.findall(r"`(tests/[^`]+(?:::|\.yaml)[^`]*)`", PAGE)

    assert [name for name in names if not exists(name)] == []


def test_the_page_names_only_settings_that_exist() -> None:
    settings = {row.key for row in FIELDS}

    assert set(re.findall(r"pic:([A-Za-z]+)", PAGE)) - settings == set()
    assert f"pic:piholeApi: {PiholeApi.DNS_LOCAL}" in PAGE
