import pytest

from pic.core.advice import ADVICE, Fate
from pic.core.notices import NORMAL, Level, Notice, Reason, Ref

WEB = Ref("Ingress", "prod", "web")


def test_every_reason_has_advice() -> None:
    assert list(ADVICE) == list(Reason)


def test_advice_is_whole_sentences() -> None:
    texts = [text for advice in ADVICE.values() for text in (advice.cause, advice.remedy)]

    assert [text for text in texts if not text.endswith(".") or "  " in text] == []


def test_a_live_object_is_deleted_only_where_it_is_known_to_be_unwanted() -> None:
    deleting = {reason for reason, advice in ADVICE.items() if advice.fate is Fate.DELETED}

    assert deleting == {
        Reason.EXTERNAL_NAME_REFUSED,
        Reason.HOST_NOT_ALLOWED,
        Reason.INVALID_HOST,
    }


def test_a_reason_below_warning_affects_no_live_object() -> None:
    assert {ADVICE[reason].fate for reason in NORMAL} == {Fate.NONE}


def test_the_reason_decides_the_level() -> None:
    assert Notice(Reason.BLOCK_ACCESS, WEB, "blocked").level is Level.NORMAL
    assert Notice(Reason.NO_RULES, WEB, "no rules").level is Level.WARNING


def test_notices_sort_by_object_host_reason_and_text() -> None:
    later = Notice(Reason.NO_RULES, WEB, "b")
    of_host = Notice(Reason.BLOCK_ACCESS, WEB, "a", "app.example.com")
    other = Notice(Reason.BLOCK_ACCESS, Ref("Ingress", "dev", "web"), "z", "z.example.com")
    earlier = Notice(Reason.NO_RULES, WEB, "a")

    notices = sorted([of_host, later, other, earlier], key=lambda notice: notice.order)

    assert notices == [other, earlier, later, of_host]


def test_the_text_of_an_object_without_a_namespace_is_its_name() -> None:
    assert [str(WEB), str(Ref("Setting", "", "events"))] == ["prod/web", "events"]


def test_an_urgent_notice_is_a_warning_whatever_its_reason() -> None:
    assert Notice(Reason.BEING_DELETED, WEB, "going", urgent=True).level is Level.WARNING


@pytest.mark.parametrize(
    ("notice", "text"),
    [
        (Notice(Reason.NO_RULES, WEB, "no rules"), "no rules"),
        (Notice(Reason.NO_PATHS, WEB, "no path", "a.example.com"), "a.example.com: no path"),
        (Notice(Reason.NO_PATHS, WEB, "a.org has none", "a.org"), "a.org has none"),
        (Notice(Reason.HELD, Ref("DNS record", "", "a.org/A"), "stays", "a.org"), "stays"),
        (
            Notice(Reason.NO_PATHS, WEB, "no", hosts=("a.org", "b.org")),
            "no (its hosts: a.org, b.org)",
        ),
        (
            Notice(Reason.NO_PATHS, WEB, "a.org", hosts=("a.org", "b.org")),
            "a.org (its hosts: b.org)",
        ),
        (Notice(Reason.NO_PATHS, WEB, "a.org", hosts=("a.org",)), "a.org"),
        (
            Notice(Reason.NO_PATHS, WEB, "no", hosts=tuple("abcdefg")),
            "no (its hosts: a, b, c, d, e and 2 more)",
        ),
    ],
)
def test_the_text_of_a_notice_names_its_hosts_once(notice: Notice, text: str) -> None:
    assert notice.text == text
