"""Invisible characters, and every place where pic shows a text that it did not write."""

import html as entities
import io
import logging
from collections.abc import Callable, Iterator

import pytest

from pic.cluster import status
from pic.cluster.readiness import ReadyState
from pic.cluster.status import StatusReport, StatusRow
from pic.core import logs
from pic.core.ingress import Ingress
from pic.core.logs import LogFormat
from pic.core.model import Plan
from pic.core.notices import Notice, Reason, Ref
from pic.core.visible import blanked, is_visible, visible
from pic.pihole import lines
from pic.planning.changes import Changes
from pic.planning.guard import Refusal
from pic.report import event_texts, html, markdown, text
from pic.report.review import StackRef, build
from pic.settings import readers

HIDDEN = {
    "control": "\x1b",
    "line break": "\n",
    "line separator": "\u2028",
    "writing direction": "\u202e",
    "zero width": "\u200b",
    "no-break space": "\u00a0",
    "surrogate": "\ud800",
    "private use": "\ue000",
    "unassigned": "\u0378",
}
hidden = pytest.mark.parametrize("char", HIDDEN.values(), ids=HIDDEN)
# pytest cannot report a captured log line with half a surrogate pair.
LOGGED = {name: char for name, char in HIDDEN.items() if name != "surrogate"}


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("bücher → 日本", "bücher → 日本"),
        ("a\nb\x1b[2J", "a\\u000ab\\u001b[2J"),
        ("safe\u202egro", "safe\\u202egro"),
        ("no\u200bbody", "no\\u200bbody"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_an_invisible_character_is_shown_as_an_escape(words: str, shown: str) -> None:
    assert visible(words) == shown
    assert is_visible(shown)


@hidden
def test_all_functions_agree_on_which_characters_are_invisible(char: str) -> None:
    assert (is_visible("a b"), is_visible(f"a{char}b")) == (True, False)
    assert visible(f"a{char}b") == f"a{escape(char)}b"
    assert blanked(f"a{char}b") == "a b"


def escape(char: str) -> str:
    return f"\\u{ord(char):04x}"


# Each of these functions takes such a text, and returns what a reader sees.


def notice_of(message: str) -> Notice:
    return Notice(Reason.NO_RULES, Ref("Ingress", "prod", "web"), message)


def in_a_notice(message: str) -> str:
    return text.notice_line(notice_of(message))


def in_a_terminal(message: str) -> str:
    changes = Changes("pic.prod", "cluster-1")
    refusals = [Refusal(message)]
    return text.render_review(build(StackRef("pic", "prod"), Plan(), changes, refusals=refusals))


def in_markdown(message: str) -> str:
    return entities.unescape(markdown.code(message))


def in_html(message: str) -> str:
    plan, changes = Plan(notices=(notice_of(message),)), Changes("pic.prod", "cluster-1")
    return entities.unescape(html.render_review(build(StackRef("pic", "prod"), plan, changes)))


def in_an_event(message: str) -> str:
    (event,) = event_texts.warnings([notice_of(message)], [Ingress("prod", "web", "uid-web")])
    return event.message


@pytest.mark.parametrize("place", [in_a_notice, in_a_terminal, in_markdown, in_html, in_an_event])
@hidden
def test_every_report_escapes_an_invisible_character(
    place: Callable[[str], str], char: str
) -> None:
    assert f"a{escape(char)}b" in place(f"a{char}b")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The lines of a text log; the loggers are as before afterwards."""
    root, own, stream = logging.getLogger(), logging.getLogger("pic"), io.StringIO()
    handlers, level = root.handlers, own.level
    logs.configure(LogFormat.TEXT, logs.INFO, stream)
    yield stream
    root.handlers = handlers
    own.setLevel(level)


@pytest.mark.parametrize("char", LOGGED.values(), ids=LOGGED)
def test_a_log_line_escapes_an_invisible_character(log: io.StringIO, char: str) -> None:
    logs.log(logs.INFO, f"a{char}b", host=f"c{char}d")

    (line,) = log.getvalue().splitlines()
    # A line break becomes a space, which is as easy to read in a message of two lines.
    shown = " " if char in "\n\u2028" else escape(char)
    assert line.partition(" INFO ")[2] in {
        f"a{shown}b host=c{shown}d",
        f'a{shown}b host="c{shown}d"',
    }


@hidden
def test_a_status_table_shows_a_space_for_an_invisible_character(char: str) -> None:
    row = StatusRow("a.org", "prod", "web", ReadyState.ERROR, message=f"a{char}b")

    assert "  a b\n" in status.as_text(StatusReport((row,)))


@hidden
def test_a_setting_and_a_line_of_pihole_cannot_contain_an_invisible_character(char: str) -> None:
    with pytest.raises(readers.InvalidValueError):
        readers.single_line(f"a{char}b")
    assert lines.parse(f"10.0.0.1 a{char}b") is None
