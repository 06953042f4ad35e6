"""What of the engine's output matters to somebody who sees it for the first time. No I/O."""

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
_TOLD = re.compile(r" {4}(warning: )?[A-Z]\w+: ")


def trimmed(text: str, told: Collection[str] = ()) -> str:
    """Leave out progress, names, metadata of new objects, and diagnostics that were told before."""
    lines = text.splitlines()
    steps = _diff(lines) if any(_BEGIN.match(line) for line in lines) else _progress(lines)
    parts = [
        [*steps],
        _untold(_section(lines, "Diagnostics:"), told),
        _section(lines, "Resources:"),
        _section(lines, "Duration:"),
    ]
    return "\n\n".join("\n".join(part) for part in parts if part)


def diagnostics(text: str) -> list[str]:
    """Return what is told of this run, errors left out."""
    found = _section(text.splitlines(), "Diagnostics:")
    return [line for line in found if _TOLD.match(line)]


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
            yield from _shown(begin[2], body)


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of each resource, the one that names its operation first."""
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


def _shown(operation: str, body: list[str]) -> list[str]:
    """Return the whole change of an update, the spec of a new object, and nothing of the others."""
    if operation == "create":
        start = next(at for at, line in enumerate(body) if _SPEC.match(line))
        return body[start:]
    return body if operation == "update" else []


def _section(lines: list[str], title: str) -> list[str]:
    """Return the section with this title; it ends where the next title begins."""
    found: list[str] = []
    for line in lines:
        if line.startswith(title) or (found and line.startswith(" ")):
            found.append(line.rstrip())
        elif found and _TITLE.match(line):
            break
    return found


def _untold(section: list[str], told: Collection[str]) -> list[str]:
    """Return the section without what was told before; nothing where nothing is left."""
    left = [line for line in section if line not in told]
    return left if any(line.startswith("    ") for line in left) else []
