"""Checks that the messages that the pages quote are messages of pic."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from dev.workspace import ROOT

OPERATING = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
# Pulumi prints these messages, not pic.
OF_PULUMI = {"the stack is currently locked by 1 lock(s)", "hook … was not registered"}


def message_cells() -> Iterator[str]:
    """Yield the first cell of each row in the tables of refusals and errors."""
    for heading in ("Refusals", "Errors"):
        section = OPERATING.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
        yield from re.findall(r"^\| (\*.+?) \|", section, re.MULTILINE)


def texts(module: Path) -> Iterator[str]:
    """Yield the strings of a module, with … in place of each value."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
        elif isinstance(node, ast.JoinedStr):
            parts = (part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
            yield "".join(map(str, parts))


SOURCE = "\n".join(text for module in (ROOT / "pic").rglob("*.py") for text in texts(module))
MESSAGES = [message for cell in message_cells() for message in re.findall(r"\*(.+?)\*", cell)]


def fragments(message: str) -> list[str]:
    """Return the fixed parts of a quoted message."""
    parts = re.split(r"…|\b(?:[NMXY]|hosts|DNS records|pihole|exposes)\b|https://|\d+", message)
    return [part.strip() for part in parts if len(part.strip()) > 1]


@pytest.mark.parametrize("message", [text for text in MESSAGES if text not in OF_PULUMI])
def test_a_quoted_message_is_one_of_pic(message: str) -> None:
    missing = [part for part in fragments(message) if part not in SOURCE]

    assert fragments(message)
    assert missing == []


def test_a_message_that_pic_does_not_have_is_detected() -> None:
    assert any(part not in SOURCE for part in fragments("N of M hosts went on holiday"))
