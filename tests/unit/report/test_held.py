"""Tests what each form of a report shows of the changes that wait for an acknowledgement.

The folder data/held has the expected reports.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pic.core.held import Held, Verdict, digest_of_all
from pic.core.model import LiveRecord, Plan, Record
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges
from pic.report import html, markdown, text
from pic.report.review import Review, StackRef, as_json, build

DATA = Path(__file__).parent.parent / "data" / "held"
WEAKENED = Held(
    "admin.example.com",
    Verdict.WEAKENED,
    "shop",
    "login and access block",
    "public",
    "no Ingress asks for its login and access block any more",
    "00000000000000a1",
)
# One of each verdict for hosts, and one of each that a record can have.
ALL = (
    WEAKENED,
    Held(
        "blog.example.com",
        Verdict.MOVED,
        "team",
        "team (login)",
        "shop (public)",
        "Ingress shop/blog of another namespace claims it",
        "00000000000000a2",
    ),
    Held(
        "nas.lan/A",
        Verdict.MOVED,
        "lab",
        "lab (192.0.2.7)",
        "shop (192.0.2.1)",
        "Ingress shop/nas requests it",
        "00000000000000a3",
    ),
    Held(
        "old.example.com",
        Verdict.REMOVED,
        "shop",
        "shop (public)",
        "",
        "pic has removed as many hosts as it may (pic:maxRemovals, pic:removalWindow)",
        "00000000000000a4",
    ),
    Held(
        "old.lan/AAAA",
        Verdict.REMOVED,
        "lab",
        "2001:db8::1",
        "",
        "pic has removed as many records as it may (pic:maxRemovals)",
        "00000000000000a5",
    ),
    Held(
        "out.example.com",
        Verdict.OUTSIDE,
        "left",
        "left (login)",
        "",
        "pic:namespaces does not list left",
        "00000000000000a6",
    ),
    Held(
        "shop.example.com",
        Verdict.RETARGETED,
        "shop",
        "web.shop.svc.cluster.local:80",
        "evil.shop.svc.cluster.local:80",
        "too many hosts would lead elsewhere in one run (pic:maxRetargeted)",
        "00000000000000a7",
    ),
)


def reviewed(*held: Held) -> Review:
    changes = replace(Changes("pic.prod", "cluster-1"), held=held)
    return build(StackRef("pic", "prod"), Plan(held=held), changes)


def json_text(review: Review) -> str:
    return json.dumps(as_json(review), indent=2) + "\n"


@pytest.mark.parametrize(
    ("render", "file"),
    [
        (lambda review: text.render_review(review) + "\n", "review.txt"),
        (markdown.render_review, "review.md"),
        (html.render_review, "review.html"),
        (json_text, "review.json"),
    ],
    ids=["text", "markdown", "html", "json"],
)
def test_a_report_shows_each_held_change_and_how_to_let_it_through(
    render: Callable[[Review], str], file: str
) -> None:
    assert render(reviewed(*ALL)) == (DATA / file).read_text()


@pytest.mark.parametrize(
    "render",
    [text.render_review, markdown.render_review, html.render_review, json_text],
    ids=["text", "markdown", "html", "json"],
)
def test_the_command_for_one_change_has_its_own_digest(render: Callable[[Review], str]) -> None:
    command = f"pic up --stack prod --acknowledge {WEAKENED.digest}"

    assert render(reviewed(WEAKENED)).count(command) == 1


def test_the_command_for_several_changes_has_one_digest_for_all() -> None:
    digest = digest_of_all(held.digest for held in ALL)

    command = f"pic up --stack prod --acknowledge {digest}"
    assert reviewed(*ALL).held_command == command


@pytest.mark.parametrize(
    "render",
    [text.render_review, markdown.render_review, html.render_review],
    ids=["text", "markdown", "html"],
)
def test_without_held_changes_a_report_does_not_mention_them(
    render: Callable[[Review], str],
) -> None:
    report = reviewed()

    assert "acknowledge" not in render(report)
    assert (as_json(report)["held"], as_json(report)["heldCommand"]) == ([], None)


def test_hostile_text_stays_text() -> None:
    report = reviewed(replace(WEAKENED, host="a\u202eb|`<b>", old="<script>", reason="x\n# y"))

    assert "\n= a\\u202eb|`<b> keeps its <script>: x\\u000a# y (" in text.render_review(report)
    assert "<script>" not in html.render_review(report)
    row = "| <code>a&#92;u202eb&#124;&#96;&#60;b&#62;</code> | weakened | `<script>` |"
    assert row in markdown.render_review(report)


def test_a_record_that_waits_does_not_count_as_one_whose_ingress_is_unclear() -> None:
    nas, tv = Record("nas.lan", "192.0.2.7", (), held=True), Record("tv.lan", "::1", (), held=True)
    waiting = next(held for held in ALL if held.host == "nas.lan/A")
    live = tuple(LiveRecord(it.host, it.ip, ours=True) for it in (nas, tv))
    changes = replace(
        Changes("pic.prod", ""),
        held=(waiting,),
        records=RecordChanges(len(live), 2, compared=True),
    )

    report = build(StackRef("pic", "prod"), Plan(records=(nas, tv), held=(waiting,)), changes)

    assert report.held_records == (tv,)
