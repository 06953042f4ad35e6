"""Tests what annotations mean, and what happens while one cannot be read."""

import pytest

from pic.core.notices import Reason
from pic.planning.annotations import (
    KEYS,
    NAMES,
    NO_OPTIONS,
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


def test_a_missing_switch_is_absent() -> None:
    assert switch({}, "key", null=Switch.UNREADABLE) is Switch.ABSENT


def test_the_caller_decides_what_a_null_counts_as() -> None:
    assert switch({"key": None}, "key", null=Switch.UNREADABLE) is Switch.UNREADABLE


def test_annotations_with_other_prefixes_have_no_effect() -> None:
    assert read({"nginx.ingress.kubernetes.io/rewrite-target": "/"}) is NO_OPTIONS


def test_every_annotation_is_read() -> None:
    values = ("yes", " main ", "Example.COM.", "A.b", "1", "on", "true", "HTTPS")

    options = read({f"{PREFIX}{name}": value for name, value in zip(NAMES, values, strict=True)})

    assert options == IngressOptions(
        enabled=Switch.ON,
        tunnel="main",
        domain="example.com",
        subdomain="a.b",
        sso=True,
        block_access=True,
        path_regex=True,
        scheme="https",
    )
    assert options.problems == ()


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("enabled", "maybe", IngressOptions(enabled=Switch.UNREADABLE, holds=True)),
        ("tunnel-name", "", IngressOptions(holds=True)),
        ("domain-name", "com", IngressOptions(holds=True, hosts_unknown=True)),
        ("subdomain", "*", IngressOptions(holds=True, hosts_unknown=True)),
        ("sso", "maybe", IngressOptions(sso=True)),
        ("block-access", "maybe", IngressOptions(block_access=True)),
        ("path-regex", "maybe", IngressOptions(holds=True)),
        ("backend-scheme", "h2c", IngressOptions(holds=True)),
    ],
)
def test_an_unreadable_value_protects_or_holds_and_is_reported(
    name: str, value: str, expected: IngressOptions
) -> None:
    options = read({f"{PREFIX}{name}": value})

    assert options == expected
    assert [problem.reason for problem in options.problems] == [Reason.INVALID_ANNOTATION]


def test_a_long_value_is_cut_in_the_message() -> None:
    (problem,) = read({f"{PREFIX}path-regex": "x" * 200}).problems

    shown = "'" + "x" * 79
    assert problem.message == (
        f"{PREFIX}path-regex is {shown}, but must be true or false: live hosts stay unchanged, new"
        " hosts are not exposed"
    )


def test_an_unknown_annotation_is_reported_with_the_nearest_name() -> None:
    assert read({f"{PREFIX}sso2": "x", f"{PREFIX}Enabled": "x"}).problems == (
        Problem(
            Reason.UNKNOWN_ANNOTATION,
            f"{PREFIX}Enabled is not a known annotation; did you mean {PREFIX}enabled?",
        ),
        Problem(
            Reason.UNKNOWN_ANNOTATION,
            f"{PREFIX}sso2 is not a known annotation; did you mean {PREFIX}sso?",
        ),
    )


def test_each_annotation_is_fully_documented() -> None:
    assert [key.name for key in KEYS if not (key.values and key.meaning and key.unreadable)] == []


def test_the_report_of_an_annotation_with_a_variable_names_the_variable() -> None:
    (problem,) = read({f"{PREFIX}subdomain": "${SUB}"}).problems

    assert problem.message.startswith(
        f"{PREFIX}subdomain is '${{SUB}}' (variable not filled in: ${{SUB}}), but must be "
    )
