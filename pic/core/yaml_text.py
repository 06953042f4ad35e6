"""Parses YAML, and says what is wrong with it by problem, line and column, never by its text.

A file that does not parse may hold a token or a password. The messages of the YAML library quote
the line, and some name the word at which they stop. So only the fixed words of a message are kept.
"""

import re
from pathlib import Path

import yaml

# What a message of the library quotes is from the text, except for the signs of YAML.
_QUOTED = re.compile(r"('(?:[,:\]}]|<[a-z ]+>)')|'[^']*'|\"[^\"]*\"")
_NOT_ALLOWED = "YAML does not allow this character"
_WRONG_VALUE = "the value does not fit its type"
# What the library raises for a scalar such as `!!int word` or `2026-13-01`.
_BAD_SCALAR = (ValueError, KeyError, TypeError, AttributeError, OverflowError)


class YamlError(ValueError):
    """A text that is not YAML; the message has the problem and its place, and nothing of it."""


class _Loader(yaml.SafeLoader):
    def construct_object(self, node: yaml.Node, deep: bool = False) -> object:  # noqa: FBT001, FBT002 - as in the library
        try:
            value: object = super().construct_object(node, deep)
        except _BAD_SCALAR:
            error = yaml.constructor.ConstructorError(None, None, _WRONG_VALUE, node.start_mark)
            raise error from None
        return value


def parse(text: str) -> object:
    """Return the only document of a text; None if it has none.

    Raises:
        YamlError: The text is not YAML.
    """
    try:
        document: object = yaml.load(text, Loader=_Loader)  # noqa: S506 - it is a SafeLoader
    except RecursionError:
        raise YamlError("it is nested too deeply") from None
    except yaml.reader.ReaderError as error:
        raise YamlError(f"{_place(text[: error.position])}: {_NOT_ALLOWED}") from None
    except yaml.MarkedYAMLError as error:
        mark = mark_of(error)
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise YamlError(f"{place}{problem_of(error)}") from None
    return document


def read(path: Path) -> object:
    """Return the only document of a file; None if it has none.

    Raises:
        OSError: The file cannot be read.
        YamlError: It is not YAML, or not UTF-8.
    """
    data = path.read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        place = _place(data[: error.start].decode())
        raise YamlError(f"{place}: this is not UTF-8") from None
    return parse(text)


def problem_of(error: yaml.MarkedYAMLError) -> str:
    """Return the problem in the words of the library, without those of the text."""
    problem = error.problem or error.context or "this is not YAML"
    return _QUOTED.sub(lambda quoted: quoted[1] or "…", problem)


def mark_of(error: yaml.MarkedYAMLError) -> yaml.Mark | None:
    """Return the place of the problem, which is None for some."""
    # The parser notices a key without a colon only some lines later. Its context is the key.
    in_key = error.context == "while scanning a simple key"
    return error.context_mark if in_key else error.problem_mark


def _place(before: str) -> str:
    """Return the place that follows a text."""
    lines = before.split("\n")
    return f"line {len(lines)}, column {len(lines[-1]) + 1}"
