"""Prints a review as one HTML page without scripts and without other files."""

from collections.abc import Iterator
from html import escape

from pic.core.visible import visible
from pic.report import accounts, summary, tables
from pic.report.review import Review
from pic.report.tables import Column, Section

ABSENT = "—"

# The author of a pull request chooses hosts and annotations. This policy lets the page load and run
# nothing, whatever they contain. Only the style sheet inside the page is allowed.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """\
:root { color-scheme: light dark; --line: #8884; --bad: #c62828; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.counts { font-weight: 600; } .foot { opacity: .7; font-size: .85rem; margin-top: 2rem; }
.refused { border: 1px solid var(--bad); border-left-width: 6px; padding: .2rem 1rem; }
.refused strong { color: var(--bad); }
.held { border: 1px solid var(--line); border-left-width: 6px; padding: .2rem 1rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .8rem .3rem 0; text-align: left; }
th { font-weight: 600; } td { vertical-align: top; }
code, pre { font: .87em/1.5 ui-monospace, monospace; }
code, pre { overflow-wrap: anywhere; white-space: pre-wrap; }"""


def render_review(review: Review) -> str:
    """Return a review as a page with all its rows."""
    return "\n".join([*_lines(review), ""])


def _lines(review: Review) -> Iterator[str]:
    title = f"Changes to stack {review.stack}{': refused' if review.refusals else ''}"
    yield "<!doctype html>"
    yield '<html lang="en">'
    yield '<meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{_safe(title)}</title>"
    yield f"<style>\n{_STYLE}\n</style>"
    yield f"<h1>{_safe(title)}</h1>"
    yield f'<p class="counts">{_safe(summary.counts(review))}</p>'
    if review.refusals:
        yield from _refusal(review)
    if review.changes.held:
        yield from _held(review)
    for section in tables.review_sections(review):
        yield from _section(section)
    if review.sources:
        if review.all_sources:
            yield from _section(accounts.section(review.sources))
        yield f'<p class="foot">{_safe(accounts.line(review.sources))}</p>'
    yield f'<p class="foot">{_safe(summary.footer(review))}</p>'
    yield "</html>"


def _refusal(review: Review) -> Iterator[str]:
    digest = _code(review.changes.digest)
    yield '<div class="refused">'
    yield f"<p><strong>The guard refuses these changes</strong> (digest {digest}):</p>"
    yield "<ul>"
    for refusal in review.refusals:
        yield f"<li>{_safe(refusal.message)}</li>"
    yield "</ul>"
    if review.stale_acknowledgement:
        stale = _code(review.stale_acknowledgement)
        yield f"<p>The acknowledgement {stale} is for other changes.</p>"
    if review.acknowledgeable:
        yield "<p>If this is intended, acknowledge exactly these changes: set"
        yield f"{_code(review.variable)} in the environment of this check, and deploy with:</p>"
        yield f"<pre>{_safe(review.command)}</pre>"
    else:
        yield "<p>An acknowledgement does not help here.</p>"
    yield "</div>"


def _held(review: Review) -> Iterator[str]:
    yield '<div class="held">'
    yield "<p>Some changes are held. Everything else is not affected. To let them through:</p>"
    yield f"<pre>{_safe(review.held_command)}</pre>"
    yield "</div>"


def _section(section: Section) -> Iterator[str]:
    yield f"<h2>{_safe(section.title)} ({len(section.rows):,})</h2>"
    yield '<div class="scroll"><table>'
    titles = "".join(f"<th>{_safe(column.title)}</th>" for column in section.columns)
    yield f"<thead><tr>{titles}</tr></thead>"
    yield "<tbody>"
    for row in section.rows:
        cells = zip(row, section.columns, strict=True)
        yield f"<tr>{''.join(f'<td>{_cell(cell, column)}</td>' for cell, column in cells)}</tr>"
    yield "</tbody>"
    yield "</table></div>"


def _cell(cell: str | None, column: Column) -> str:
    if cell is None:
        return ABSENT
    return _code(cell) if column.literal else _safe(cell)


def _code(text: str) -> str:
    return f"<code>{_safe(text)}</code>"


def _safe(text: str) -> str:
    return escape(visible(text))
