from pic.core.notices import (
    ADVICE,
    NORMAL,
    Fate,
    Level,
    Notice,
    Reason,
    Ref,
)

WEB = Ref("Ingress", "prod", "web")


def test_every_reason_has_advice() -> None:
    assert list(ADVICE) == list(Reason)


def test_advice_is_whole_sentences() -> None:
    texts = [text for advice in ADVICE.values() for text in (advice.cause, advice.way_out)]

    assert [text for text in texts if not text.endswith(".") or "  " in text] == []


def test_a_live_object_goes_only_for_what_is_known_to_be_unwanted() -> None:
    going = {reason for reason, advice in ADVICE.items() if advice.fate is Fate.GOES}

    assert going == {
        Reason.EXTERNAL_NAME_REFUSED,
        Reason.HOST_NOT_ALLOWED,
        Reason.INVALID_HOST,
    }


def test_what_is_no_warning_touches_no_live_object() -> None:
    assert {ADVICE[reason].fate for reason in NORMAL} == {Fate.NONE}


def test_the_reason_decides_how_loud_a_notice_is() -> None:
    assert Notice(Reason.BLOCK_ACCESS, WEB, "blocked").level is Level.NORMAL
    assert Notice(Reason.NO_RULES, WEB, "no rules").level is Level.WARNING


def test_notices_sort_by_object_host_reason_and_text() -> None:
    loud = Notice(Reason.NO_RULES, WEB, "b")
    of_host = Notice(Reason.BLOCK_ACCESS, WEB, "a", "app.example.com")
    other = Notice(Reason.BLOCK_ACCESS, Ref("Ingress", "dev", "web"), "z", "z.example.com")
    again = Notice(Reason.NO_RULES, WEB, "a")

    found = sorted([of_host, loud, other, again], key=lambda notice: notice.order)

    assert found == [other, again, loud, of_host]


def test_an_object_without_a_namespace_is_named_by_its_name_alone() -> None:
    assert [str(WEB), str(Ref("Setting", "", "events"))] == ["prod/web", "events"]
