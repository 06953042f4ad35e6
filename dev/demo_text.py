"""Shortens the output of the engine to what a first-time reader needs. No I/O."""

import re
from collections.abc import Collection, Iterator

_KIND = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
_DONE = re.compile(r" [-+~]{1,2} .*\b(created|updated|deleted|replaced|imported) \(")
_BEGIN = re.compile(rf" +([-+~]{{1,2}}) {re.escape(_KIND)}: \((\w[\w-]*)\)")
_STEP = re.compile(r" {2,4}[-+~ ]{1,2} ?\S+: \(")
_URN = re.compile(r".*?\[urn=\S*::(\S+?)\]")
_NAMING = re.compile(r" +\[(id|urn|provider)=")
_SPEC = re.compile(r" {8}spec +:")
_TITLE = re.compile(r"[A-Z]\w*:")
_MESSAGE = re.compile(r" {4}(warning: )?[A-Z]\w+: ")


def summary(text: str, shown: Collection[str] = ()) -> str:
    """Drop progress, URNs, the metadata of new objects, and messages that were shown before."""
    lines = text.splitlines()
    steps = _diff(lines) if any(_BEGIN.match(line) for line in lines) else _progress(lines)
    parts = [
        [*steps],
        _without_shown(_section(lines, "Diagnostics:"), shown),
        _section(lines, "Resources:"),
        _section(lines, "Duration:"),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def diagnostics(text: str) -> list[str]:
    """Return the messages of a run, without errors."""
    section = _section(text.splitlines(), "Diagnostics:")
    return [line for line in section if _MESSAGE.match(line)]


def _progress(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if _DONE.match(line):
            yield line.replace(_KIND, "PangolinResource").rstrip()


def _diff(lines: list[str]) -> Iterator[str]:
    for block in _blocks(lines):
        begin, urn = _BEGIN.match(block[0]), _URN.match("".join(block[1:]))
        if begin and urn and begin[2] != "refresh":
            yield f"    {begin[1]} PangolinResource {urn[1]} ({begin[2]})"
            body = [line for line in block[1:] if line.strip() and not _NAMING.match(line)]
            yield from _details(begin[2], body)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each resource; the first one names its operation."""
    block: list[str] = []
    for line in lines:
        if not line.startswith(" ") or _STEP.match(line):
            if block:
                yield block
            block = [line] if _BEGIN.match(line) else []
        elif block:
            block.append(line)
    if block:
        yield block


def _details(operation: str, body: list[str]) -> list[str]:
    """Return the whole change of an update, the spec of a new object, and nothing for others."""
    if operation == "create":
        start = next(at for at, line in enumerate(body) if _SPEC.match(line))
        return body[start:]
    return body if operation == "update" else []


def _section(lines: list[str], title: str) -> list[str]:
    """Return the section with this title; it ends where the next title begins."""
    section: list[str] = []
    for line in lines:
        if line.startswith(title) or (section and line.startswith(" ")):
            section.append(line.rstrip())
        elif section and _TITLE.match(line):
            break
    return section


def _without_shown(section: list[str], shown: Collection[str]) -> list[str]:
    """Return the section without the lines shown before; empty if no message remains."""
    rest = [line for line in section if line not in shown]
    return rest if any(line.startswith("    ") for line in rest) else []
