"""Decodes the bytes of manifest files. No I/O.

Some editors and shells write a byte order mark at the start of a file. Where such files are joined,
marks are between the documents as well, and YAML allows none inside a document.
"""

import codecs
import re

from pic.core.errors import ManifestError

MARK = "\ufeff"
# At the start of the text, in the lines that begin a document, and before a separator or an object
# of JSON. Elsewhere a mark is part of a value.
_MARKS = re.compile(
    rf"(?m)(?P<before>\A|^(?:---|\.\.\.)[^\n]*\n(?:[ \t]*(?:#[^\n]*)?\r?\n)*){MARK}+"
    rf"|^{MARK}+(?=---|\{{)"
)
_OTHERS = (
    # The marks of UTF-32 begin like those of UTF-16, so they come first.
    ("UTF-32", (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    ("UTF-16", (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)


def decoded(content: str | bytes, source: str) -> str:
    """Return the text of a file without byte order marks between its documents.

    Raises:
        ManifestError: The text is not UTF-8.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    problem = "the file is not UTF-8 text"
    if encoding := _other_encoding(data):
        problem = f"{problem}: it is {encoding}; save it as UTF-8"
        raise ManifestError(f"{source}:1", problem)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(f"{source}:{line}", problem) from error
    return without_marks(text) if MARK in text else text


def _other_encoding(data: bytes) -> str:
    """Return the encoding of a text that is not UTF-8, as far as its first bytes tell it."""
    for name, marks in _OTHERS:
        if data.startswith(marks):
            return name
    # A file without a mark begins with ASCII, so every second byte is zero.
    zeros = [at for at, byte in enumerate(data[:8]) if byte == 0]
    return "UTF-16" if zeros in ([0, 2, 4, 6], [1, 3, 5, 7]) else ""


def without_marks(text: str) -> str:
    """Return a text without the byte order marks at the beginning of its documents."""
    return _MARKS.sub(lambda match: match["before"] or "", text)
