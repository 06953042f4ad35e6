"""Prints what changes for the Ingresses of another controller, as text and as Markdown."""

from collections.abc import Iterator

from pic.core.visible import visible
from pic.planning.foreign.moving import Move, Moves
from pic.planning.foreign.reading import Found
from pic.planning.foreign.words import Effect
from pic.report.markdown import code

_PAGE = "docs/moving-from-another-controller.md lists every annotation"
_LABELS = {
    Effect.PROTECTS: "protected there, not here",
    Effect.LOST: "no effect here",
    Effect.NONE: "nothing to do",
}


def render_text(moves: Moves) -> str:
    """Return the moves as plain text, one paragraph for each Ingress, and a summary."""
    return "\n\n".join([*map(_paragraph, moves.moves), "\n".join(_summary(moves))])


def render_markdown(moves: Moves) -> str:
    """Return the moves as Markdown. Texts that users choose are printed as code."""
    summary = (f"- {line}" for line in _summary(moves))
    lines = [f"### Moving from {moves.controller.title}", "", *summary]
    for move in moves.moves:
        lines += ["", f"#### {code(f'{move.namespace}/{move.name}')}", "", *_bullets(move)]
    return "\n".join([*lines, ""])


def _paragraph(move: Move) -> str:
    hosts = ", ".join(move.hosts) or "no hosts"
    head = f"Ingress {move.namespace}/{move.name} (class {move.class_name or 'none'}): {hosts}"
    return "\n".join(visible(line) for line in (head, *_lines(move)))


def _lines(move: Move) -> Iterator[str]:
    if move.exposes:
        yield "  ! its hosts become public"
    for found in move.found:
        sign = "!" if found.effect is Effect.PROTECTS else "-"
        there = f" ({found.word.there})" if found.word.there else ""
        yield f"  {sign} {found.key}{there}"
        yield f"      {_said(move, found)}"
    for pattern in move.patterns:
        yield f"  - {pattern} reads like a pattern, but matches only this very text"
    if not (move.found or move.patterns):
        yield "  nothing but its class changes"


def _said(move: Move, found: Found) -> str:
    if found.effect is Effect.PROTECTS and move.guarded:
        return "an annotation of pic decides who may open the hosts"
    if found.effect is Effect.NONE and found.word.effect is not Effect.NONE:
        return "nothing to do: its value asks for nothing"
    return f"{_LABELS[found.effect]}: {found.word.here_in_text}"


def _bullets(move: Move) -> Iterator[str]:
    yield f"Hosts: {code(', '.join(move.hosts))}, class: {code(move.class_name)}"
    yield ""
    if move.exposes:
        yield "- **Its hosts become public.**"
    for found in move.found:
        yield f"- {code(found.key)}: {_said(move, found)}"
    for pattern in move.patterns:
        yield f"- {code(pattern)} reads like a pattern, but matches only this very text"
    if not (move.found or move.patterns):
        yield "- Nothing but its class changes."


def _summary(moves: Moves) -> Iterator[str]:
    title, count = moves.controller.title, len(moves.moves)
    exposed = sum(move.exposes for move in moves.moves)
    losing = sum(any(it.effect is Effect.LOST for it in move.found) for move in moves.moves)
    yield f"{_many(count)} of {title}, {moves.others} others"
    if exposed:
        yield f"{_many(exposed)} would make hosts public that {title} protects"
    if losing:
        yield f"{_many(losing)} with annotations that have no effect here"
    if count:
        yield f"To move them, set spec.ingressClassName to pangolin. {_PAGE}."


def _many(count: int) -> str:
    return f"{count} Ingress" if count == 1 else f"{count} Ingresses"
