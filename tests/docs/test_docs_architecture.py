"""Checks the architecture page against the linter and the folders, and the links of all pages."""

import re
import tomllib
from pathlib import Path

import pytest

from dev.workspace import ROOT

ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
PAGES = sorted(
    page for folder in ("docs", "deploy", "dev") for page in (ROOT / folder).rglob("*.md")
)
PAGES += sorted(ROOT.glob("*.md"))
LOCAL_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def is_valid(page: Path, path: str, anchor: str) -> bool:
    """Return whether a link on a page leads to an existing file, and to a heading of it."""
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_the_page_draws_the_layers_that_the_linter_enforces() -> None:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contract = config["tool"]["importlinter"]["contracts"][0]
    drawing = ARCHITECTURE.partition("`make lint` holds it:")[2].split("```")[1]

    assert (contract["type"], [layer.strip() for layer in drawing.split("→")]) == (
        "layers",
        contract["layers"],
    )


def test_every_folder_in_the_last_table_exists() -> None:
    table = ARCHITECTURE.partition("## The rest of the repository")[2]
    rows = re.findall(r"^\| (`.+?`) \|", table, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    assert [name for name in names if not (ROOT / name).exists()] == []
    assert "pic/watch" in names


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_every_link_of_a_page_is_valid(page: Path) -> None:
    links = LOCAL_LINK.findall(page.read_text(encoding="utf-8"))

    assert [link for link in links if not is_valid(page, *link)] == []
