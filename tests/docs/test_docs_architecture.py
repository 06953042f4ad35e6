"""The page of the architecture against the linter and the folders, and the links of all pages."""

import re
import tomllib
from pathlib import Path

import pytest

from dev.workspace import ROOT

PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
SOMEWHERE = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")


def test_the_drawing_of_the_layers_is_what_the_linter_holds() -> None:
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    held = whole["tool"]["importlinter"]["contracts"][0]
    drawing = PAGE.partition("`make lint` holds it:")[2].split("```")[1]

    assert (held["type"], [each.strip() for each in drawing.split("→")]) == (
        "layers",
        held["layers"],
    )


def test_every_folder_of_the_last_table_is_there() -> None:
    table = PAGE.partition("## The rest of the repository")[2]
    rows = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    assert [name for name in named if not (ROOT / name).exists()] == []
    assert "pic/watch" in named


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_a_page_links_to_what_is_there(page: Path) -> None:
    links = SOMEWHERE.findall(page.read_text(encoding="utf-8"))

    assert [link for link in links if not (page.parent / link).exists()] == []
