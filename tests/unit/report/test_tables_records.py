"""Tests the DNS records in plans and reviews, in every form of a report."""

import json
from dataclasses import replace

from pic.core.model import LiveRecord, Owner, Plan, Record
from pic.planning.changes import Changes
from pic.planning.record_changes import RecordChanges, RecordUpdate
from pic.report import html, markdown, review, summary, tables
from pic.report import text as text_report
from pic.report.review import Review, StackRef, build

WEB = Owner("lab", "web", "uid-web")
NAS = Record("nas.lan", "192.0.2.7", (WEB,), held=True)
NEW = Record("new.lan", "192.0.2.1", (WEB,))
MOVED = RecordUpdate(
    Record("tv.lan", "192.0.2.3", (WEB,)), LiveRecord("tv.lan", "192.0.2.2", ours=True)
)
REMOVED = LiveRecord("old.lan", "192.0.2.9", ours=True)
ALL = RecordChanges(3, 3, (NEW,), (MOVED,), (REMOVED,), compared=True)
PLAN = Plan(records=(NAS, NEW, MOVED.record))


def reviewed(records: RecordChanges, plan: Plan = PLAN) -> Review:
    return build(StackRef("pic", "prod"), plan, replace(Changes("pic.prod", ""), records=records))


def test_the_text_of_a_plan_marks_held_records() -> None:
    assert text_report.render_plan(PLAN) == (
        "HOST     ADDRESS\n"
        "nas.lan  192.0.2.7 (held)\n"
        "new.lan  192.0.2.1\n"
        "tv.lan   192.0.2.3\n"
        "\n"
        "0 resources, 3 DNS records, 1 of them held, 0 warnings, 0 remarks"
    )


def test_the_tables_of_a_plan_mark_held_records() -> None:
    assert [(section.title, section.rows) for section in tables.plan_sections(PLAN)] == [
        (
            "DNS records",
            (
                ("nas.lan", "192.0.2.7 (held)"),
                ("new.lan", "192.0.2.1"),
                ("tv.lan", "192.0.2.3"),
            ),
        )
    ]


def test_the_text_of_a_review_has_removals_first_and_held_records_last() -> None:
    report = reviewed(ALL)

    assert text_report.render_review(report) == (
        "1 DNS record removed, 1 new DNS record, 1 DNS record changed, 1 DNS record held"
        " (0 live, 0 planned; DNS records: 3 live, 3 planned)\n"
        "\n"
        "- DNS record old.lan 192.0.2.9 is removed\n"
        "+ DNS record new.lan 192.0.2.1 is created\n"
        "~ DNS record tv.lan: 192.0.2.2 → 192.0.2.3\n"
        "\n"
        "= DNS record nas.lan 192.0.2.7 is held\n"
        "\n"
        f"digest {report.changes.digest}"
    )


def test_a_review_without_changes_counts_the_records() -> None:
    same = RecordChanges(2, 2, compared=True)

    assert summary.counts(reviewed(same, Plan())) == (
        "no changes (0 live, 0 planned; DNS records: 2 live, 2 planned)"
    )


def test_a_review_says_if_records_were_not_compared() -> None:
    assert summary.counts(reviewed(RecordChanges(planned_count=2), Plan())) == (
        "no changes (0 live, 0 planned; DNS records: not compared, 2 planned)"
    )


def test_a_review_without_pihole_does_not_mention_records() -> None:
    report = reviewed(RecordChanges(), Plan())

    assert text_report.render_review(report) == (
        f"no changes (0 live, 0 planned)\n\nNo changes.\n\ndigest {report.changes.digest}"
    )
    assert "records" not in review.as_json(report)


def test_the_json_of_a_review_has_a_list_for_each_kind_of_change() -> None:
    assert json.loads(json.dumps(review.as_json(reviewed(ALL))["records"])) == {
        "live": 3,
        "planned": 3,
        "compared": True,
        "removed": [{"host": "old.lan", "ip": "192.0.2.9"}],
        "updated": [{"host": "tv.lan", "old": "192.0.2.2", "new": "192.0.2.3"}],
        "created": [
            {
                "host": "new.lan",
                "ip": "192.0.2.1",
                "owners": [{"namespace": "lab", "name": "web"}],
            }
        ],
        "held": [{"host": "nas.lan", "ip": "192.0.2.7"}],
    }


def test_the_markdown_of_a_review_has_a_table_for_each_kind_of_change() -> None:
    report = reviewed(ALL)

    assert markdown.render_review(report) == (
        "<!-- pic:review:pic.prod -->\n"
        "### Changes to stack `prod`\n"
        "\n"
        "**1 DNS record removed, 1 new DNS record, 1 DNS record changed, 1 DNS record held"
        " (0 live, 0 planned; DNS records: 3 live, 3 planned)**\n"
        "\n"
        "#### Removed DNS records (1)\n"
        "\n"
        "| Host | Address |\n"
        "| --- | --- |\n"
        "| `old.lan` | `192.0.2.9` |\n"
        "\n"
        "#### New DNS records (1)\n"
        "\n"
        "| Host | Address |\n"
        "| --- | --- |\n"
        "| `new.lan` | `192.0.2.1` |\n"
        "\n"
        "#### Changed DNS records (1)\n"
        "\n"
        "| Host | Live | Planned |\n"
        "| --- | --- | --- |\n"
        "| `tv.lan` | `192.0.2.2` | `192.0.2.3` |\n"
        "\n"
        "#### Held DNS records (1)\n"
        "\n"
        "| Host | Address |\n"
        "| --- | --- |\n"
        "| `nas.lan` | `192.0.2.7` |\n"
        "\n"
        f"`digest {report.changes.digest}`\n"
    )


def test_the_html_of_a_review_has_the_same_tables_as_its_markdown() -> None:
    text = html.render_review(reviewed(ALL))

    assert [line for line in text.splitlines() if line.startswith(("<h2>", "<tr>"))] == [
        "<h2>Removed DNS records (1)</h2>",
        "<tr><td><code>old.lan</code></td><td><code>192.0.2.9</code></td></tr>",
        "<h2>New DNS records (1)</h2>",
        "<tr><td><code>new.lan</code></td><td><code>192.0.2.1</code></td></tr>",
        "<h2>Changed DNS records (1)</h2>",
        "<tr><td><code>tv.lan</code></td><td><code>192.0.2.2</code></td>"
        "<td><code>192.0.2.3</code></td></tr>",
        "<h2>Held DNS records (1)</h2>",
        "<tr><td><code>nas.lan</code></td><td><code>192.0.2.7</code></td></tr>",
    ]
