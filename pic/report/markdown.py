"""Reviews and plans as Markdown, for a comment in a pull request. No I/O.

Whoever opens a pull request decides what hosts, paths and annotations say. So each such text is in
code, where it is neither markup nor a mention, and nothing of it can end the code early.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from pic.core.model import Plan
from pic.core.visible import visible
from pic.report import tables
from pic.report import text as text_report
from pic.report.review import Review
from pic.report.tables import Section

# GitHub takes 65,536 characters; the rest is for whoever adds a line to the comment.
LIMIT = 64_000
# Of one text; a whole one may be as long as an annotation, 256 KiB. Reasons name up to ten hosts.
LONGEST = 400
LONGEST_REASON = 4_000
ABSENT = "—"

# What stands between backticks as it is, in a table as well.
_TAME = re.compile(r"[^\s`|\\]([^`|\\]*[^\s`|\\])?")
_PLAIN = re.compile(r"[A-Za-z0-9 ]")


def review(value: Review) -> str:
    """Return a review; its first line is a mark by which a later one can take its place."""
    head = [
        f"<!-- pic:review:{value.project}.{value.stack} -->",
        f"### Exposure of {code(value.stack)}{': refused' if value.refusals else ''}",
        "",
        f"**{tables.counts(value)}**",
    ]
    if value.refusals:
        head += ["", *_refusal(value)]
    return _document(head, tables.of_review(value), ["", code(tables.foot(value))])


def plan(value: Plan) -> str:
    """Return a plan."""
    head = ["### Plan", "", f"**{text_report.counts(value)}**"]
    return _document(head, tables.of_plan(value), [])


def _refusal(value: Review) -> Iterator[str]:
    yield "> [!CAUTION]"
    yield f"> The guard refuses this (digest {code(value.changes.digest)}):"
    yield ">"
    for refusal in value.refusals:
        yield f"> - {code(refusal.message, LONGEST_REASON)}"
    yield ">"
    if value.stale_acknowledgement:
        yield f"> The acknowledgement {code(value.stale_acknowledgement)} is for other changes."
        yield ">"
    if value.acknowledgeable:
        yield "> If this is intended, let exactly these changes through, this check with"
        yield f"> {code(value.variable)} in its environment, and the deployment with:"
        yield ">"
        yield "> ```sh"
        yield f"> {value.command}"
        yield "> ```"
    else:
        yield "> No acknowledgement lets this through."


def code(text: str, longest: int = LONGEST) -> str:
    """Return a text as code, safe in a paragraph, a list and a table."""
    shown = visible(text)
    if not _TAME.fullmatch(shown):
        # Escaped it is up to 18 times as long.
        longest = LONGEST
    if len(shown) > longest:
        shown = f"{shown[:longest]}… ({len(shown):,} characters)"
    if _TAME.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{''.join(map(_entity, shown))}</code>" if shown else ABSENT


def _entity(char: str) -> str:
    if char == "@":
        # Alone in its element: GitHub makes links of what looks like an address, in code too.
        return "<span>&#64;</span>"
    return char if _PLAIN.match(char) else f"&#{ord(char)};"


def _length(text: str) -> int:
    """Return a length in UTF-16 units: never less than the characters that any host counts."""
    return len(text.encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class _Block:
    """A section with its rows as lines."""

    head: tuple[str, ...]
    rows: tuple[str, ...]

    def lines(self, shown: int) -> Iterator[str]:
        """Yield its lines with only the first rows."""
        yield from self.head[: None if shown else 2]
        yield from self.rows[:shown]
        if shown < len(self.rows):
            yield ""
            yield f"_{len(self.rows) - shown:,} of {len(self.rows):,} left out here._"


def _document(head: Sequence[str], found: Iterable[Section], foot: Sequence[str]) -> str:
    """Put a text together; where it is too long, the last rows are left out, and that is told."""
    blocks = [_block(each) for each in found]
    whole = _text(head, blocks, [len(each.rows) for each in blocks], foot)
    if _length(whole) < LIMIT:
        return whole
    total = sum(len(each.rows) for each in blocks)
    told = [*head, "", _trimmed(total, total)]
    # The longest text around the rows: every section with its line about what is left out.
    around = _length(_text(told, blocks, [0] * len(blocks), foot))
    around += sum(_length("\n".join(each.head)) for each in blocks)
    shown = _fitting(blocks, LIMIT - 1 - around)
    return _text([*head, "", _trimmed(total - sum(shown), total)], blocks, shown, foot)


def _trimmed(left: int, total: int) -> str:
    return (
        f"**Trimmed: {left:,} of {total:,} rows are left out, the least important first.**"
        " `--output html` and `--output json` have all of them."
    )


def _fitting(blocks: Sequence[_Block], room: int) -> list[int]:
    """Return how many rows of each block fit, in order, up to the first that does not."""
    used = accumulate(_length(row) + 1 for block in blocks for row in block.rows)
    left = sum(size <= room for size in used)
    shown = []
    for block in blocks:
        shown.append(min(left, len(block.rows)))
        left -= shown[-1]
    return shown


def _text(
    head: Sequence[str], blocks: Sequence[_Block], shown: Sequence[int], foot: Sequence[str]
) -> str:
    lines = list(head)
    for block, rows in zip(blocks, shown, strict=True):
        lines += block.lines(rows)
    return "\n".join([*lines, *foot, ""])


def _block(section: Section) -> _Block:
    titles = [column.title for column in section.columns]
    return _Block(
        (
            "",
            f"#### {section.title} ({len(section.rows):,})",
            "",
            _line(titles),
            _line(["---"] * len(titles)),
        ),
        tuple(
            _line(
                [
                    ABSENT if cell is None else code(cell) if column.literal else cell
                    for cell, column in zip(row, section.columns, strict=True)
                ]
            )
            for row in section.rows
        ),
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
