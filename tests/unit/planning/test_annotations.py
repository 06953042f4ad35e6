import pytest

from pic.core.notices import Reason
from pic.planning.annotations import (
    KEYS,
    NAMES,
    NONE,
    PREFIX,
    IngressOptions,
    Switch,
    read,
    switch,
)
from pic.planning.notice_log import Problem


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        *((word, Switch.ON) for word in ("true", "True", "YES", "on", "1", " true ", "\ttrue\n")),
        *((word, Switch.OFF) for word in ("false", "FALSE", "no", "Off", "0", " 0 ")),
        *((word, Switch.UNREADABLE) for word in ("", " ", "t", "2", "enabled", "wahr", "t rue")),
        (None, Switch.ABSENT),
    ],
)
def test_a_switch_is_read_in_any_usual_spelling(value: str | None, expected: Switch) -> None:
    assert switch({"key": value}, "key") is expected


def test_a_switch_that_is_not_there_is_absent() -> None:
    assert switch({}, "key", null=Switch.UNREADABLE) is Switch.ABSENT


def test_where_a_null_matters_it_is_what_the_caller_says() -> None:
    assert switch({"key": None}, "key", null=Switch.UNREADABLE) is Switch.UNREADABLE


def test_annotations_of_others_ask_for_nothing() -> None:
    assert read({"nginx.ingress.kubernetes.io/rewrite-target": "/"}) is NONE


def test_every_annotation_is_read() -> None:
    values = ("yes", " main ", "Example.COM.", "A.b", "1", "on", "true", "HTTPS")

    found = read({f"{PREFIX}{name}": value for name, value in zip(NAMES, values, strict=True)})

    assert found == IngressOptions(
        enabled=Switch.ON,
        tunnel="main",
        domain="example.com",
        subdomain="a.b",
        sso=True,
        block_access=True,
        path_regex=True,
        scheme="https",
    )
    assert found.problems == ()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("enabled", "maybe", IngressOptions(enabled=Switch.UNREADABLE, holds=True)),
        ("tunnel-name", "", IngressOptions(holds=True)),
        ("domain-name", "com", IngressOptions(holds=True, renames=True)),
        ("subdomain", "*", IngressOptions(holds=True, renames=True)),
        ("sso", "maybe", IngressOptions(sso=True)),
        ("block-access", "maybe", IngressOptions(block_access=True)),
        ("path-regex", "maybe", IngressOptions(holds=True)),
        ("backend-scheme", "h2c", IngressOptions(holds=True)),
    ],
)
def test_what_cannot_be_read_protects_or_holds_and_is_told(
    name: str, value: str, expected: IngressOptions
) -> None:
    found = read({f"{PREFIX}{name}": value})

    assert found == expected
    assert [problem.reason for problem in found.problems] == [Reason.INVALID_ANNOTATION]


def test_a_long_value_is_shown_in_part() -> None:
    (problem,) = read({f"{PREFIX}path-regex": "x" * 200}).problems

    shown = "'" + "x" * 79
    assert problem.message == (
        f"{PREFIX}path-regex is {shown}, allowed is true or false: its hosts stay as they are"
    )


def test_unknown_annotations_are_told_by_name() -> None:
    assert read({f"{PREFIX}sso2": "x", f"{PREFIX}Enabled": "x"}).problems == (
        Problem(
            Reason.UNKNOWN_ANNOTATION,
            f"{PREFIX}Enabled does not exist; did you mean {PREFIX}enabled?",
        ),
        Problem(
            Reason.UNKNOWN_ANNOTATION, f"{PREFIX}sso2 does not exist; did you mean {PREFIX}sso?"
        ),
    )


def test_documentation_knows_of_each_annotation_what_happens_when_it_is_unreadable() -> None:
    assert [key.name for key in KEYS if not (key.values and key.meaning and key.unreadable)] == []
