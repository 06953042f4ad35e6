"""Checks that each promise of pic names tests that exist."""

import re

import pytest

from dev.workspace import ROOT
from pic.core.held import Verdict
from pic.core.notices import Reason
from pic.settings.fields import FIELDS

PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")


def section(page: str, heading: str) -> str:
    return page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def rows(page: str, heading: str) -> list[list[str]]:
    """Return the cells of the table in a section, without its head."""
    lines = [line for line in section(page, heading).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


PROMISES = rows(PAGE, "The promises")


def exists(name: str) -> bool:
    """Return whether a test exists, such as `tests/docs/test_promises.py::test_x`."""
    path, _, test = name.partition("::")
    file = ROOT / path
    if not path.startswith("tests/") or not test or not file.is_file():
        return False
    text = file.read_text(encoding="utf-8")
    return re.search(rf"^def {re.escape(test)}\(", text, re.MULTILINE) is not None


@pytest.mark.parametrize(
    ("promise", "how", "tests"), PROMISES, ids=[str(number) for number in range(len(PROMISES))]
)
def test_existing_tests_show_a_promise(promise: str, how: str, tests: str) -> None:
    names = re.findall(r"`([^`]+)`", tests)

    assert (promise[-1], how[-1]) == (".", ".")
    assert re.sub(r"`[^`]+`| ", "", tests) == ""
    assert names
    assert [name for name in names if not exists(name)] == []


def test_there_are_promises() -> None:
    assert len(PROMISES) >= 8


def test_a_missing_test_is_detected() -> None:
    module = "tests/docs/test_promises.py"
    names = [f"{module}::test_a_missing_test_is_detected", f"{module}::test_x", module, "x.py::y"]

    assert [exists(name) for name in names] == [True, False, False, False]


@pytest.mark.parametrize("page", [PAGE, OPERATING], ids=["promises", "operating"])
def test_a_page_names_only_settings_that_exist(page: str) -> None:
    named = set(re.findall(r"pic:([a-z][A-Za-z]+)", page))

    assert named - {row.key for row in FIELDS} - {"before"} == set()


def test_the_page_names_only_notices_that_exist() -> None:
    named = set(re.findall(r"\(`([A-Z][A-Za-z]+)`\)", PAGE + section(OPERATING, "Held changes")))

    assert named
    assert named - set(Reason) == set()


def test_the_page_on_operating_explains_each_verdict() -> None:
    verdicts = [cells[0].strip("`") for cells in rows(OPERATING, "Held changes")]

    assert verdicts == list(Verdict)
