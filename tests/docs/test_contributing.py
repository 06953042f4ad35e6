"""The tables of CONTRIBUTING.md: every path that they name exists."""

import re

from dev.workspace import ROOT

PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ")]
# What a newcomer wants to add, as the first table has it.
TASKS = (
    "annotation",
    "setting",
    "notice",
    "target",
    "source kind",
    "output format",
    "history backend",
    "guard limit",
    "retry",
    "metric",
    "CRD generation",
    "verb",
)


def paths(text: str) -> list[str]:
    """Return what stands between backticks and looks like a path of the repository."""
    quoted = re.findall(r"`([^`]+)`", text)
    return [name for name in quoted if "/" in name or name.endswith((".py", ".md"))]


def test_every_path_in_the_tables_exists() -> None:
    named = [path for row in ROWS for path in paths(row)]

    assert [path for path in named if not (ROOT / path).exists()] == []
    assert len(named) > len(TASKS)


def test_each_task_of_a_newcomer_has_a_row_with_its_place_and_its_proof() -> None:
    table = PAGE.partition("## Twelve changes")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in table.splitlines() if "**" in line]

    assert [re.findall(r"\*\*(.+?)\*\*", row[0])[0] for row in rows] == list(TASKS)
    assert all(paths(row[1]) and paths(row[2]) for row in rows)


def test_every_name_in_the_tables_is_in_one_of_the_files_beside_it() -> None:
    for row in ROWS:
        code = "".join(
            (ROOT / path).read_text(encoding="utf-8")
            for path in paths(row)
            if path.endswith(".py") and (ROOT / path).is_file()
        )
        names = re.findall(r"`([A-Z]\w+)`", row)
        if code:
            assert [name for name in names if name not in code] == [], row
