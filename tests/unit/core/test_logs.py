"""Log lines: their three forms, their levels, and values that cannot break a line."""

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from pic.core import logs
from pic.core.logs import DEBUG, ERROR, INFO, WARN, LogFormat


@pytest.fixture(autouse=True)
def _restored_loggers() -> Iterator[None]:
    root, own = logging.getLogger(), logging.getLogger("pic")
    handlers, level = root.handlers, own.level
    yield
    root.handlers = handlers
    own.setLevel(level)


def logged(form: LogFormat | None, level: int, message: str, **fields: str | int) -> str:
    stream = io.StringIO()
    logs.configure(form, DEBUG, stream)
    logs.log(level, message, **fields)
    return stream.getvalue()


def test_a_json_line_has_the_fields_of_slog_followed_by_its_own() -> None:
    line = logged(LogFormat.JSON, INFO, "dns record created", ingress="prod/ä", ip="192.0.2.7")

    fields = json.loads(line)
    age = datetime.now(UTC) - datetime.fromisoformat(fields.pop("time"))
    assert list(fields.items()) == [
        ("level", "INFO"),
        ("msg", "dns record created"),
        ("ingress", "prod/ä"),
        ("ip", "192.0.2.7"),
    ]
    assert line.startswith('{"time": "2')
    assert 'Z", "level": "INFO", "msg": "dns record created", "ingress": "prod/ä"' in line
    assert timedelta(0) <= age < timedelta(days=1)


@pytest.mark.parametrize(
    ("level", "name"), [(DEBUG, "DEBUG"), (INFO, "INFO"), (WARN, "WARN"), (ERROR, "ERROR")]
)
def test_a_level_has_the_name_that_log_collectors_know(level: int, name: str) -> None:
    assert json.loads(logged(LogFormat.JSON, level, "done"))["level"] == name
    assert logged(LogFormat.TEXT, level, "done").split()[1] == name


def test_a_text_line_has_time_level_message_and_fields() -> None:
    line = logged(
        LogFormat.TEXT, WARN, "two\nlines", host="a.org", error='it "is"', ingress="", n=7
    )

    time, _, rest = line.partition(" ")
    assert rest == 'WARN two lines host=a.org error="it \\"is\\"" ingress="" n=7\n'
    assert datetime.fromisoformat(time).utcoffset() == timedelta(0)
    assert time.endswith("Z")


def test_no_value_controls_a_terminal_or_fakes_a_line() -> None:
    line = logged(LogFormat.TEXT, INFO, "\x1b[2Jgone", host="a\nb\u202e")

    assert line.partition(" ")[2] == 'INFO \\u001b[2Jgone host="a b\\\\u202e"\n'


def test_a_plain_line_has_the_message_unchanged() -> None:
    assert logged(None, ERROR, "two\nlines") == "pic: two\nlines\n"
    assert logged(None, DEBUG, "resource created", host="a.org") == (
        "pic: resource created host=a.org\n"
    )


def test_lines_below_the_level_are_not_written() -> None:
    stream = io.StringIO()
    logs.configure(None, WARN, stream)

    logs.log(INFO, "not this")
    before = logs.is_debug()
    logs.set_level(DEBUG)
    logs.log(DEBUG, "but this")

    assert stream.getvalue() == "pic: but this\n"
    assert (before, logs.is_debug()) == (False, True)


def test_warnings_of_libraries_have_the_same_form() -> None:
    stream = io.StringIO()
    logs.configure(None, ERROR, io.StringIO())
    logs.configure(LogFormat.JSON, INFO, stream)

    logging.getLogger("asyncio").warning("again after %s", "503")
    logging.getLogger("asyncio").info("not this")
    logging.getLogger("urllib3").warning("nor each retry")

    (line,) = stream.getvalue().splitlines()
    assert {key: value for key, value in json.loads(line).items() if key != "time"} == {
        "level": "WARN",
        "msg": "again after 503",
    }


def test_lines_go_to_standard_error_by_default(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(None, INFO)

    logs.log(INFO, "here")

    assert capsys.readouterr() == ("", "pic: here\n")


def test_a_closed_stream_is_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    closed = io.StringIO()
    logs.configure(None, INFO, closed)
    closed.close()

    logs.log(INFO, "lost")

    assert capsys.readouterr() == ("", "")
