"""Which warnings Ingresses are told of as Events, and which of them are new."""

from collections.abc import Sequence

from pic.core.model import Ingress, Owner
from pic.core.notices import Notice, Reason, Ref
from pic.report import event_texts
from pic.report.event_texts import WARNINGS_A_RUN, Warned

WEB = Ingress("prod", "web", "uid-1")
OWNER = Owner("prod", "web", "uid-1")


def notice(message: str, reason: Reason = Reason.INVALID_HOST, name: str = "web") -> Notice:
    return Notice(reason, Ref("Ingress", "prod", name), message)


def said(*notices: Notice, ingresses: Sequence[Ingress] = (WEB,)) -> list[tuple[str, str, str]]:
    """What is told, each as Ingress, reason and text."""
    found = event_texts.warnings(notices, ingresses)
    return [(each.ingress.name, each.reason, each.message) for each in found]


def test_an_ingress_is_told_of_its_warnings_by_reason() -> None:
    first, second = notice("b: no"), notice("gone", Reason.BACKEND_NOT_FOUND)

    assert event_texts.warnings([first, second], [WEB]) == (
        Warned(OWNER, "BackendNotFound", "gone"),
        Warned(OWNER, "InvalidHost", "b: no"),
    )


def test_many_warnings_of_one_reason_are_one_in_whatever_order_they_come() -> None:
    found = [notice("c: no"), notice("a: no"), notice("b: no"), notice("a: no")]

    expected = [("web", "InvalidHost", "a: no … and 2 more: see pic plan")]
    assert said(*found) == said(*reversed(found)) == expected


def test_a_long_text_is_cut_and_nothing_hides_in_it() -> None:
    [(_, _, text)] = said(notice("\x1b" + "x" * 2000), notice("y"))

    assert text == "\\u001b" + "x" * 967 + " … and 1 more: see pic plan"


def test_remarks_other_objects_and_ingresses_that_the_cluster_does_not_have_are_left_out() -> None:
    tunnel = Notice(Reason.TUNNEL_NOT_FOUND, Ref("PangolinTunnel", "prod", "web"), "gone")
    found = [notice("x", Reason.BLOCK_ACCESS), notice("x", name="gone"), notice("x", name="file")]

    assert said(tunnel, *found, ingresses=[WEB, Ingress("prod", "file", "")]) == []


def test_no_more_is_told_than_a_cluster_can_bear() -> None:
    count = WARNINGS_A_RUN + 5
    names = [f"web-{at:03}" for at in range(count)]
    ingresses = [Ingress("prod", name, f"uid-{name}") for name in reversed(names)]

    told = said(*(notice("x", name=name) for name in reversed(names)), ingresses=ingresses)

    assert [name for name, _, _ in told] == names[:WARNINGS_A_RUN]


def test_what_was_told_is_no_news_until_its_text_or_the_ingress_is_another() -> None:
    before = event_texts.warnings([notice("a"), notice("x", Reason.EMPTY_HOST)], [WEB])
    told = event_texts.digests(before)

    assert event_texts.news(before, told) == ()
    assert event_texts.news(event_texts.warnings([notice("b")], [WEB]), told) == (
        Warned(OWNER, "InvalidHost", "b"),
    )
    again = Ingress("prod", "web", "uid-2")
    assert event_texts.news(event_texts.warnings([notice("a")], [again]), told) == (
        Warned(Owner("prod", "web", "uid-2"), "InvalidHost", "a"),
    )


def test_digests_are_sorted_and_short() -> None:
    found = event_texts.warnings([notice(text, name="web") for text in "a"], [WEB])
    more = event_texts.warnings([notice("b", Reason.EMPTY_HOST)], [WEB])

    assert event_texts.digests([*found, *more]) == event_texts.digests([*more, *found])
    assert [len(each) for each in event_texts.digests([*found, *more])] == [16, 16]
