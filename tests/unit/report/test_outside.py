"""Tests how text, tables and JSON show the exposures outside pic."""

from dataclasses import replace
from typing import Any

from pic.core.model import HttpConfig, LiveResource, Plan, Spec
from pic.core.outside import OutsideChange, OutsideExposure
from pic.planning.changes import Changes
from pic.report import review, tables
from pic.report import text as text_report
from pic.report.review import Review, StackRef

ADDED, CHANGED, REMOVED = OutsideChange
NONE = Changes("pic.prod", "")


def live(host: str, http: HttpConfig) -> LiveResource:
    return LiveResource("prod", "raw", "", host, spec=Spec(http=http))


PUBLIC, BLOCKED = live("a.org", HttpConfig()), live("a.org", HttpConfig(block_access=True))


def reviewed(*exposures: OutsideExposure) -> Review:
    return replace(
        review.build(StackRef("pic", "prod"), Plan(), NONE), outside=exposures, hidden_notices=0
    )


EXPOSURES = (
    OutsideExposure(ADDED, "prod", "raw", PUBLIC),
    OutsideExposure(CHANGED, "prod", "raw", PUBLIC, BLOCKED, "a remark"),
    OutsideExposure(CHANGED, "prod", "raw", None, None, "no \x1b map"),
    OutsideExposure(REMOVED, "prod", "raw", BLOCKED, BLOCKED),
)


def test_the_text_has_one_safe_line_for_each() -> None:
    lines = text_report.render_review(reviewed(*EXPOSURES)).splitlines()

    head = "outside pic: PangolinResource prod/raw is"
    assert lines == [
        "4 exposures outside pic (0 live, 0 planned)",
        "",
        f"! {head} added, host: a.org, access: public",
        f"! {head} changed, host: a.org, access: public, was: blocked, a remark",
        f"! {head} changed, host: (absent), access: unknown, was: unknown, no \\u001b map",
        f"- {head} removed, host: a.org, access: blocked",
        "",
        f"digest {NONE.digest}",
    ]


def test_the_table_has_the_access_before_and_after() -> None:
    (section,) = tables.review_sections(reviewed(*EXPOSURES))

    assert section.title == "Exposures outside pic"
    assert section.rows == (
        ("a.org", "prod/raw", "added", None, "public", None),
        ("a.org", "prod/raw", "changed", "blocked", "public", "a remark"),
        (None, "prod/raw", "changed", None, None, "no \x1b map"),
        ("a.org", "prod/raw", "removed", "blocked", None, None),
    )


def test_the_json_has_null_for_what_cannot_be_read() -> None:
    value: dict[str, Any] = review.as_json(reviewed(*EXPOSURES[1:3]))

    place = {"namespace": "prod", "name": "raw"}
    assert value["counts"]["outside"] == 2
    assert value["outside"] == [
        {
            "change": "changed",
            "host": "a.org",
            **place,
            "access": "public",
            "login": False,
            "block": False,
            "accessBefore": "blocked",
            "remark": "a remark",
        },
        {
            "change": "changed",
            "host": None,
            **place,
            "access": None,
            "login": None,
            "block": None,
            "accessBefore": None,
            "remark": "no \x1b map",
        },
    ]
