"""Tests that the warnings and rows of one namespace take no room from those of another one."""

from dataclasses import replace

from pic.core.ingress import Ingress
from pic.core.model import Owner, Plan, Record
from pic.core.notices import Notice, Reason, Ref
from pic.planning.changes import Changes, Weakening
from pic.planning.record_changes import RecordChanges
from pic.report import event_texts, markdown, review
from pic.report.event_texts import WARNINGS_A_RUN
from pic.report.review import Review, StackRef
from tests.support.deployed import make_live, wanted

NOISY, QUIET = "aaa", "zzz"
NONE = Changes("pic.prod", "cluster-1")


def notices(namespace: str, count: int, text: str = "no rules") -> tuple[Notice, ...]:
    return tuple(
        Notice(Reason.NO_RULES, Ref("Ingress", namespace, f"web-{number:04}"), text)
        for number in range(count)
    )


def test_21_a_namespace_with_100_warnings_leaves_others_their_events() -> None:
    warnings = (*notices(NOISY, WARNINGS_A_RUN), *notices(QUIET, 3))
    ingresses = [Ingress(warning.about.namespace, warning.about.name, "u") for warning in warnings]

    texts = event_texts.warnings(reversed(warnings), ingresses)

    expected = [(NOISY, f"web-{number:04}") for number in range(WARNINGS_A_RUN - 3)]
    expected += [(QUIET, f"web-{number:04}") for number in range(3)]
    assert [(text.ingress.namespace, text.ingress.name) for text in texts] == expected


def report(plan: Plan, changes: Changes = NONE) -> list[str]:
    """Return the rows of a report about the quiet namespace."""
    shown: Review = review.build(StackRef("pic", "prod"), plan, changes)
    text = markdown.render_review(shown)
    assert "**Trimmed: " in text
    return [line for line in text.splitlines() if QUIET in line]


def test_21_a_namespace_with_many_notices_hides_none_of_another_one_in_markdown() -> None:
    rows = report(Plan(notices=(*notices(NOISY, 2000), *notices(QUIET, 2))))

    assert rows == [
        f"| Warning | NoRules | `Ingress {QUIET}/web-000{number}` | `no rules` |"
        for number in range(2)
    ]


def test_21_a_namespace_with_many_changes_hides_none_of_another_one_in_markdown() -> None:
    noisy = tuple(wanted(f"h{number}.example.com", NOISY) for number in range(2000))
    quiet = replace(wanted("lost.example.com", QUIET), host=f"{QUIET}.example.com")
    record = Record(f"record.{QUIET}.example", "10.0.0.1", (Owner(QUIET, "web", "u"),))
    changes = replace(
        NONE,
        created=noisy,
        removed=(make_live(quiet),),
        weakened=(Weakening(quiet.host, "sso"),),
        records=RecordChanges(created=(record,)),
    )

    rows = report(Plan((*noisy, quiet), (record,)), changes)

    assert rows == [
        f"| `{QUIET}.example.com` | login | public |",
        f"| `{QUIET}.example.com` | `{QUIET}/pic-lost` |",
        f"| `record.{QUIET}.example` | `10.0.0.1` |",
    ]
