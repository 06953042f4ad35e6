"""Checks that each page that lists exit codes lists all of them."""

import re
from collections.abc import Iterator

import pytest

from dev.workspace import ROOT
from pic.core.errors import EXIT_CODES

# A table whose first column has codes, such as `| exit code | meaning |`.
TABLE = re.compile(r"^\| (?:exit )?code \|.*\n\|[-| ]+\|\n((?:\|.*\n)+)", re.MULTILINE)
PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "deploy" / "ci").glob("*.md")]


def exit_codes(page: str) -> Iterator[set[int]]:
    """Yield the codes of each table of exit codes; a row may list several."""
    for table in TABLE.findall(page):
        cells = re.findall(r"^\| ([\d, ]+) \|", table, re.MULTILINE)
        yield {int(code) for cell in cells for code in cell.split(",")}


LISTS = {
    f"{path.relative_to(ROOT)} {number}": codes
    for path in PAGES
    for number, codes in enumerate(exit_codes(path.read_text(encoding="utf-8")), 1)
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_a_page_lists_every_exit_code(name: str) -> None:
    assert LISTS[name] == set(EXIT_CODES)


@pytest.mark.parametrize(
    "page", ["README.md", "docs/operating.md", "docs/reviewing.md", "deploy/ci/README.md"]
)
def test_the_pages_with_exit_codes_are_checked(page: str) -> None:
    assert f"{page} 1" in LISTS


def test_a_missing_code_is_detected() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8").replace("| 130 |", "| 131 |")

    assert list(exit_codes(page)) != [set(EXIT_CODES)]
