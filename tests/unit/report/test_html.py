"""Tests that the HTML page is self-contained, and that hostile text stays text."""

from html.parser import HTMLParser

import pytest

from pic.core.model import LiveResource, Plan
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import Changes
from pic.planning.guard import Refusal
from pic.report import html
from pic.report.review import StackRef, build

NONE = Changes("pic.prod", "cluster-1")
WEB = Ref("Ingress", "prod", "web")


class Outline(HTMLParser):
    """Collects the tags of a page, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(message: str, *refusals: Refusal, acknowledgement: str = "") -> Outline:
    plan = Plan(notices=(Notice(Reason.NO_RULES, WEB, message),))
    review = build(
        StackRef("pic", "prod"), plan, NONE, refusals=refusals, acknowledgement=acknowledgement
    )
    return Outline(html.render_review(review))


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x>', "</code></table>", "&lt;b&gt; 'x'"]
)
def test_hostile_text_stays_text(text: str) -> None:
    hostile = outline(text, Refusal(text), acknowledgement=text)

    assert hostile.tags == outline("x", Refusal("x"), acknowledgement="x").tags
    assert hostile.text.count(text) == 3


def test_invisible_characters_are_escaped() -> None:
    assert "a\\u202eb" in outline("a\u202eb").text


def test_the_page_loads_and_runs_nothing() -> None:
    tags = outline("x").tags

    assert [attributes for tag, attributes in tags if tag == "meta"][1] == [
        ("http-equiv", "Content-Security-Policy"),
        (
            "content",
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        ),
    ]
    assert not {"script", "link", "img", "iframe", "a"} & {tag for tag, _ in tags}


def test_a_refusal_shows_how_to_acknowledge_it() -> None:
    text = "".join(outline("x", Refusal("too many")).text)

    assert "The guard refuses these changes" in text
    assert f"PIC_ACKNOWLEDGE={NONE.digest}" in text
    assert f"pic up --stack prod --acknowledge {NONE.digest}" in text


def test_a_refusal_that_cannot_be_acknowledged_says_so() -> None:
    text = "".join(outline("x", Refusal("too many", acknowledgeable=False)).text)

    assert "An acknowledgement does not help here." in text
    assert "PIC_ACKNOWLEDGE" not in text


def test_a_page_has_every_row_and_a_dash_for_an_absent_value() -> None:
    removed = tuple(LiveResource("prod", f"pic-{number}", "uid", "") for number in range(5000))
    changes = Changes("pic.prod", "cluster-1", removed=removed)

    text = html.render_review(build(StackRef("pic", "prod"), Plan(), changes))

    assert text.count("<tr><td>—</td><td><code>prod/pic-") == 5000
