"""Prints reviews and plans as Markdown, for a comment on a pull request.

The author of a pull request chooses its hosts, paths and annotations. Every such text is printed as
code, where it is neither markup nor a mention, and nothing in it can end the code early.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import itemgetter

from pic.core import shares
from pic.core.model import Plan
from pic.core.sources import Source
from pic.core.visible import visible
from pic.report import accounts, summary, tables
from pic.report import text as text_report
from pic.report.review import Review
from pic.report.tables import Section

# GitHub accepts 65,536 characters. The rest is room for lines that a pipeline adds.
LIMIT = 64_000
# An annotation may be 256 KiB long. A refusal names up to ten hosts.
MAX_TEXT = 400
MAX_REFUSAL = 4_000
ABSENT = "—"

# Matches text that is safe between backticks, in a table as well.
_TAME = re.compile(r"[^\s`|\\]([^`|\\]*[^\s`|\\])?")
_PLAIN = re.compile(r"[A-Za-z0-9 ]")


def render_review(review: Review) -> str:
    """Return a review. A pipeline finds the comment to replace by the first line."""
    head = [
        f"<!-- pic:review:{review.project}.{review.stack} -->",
        f"### Changes to stack {code(review.stack)}{': refused' if review.refusals else ''}",
        "",
        f"**{summary.counts(review)}**",
    ]
    if review.refusals:
        head += ["", *_refusal(review)]
    if review.changes.held:
        head += ["", *_held(review)]
    sections = [*tables.review_sections(review), *_sources(review.sources, review.all_sources)]
    foot = ["", *_line_of(review.sources), code(summary.footer(review))]
    return _document(head, sections, foot)


def render_plan(plan: Plan, *, everything: bool = False) -> str:
    """Return a plan.

    Args:
        plan: The plan.
        everything: Whether to show what became of each Ingress.
    """
    head = ["### Plan", "", f"**{text_report.counts(plan)}**"]
    if plan.sources:
        head += ["", code(accounts.line(plan.sources))]
    sections = [*tables.plan_sections(plan), *_sources(plan.sources, everything)]
    return _document(head, sections, [])


def _line_of(sources: Sequence[Source]) -> list[str]:
    return [code(accounts.line(sources)), ""] if sources else []


def _sources(sources: Sequence[Source], everything: bool) -> list[Section]:  # noqa: FBT001 - one use
    return [accounts.section(sources)] if everything and sources else []


def _refusal(review: Review) -> Iterator[str]:
    yield "> [!CAUTION]"
    yield f"> The guard refuses these changes (digest {code(review.changes.digest)}):"
    yield ">"
    for refusal in review.refusals:
        yield f"> - {code(refusal.message, MAX_REFUSAL)}"
    yield ">"
    if review.stale_acknowledgement:
        yield f"> The acknowledgement {code(review.stale_acknowledgement)} is for other changes."
        yield ">"
    if review.acknowledgeable:
        yield "> If this is intended, acknowledge exactly these changes: set"
        yield f"> {code(review.variable)} in the environment of this check, and deploy with:"
        yield ">"
        # The command needs no escaping: a stack name has only letters, digits, "-", "_" and ".".
        yield "> ```sh"
        yield f"> {review.command}"
        yield "> ```"
    else:
        yield "> An acknowledgement does not help here."


def _held(review: Review) -> Iterator[str]:
    yield "> [!WARNING]"
    yield "> Some changes are held. Everything else is not affected. To let them through:"
    yield ">"
    yield "> ```sh"
    yield f"> {review.held_command}"
    yield "> ```"


def code(text: str, limit: int = MAX_TEXT) -> str:
    """Return a text as code that is safe in a paragraph, a list and a table.

    Args:
        text: Any text.
        limit: How many characters of it to show.
    """
    shown = visible(text)
    if not _TAME.fullmatch(shown):
        # Each character may become an entity of up to 18 characters.
        limit = MAX_TEXT
    if len(shown) > limit:
        shown = f"{shown[:limit]}… ({len(shown):,} characters)"
    if _TAME.fullmatch(shown):
        return f"`{shown}`"
    return f"<code>{''.join(map(_entity, shown))}</code>" if shown else ABSENT


def _entity(char: str) -> str:
    if char == "@":
        # GitHub turns an e-mail address into a link even in code, unless the @ has its own element.
        return "<span>&#64;</span>"
    return char if _PLAIN.match(char) else f"&#{ord(char)};"


def _length(text: str) -> int:
    """Return a length in UTF-16 units; no Git host counts more characters than that."""
    # Two bytes are one unit. The name of the codec has the byte order, so it writes no mark.
    return len(text.encode("utf-16-le")) // 2


@dataclass(frozen=True, slots=True)
class _Block:
    """A section as lines of Markdown."""

    head: tuple[str, ...]
    rows: tuple[str, ...]
    namespaces: tuple[str, ...]

    def lines(self, shown: Collection[int]) -> Iterator[str]:
        """Yield the lines of the section with only these rows, which are given by their index."""
        # Without rows the title stays, and the header of the table goes.
        yield from self.head[: None if shown else 2]
        yield from (row for index, row in enumerate(self.rows) if index in shown)
        if len(shown) < len(self.rows):
            yield ""
            yield f"_{len(self.rows) - len(shown):,} of {len(self.rows):,} rows are not shown._"


def _document(head: Sequence[str], sections: Iterable[Section], foot: Sequence[str]) -> str:
    """Return the whole text. If it is too long, leave out the last rows and say so."""
    blocks = [_block(section) for section in sections]
    whole = _text(head, blocks, [range(len(block.rows)) for block in blocks], foot)
    if _length(whole) < LIMIT:
        return whole
    total = sum(len(block.rows) for block in blocks)
    # The longest possible text around the rows: each section says that rows are left out.
    trimmed_head = [*head, "", _trimmed(total, total)]
    around = _length(_text(trimmed_head, blocks, [()] * len(blocks), foot))
    around += sum(_length("\n".join(block.head)) for block in blocks)
    shown = _fitting(blocks, LIMIT - 1 - around)
    hidden = total - sum(map(len, shown))
    return _text([*head, "", _trimmed(hidden, total)], blocks, shown, foot)


def _trimmed(hidden: int, total: int) -> str:
    return (
        f"**Trimmed: {hidden:,} of {total:,} rows are not shown, the least important ones of each"
        " namespace.** `--output html` and `--output json` show all rows."
    )


def _fitting(blocks: Sequence[_Block], room: int) -> list[set[int]]:
    """Return which rows of each block fit, up to the first that does not.

    The namespaces take turns, so that the rows of one do not push out those of another.
    """
    rows = [
        (block.namespaces[index], number, index)
        for number, block in enumerate(blocks)
        for index in range(len(block.rows))
    ]
    turns = list(shares.in_turns(rows, itemgetter(0)))
    # Every row also takes a line break.
    sizes = accumulate(_length(blocks[number].rows[index]) + 1 for _, number, index in turns)
    fitting = turns[: sum(size <= room for size in sizes)]
    shown: list[set[int]] = [set() for _ in blocks]
    for _, number, index in fitting:
        shown[number].add(index)
    return shown


def _text(
    head: Sequence[str],
    blocks: Sequence[_Block],
    shown: Sequence[Collection[int]],
    foot: Sequence[str],
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
        section.namespaces,
    )


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
