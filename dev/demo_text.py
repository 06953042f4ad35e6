"""What of the engine's output matters to somebody who sees it for the first time. No I/O."""

import re
from collections.abc import Iterator

_KIND = "kubernetes:tunnel.pangolin.io/v1alpha1:PangolinResource"
_DONE = re.compile(r" [-+~]{1,2} .*\b(created|updated|deleted|replaced|imported) \(")
_BEGIN = re.compile(rf" +([-+~]{{1,2}}) {re.escape(_KIND)}: \((\w[\w-]*)\)")
_STEP = re.compile(r" {2,4}[-+~ ]{1,2} ?\S+: \(")
_URN = re.compile(r".*?\[urn=\S*::(\S+?)\]")
_NAMING = re.compile(r" +\[(id|urn|provider)=")
_SPEC = re.compile(r" {8}spec +:")
_TITLES = ("Diagnostics:", "Resources:", "Duration:")


def trimmed(text: str) -> str:
    """Leave out progress, URNs, and of new objects everything but the spec."""
    lines = text.splitlines()
    kept = _diff(lines) if any(_BEGIN.match(line) for line in lines) else _progress(lines)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(kept)).strip("\n")


def _progress(lines: list[str]) -> Iterator[str]:
    for line in lines:
        if _DONE.match(line):
            yield line.replace(_KIND, "PangolinResource").rstrip()
    yield ""
    yield from _sections(lines)


def _diff(lines: list[str]) -> Iterator[str]:
    for block in _blocks(lines):
        begin, urn = _BEGIN.match(block[0]), _URN.match("".join(block[1:]))
        if begin and urn and begin[2] != "refresh":
            yield f"    {begin[1]} PangolinResource {urn[1]} ({begin[2]})"
            body = [line for line in block[1:] if line.strip() and not _NAMING.match(line)]
            yield from _shown(begin[2], body)
    yield ""
    yield from _sections(lines)


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


def _sections(lines: list[str]) -> Iterator[str]:
    """Yield the sections that matter; one ends where the next title begins."""
    wanted = False
    for line in lines:
        if re.match(r"[A-Z]\w*:", line):
            wanted = line.startswith(_TITLES)
        if wanted:
            yield line.rstrip()
