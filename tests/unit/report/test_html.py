"""The HTML page: hostile texts stay texts, and it needs nothing else."""

from html.parser import HTMLParser

import pytest

from pic.core.model import LiveResource, Plan
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import Changes
from pic.report import html
from pic.report.review import Refusal, StackRef, build

NONE = Changes("pic.prod", "cluster-1")
WEB = Ref("Ingress", "prod", "web")


class Outline(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def made(message: str, refusal: Refusal | None = None) -> Outline:
    notice = Notice(Reason.NO_RULES, WEB, message)
    return Outline(
        html.review(build(StackRef("pic", "prod"), Plan(notices=(notice,)), NONE, refusal=refusal))
    )


@pytest.mark.parametrize(
    "text", ["<script>alert(1)</script>", '"><img src=x>', "</code></table>", "&lt;b&gt; 'x'"]
)
def test_whatever_a_text_holds_it_stays_a_text(text: str) -> None:
    refusal = Refusal((text,), acknowledgeable=True, stale=text)
    plain = Refusal(("x",), acknowledgeable=True, stale="x")

    assert made(text, refusal).tags == made("x", plain).tags
    assert made(text, refusal).text.count(text) == 3


def test_what_is_not_seen_is_shown() -> None:
    assert "a\\u202eb" in made("a\u202eb").text


def test_nothing_is_loaded_and_nothing_runs() -> None:
    tags = made("x").tags

    assert [attributes for tag, attributes in tags if tag == "meta"][1] == [
        ("http-equiv", "Content-Security-Policy"),
        (
            "content",
            "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
        ),
    ]
    assert not {"script", "link", "img", "iframe", "a"} & {tag for tag, _ in tags}


def test_a_refusal_says_what_lets_it_through() -> None:
    text = "".join(made("x", Refusal(("too many",), acknowledgeable=True)).text)

    assert "The guard refuses this" in text
    assert f"PIC_ACKNOWLEDGE={NONE.digest}" in text
    assert f"pic up --stack prod --acknowledge {NONE.digest}" in text


def test_a_refusal_that_nothing_lets_through_says_so() -> None:
    text = "".join(made("x", Refusal(("too many",), acknowledgeable=False)).text)

    assert "No acknowledgement lets this through." in text
    assert "PIC_ACKNOWLEDGE" not in text


def test_a_page_is_never_trimmed_and_shows_what_is_absent() -> None:
    removed = tuple(LiveResource("prod", f"pic-{at}", "uid", "") for at in range(5000))
    changes = Changes("pic.prod", "cluster-1", removed=removed)

    text = html.review(build(StackRef("pic", "prod"), Plan(), changes))

    assert text.count("<tr><td>—</td><td><code>prod/pic-") == 5000
