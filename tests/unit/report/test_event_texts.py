"""Tests which warnings Ingresses get as Events, and which of them are new."""

from collections.abc import Sequence

from pic.core.ingress import Ingress
from pic.core.model import Owner
from pic.core.notices import Notice, Reason, Ref
from pic.report import event_texts
from pic.report.event_texts import WARNINGS_A_RUN, EventText

WEB = Ingress("prod", "web", "uid-1")
OWNER = Owner("prod", "web", "uid-1")


def notice(message: str, reason: Reason = Reason.INVALID_HOST, name: str = "web") -> Notice:
    return Notice(reason, Ref("Ingress", "prod", name), message)


def warned(*notices: Notice, ingresses: Sequence[Ingress] = (WEB,)) -> list[tuple[str, str, str]]:
    """Return each warning as Ingress, reason and message."""
    texts = event_texts.warnings(notices, ingresses)
    return [(text.ingress.name, text.reason, text.message) for text in texts]


def test_an_ingress_gets_one_text_for_each_reason() -> None:
    first, second = notice("b: no"), notice("gone", Reason.BACKEND_NOT_FOUND)

    assert event_texts.warnings([first, second], [WEB]) == (
        EventText(OWNER, "BackendNotFound", "gone"),
        EventText(OWNER, "InvalidHost", "b: no"),
    )


def test_several_warnings_with_one_reason_become_one_text_in_any_order() -> None:
    notices = [notice("c: no"), notice("a: no"), notice("b: no"), notice("a: no")]

    expected = [("web", "InvalidHost", "a: no … and 2 more: run pic plan")]
    assert warned(*notices) == warned(*reversed(notices)) == expected


def test_a_long_text_is_cut_and_its_control_characters_are_escaped() -> None:
    [(_, _, text)] = warned(notice("\x1b" + "x" * 2000), notice("y"))

    assert text == "\\u001b" + "x" * 967 + " … and 1 more: run pic plan"


def test_remarks_other_objects_and_ingresses_outside_the_cluster_get_no_text() -> None:
    tunnel = Notice(Reason.TUNNEL_NOT_FOUND, Ref("PangolinTunnel", "prod", "web"), "gone")
    others = [notice("x", Reason.BLOCK_ACCESS), notice("x", name="gone"), notice("x", name="file")]

    assert warned(tunnel, *others, ingresses=[WEB, Ingress("prod", "file", "")]) == []


def test_a_run_reports_a_bounded_number_of_warnings() -> None:
    count = WARNINGS_A_RUN + 5
    names = [f"web-{number:03}" for number in range(count)]
    ingresses = [Ingress("prod", name, f"uid-{name}") for name in reversed(names)]

    texts = warned(*(notice("x", name=name) for name in reversed(names)), ingresses=ingresses)

    assert [name for name, _, _ in texts] == names[:WARNINGS_A_RUN]


def test_a_text_is_reported_again_only_if_the_text_or_the_ingress_changes() -> None:
    before = event_texts.warnings([notice("a"), notice("x", Reason.EMPTY_HOST)], [WEB])
    reported = event_texts.digests(before)

    assert event_texts.unreported(before, reported) == ()
    assert event_texts.unreported(event_texts.warnings([notice("b")], [WEB]), reported) == (
        EventText(OWNER, "InvalidHost", "b"),
    )
    recreated = Ingress("prod", "web", "uid-2")
    assert event_texts.unreported(event_texts.warnings([notice("a")], [recreated]), reported) == (
        EventText(Owner("prod", "web", "uid-2"), "InvalidHost", "a"),
    )


def test_digests_are_sorted_and_short() -> None:
    first = event_texts.warnings([notice("a")], [WEB])
    second = event_texts.warnings([notice("b", Reason.EMPTY_HOST)], [WEB])

    digests = event_texts.digests([*first, *second])

    assert digests == event_texts.digests([*second, *first])
    assert [len(digest) for digest in digests] == [16, 16]
