"""Log lines on standard error: for a person, as text with time and level, or as JSON.

What is logged is given as values and never holds a secret: nothing is looked for and blanked out
here.
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

# What other programs read of a level.
_NAMES = {logging.WARNING: "WARN", logging.CRITICAL: "ERROR"}
_LOGGER = logging.getLogger("pic")
# It warns of each retry and of each connection too many; what comes of them in the end is told.
_CHATTY = logging.getLogger("urllib3")

Field: TypeAlias = str | int
Log: TypeAlias = Callable[..., None]
"""Logs one line: its level, its message, and its fields."""


class LogFormat(StrEnum):
    """The forms of a log that programs read."""

    TEXT = "text"
    JSON = "json"


def configure(form: LogFormat | None, level: int, stream: TextIO | None = None) -> None:
    """Let every log line of this process go to one stream, in one form.

    Lines of libraries are among them, from warnings on.

    Args:
        form: None for lines that a person reads: `pic: …`.
        level: The least level of pic's own lines, such as `logging.INFO`.
        stream: Standard error where it is not given.
    """
    handler = _Handler(stream or sys.stderr)
    handler.setFormatter(_formatter(form))
    # Before the first line, so that no library's line goes past it.
    root = logging.getLogger()
    root.handlers = [each for each in root.handlers if not isinstance(each, _Handler)] + [handler]
    _CHATTY.setLevel(logging.ERROR)
    set_level(level)


def set_level(level: int) -> None:
    """Change the least level, once the settings are known."""
    _LOGGER.setLevel(level)


def is_debug() -> bool:
    """Say whether everything is logged."""
    return _LOGGER.isEnabledFor(logging.DEBUG)


def log(level: int, message: str, /, **fields: Field) -> None:
    """Log one line: what happened, and its fields in their order."""
    _LOGGER.log(level, "%s", message, extra={"fields": fields})


class _Handler(logging.StreamHandler[TextIO]):
    """Writes lines; a stream that is gone stops nothing."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name in logging
        """Lose the line."""


class _Json(JsonFormatter):
    """One JSON object a line."""

    def add_fields(
        self,
        log_data: dict[str, object],
        record: logging.LogRecord,
        message_dict: dict[str, object],  # noqa: ARG002 - what the base class passes
    ) -> None:
        """Name time, level and message as slog of Go does."""
        log_data.update(time=_time(record), level=_level(record), msg=record.getMessage())
        log_data.update(_fields(record))


class _Text(logging.Formatter):
    """Time, level, message and fields, in one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        words = _one_line(record.getMessage())
        return f"{_time(record)} {_level(record)} {words}{_pairs(record)}"


class _Plain(logging.Formatter):
    """A message as a person reads it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the message, which may have several lines."""
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
    """Return when it happened, as RFC 3339 in UTC."""
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _level(record: logging.LogRecord) -> str:
    return _NAMES.get(record.levelno, record.levelname)


def _fields(record: logging.LogRecord) -> Mapping[str, Field]:
    found: Mapping[str, Field] = getattr(record, "fields", {})
    return found


def _pairs(record: logging.LogRecord) -> str:
    return "".join(f" {key}={_value(value)}" for key, value in _fields(record).items())


def _value(value: Field) -> str:
    """Return a value in one word, quoted where it has spaces or quotes, or is empty."""
    text = _one_line(str(value))
    return text if text and not set(text) & set(' "=') else json.dumps(text, ensure_ascii=False)


def _one_line(text: str) -> str:
    """Return a text as one line, so that no value can fake another log line."""
    return visible(" ".join(text.splitlines()))
