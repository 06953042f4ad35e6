"""Writes log lines to standard error, in one of three forms.

The forms are plain lines for a user (`pic: …`), text with time and level, and JSON. Callers must
not pass secrets, because nothing here removes them. docs/logs.md describes the forms.
"""

import json
import logging
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import TextIO, TypeAlias

from pythonjsonlogger.json import JsonFormatter

from pic.core.visible import visible

DEBUG, INFO, WARN, ERROR = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR

# The names of levels that log collectors know. Python names them WARNING and CRITICAL.
_NAMES = {logging.WARNING: "WARN", logging.CRITICAL: "ERROR"}
_LOGGER = logging.getLogger("pic")
# urllib3 warns about each retry. pic itself reports the result of the last one.
_URLLIB3 = logging.getLogger("urllib3")

Field: TypeAlias = str | int
Log: TypeAlias = Callable[..., None]
"""Logs one line: its level, its message, and its fields."""


class LogFormat(StrEnum):
    """The forms of a log for other programs; the plain form for users is None instead."""

    TEXT = "text"
    JSON = "json"


def configure(form: LogFormat | None, level: int, stream: TextIO | None = None) -> None:
    """Send every log line of this process to one stream, in one form.

    This includes the lines of libraries, from level WARNING up.

    Args:
        form: None writes plain lines for a user.
        level: The lowest level of pic's own lines, such as `logging.INFO`.
        stream: None writes to standard error.
    """
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(_formatter(form))
    # The root logger gets the handler, so that lines of libraries have the same form. A second call
    # replaces the handler of the first one, and handlers of others, such as a test runner, stay.
    root = logging.getLogger()
    others = [other for other in root.handlers if not isinstance(other, _Handler)]
    root.handlers = [*others, handler]
    _URLLIB3.setLevel(logging.ERROR)
    set_level(level)


def set_level(level: int) -> None:
    """Change the lowest level of pic's own lines, once the settings are known."""
    _LOGGER.setLevel(level)


def is_debug() -> bool:
    """Say whether lines of level DEBUG are written."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def log(level: int, message: str, /, **fields: Field) -> None:
    """Log one line: a message, followed by fields in the given order."""
    # The message is an argument and not the format, because it may contain percent signs.
    _LOGGER.log(level, "%s", message, extra={"fields": fields})


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines; a closed stream does not end the run."""

    # A pipe such as `pic up 2>&1 | head` closes the stream in the middle of a deployment.

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the name in logging
        """Drop the line instead of printing a traceback."""


class _Json(JsonFormatter):
    """Formats a line as one JSON object."""

    def add_fields(
        self,
        log_data: dict[str, object],
        record: logging.LogRecord,
        message_dict: dict[str, object],  # noqa: ARG002 - what the base class passes
    ) -> None:
        """Name time, level and message as slog in Go does."""
        log_data.update(time=_time(record), level=_level(record), msg=record.getMessage())
        log_data.update(_fields(record))


class _Text(logging.Formatter):
    """Formats time, level, message and fields as one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        message = _one_line(record.getMessage())
        return f"{_time(record)} {_level(record)} {message}{_pairs(record)}"


class _Plain(logging.Formatter):
    """Formats a line for a user."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, which may have several lines, and the fields."""
        return f"pic: {record.getMessage()}{_pairs(record)}"


def _formatter(form: LogFormat | None) -> logging.Formatter:
    match form:
        case LogFormat.JSON:
            return _Json(json_ensure_ascii=False)
        case LogFormat.TEXT:
            return _Text()
        case _:
            return _Plain()


def _time(record: logging.LogRecord) -> str:
    """Return the time of a line as RFC 3339 in UTC, with milliseconds."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _level(record: logging.LogRecord) -> str:
    return _NAMES.get(record.levelno, record.levelname)


def _fields(record: logging.LogRecord) -> Mapping[str, Field]:
    fields: Mapping[str, Field] = getattr(record, "fields", {})
    return fields


def _pairs(record: logging.LogRecord) -> str:
    return "".join(f" {key}={_value(value)}" for key, value in _fields(record).items())


def _value(value: Field) -> str:
    """Return a value as one word, in quotes if it has spaces, quotes or `=`, or is empty."""
    text = _one_line(str(value))
    return text if text and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    """Return a text as one line, so that no value can fake another log line."""
    return visible(" ".join(text.splitlines()))
