"""Tests how single lines of a hosts list are parsed and written."""

import pytest

from dev.pihole import hosts
from pic.pihole.lines import LONGEST_LINE, Line, compact, is_ours, parse, problem, shared_lines

MARKER = "k8s:c1"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("192.0.2.1 nas", Line("192.0.2.1", ("nas",))),
        ("\t192.0.2.1\t NAS.lan.  www\tnas.lan ", Line("192.0.2.1", ("nas.lan", "www"))),
        ("2001:DB8:0::1 nas", Line("2001:db8::1", ("nas",))),
        ("::ffff:1.2.3.4 nas", Line("::ffff:102:304", ("nas",))),
        ("192.0.2.1 nas #  mine # k8s:c1 ", Line("192.0.2.1", ("nas",), "mine # k8s:c1")),
        ("192.0.2.1 nas #k8s:c1", Line("192.0.2.1", ("nas",), "k8s:c1")),
        ("192.0.2.1 nas# k8s:c1", Line("192.0.2.1", ("nas",))),
        ("192.0.2.1 nas #", Line("192.0.2.1", ("nas",), "")),
        ("", None),
        ("# 192.0.2.1 nas", None),
        ("192.0.2.1", None),
        ("192.0.2.1 # nas", None),
        ("01.02.03.04 nas", None),
        ("nas 192.0.2.1", None),
        ("192.0.2.1 nas # k8s:c1\n192.0.2.2 evil", None),
    ],
)
def test_a_line_is_an_address_with_names_and_an_optional_comment(
    text: str, line: Line | None
) -> None:
    assert parse(text) == line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.1 nas # k8s:c1", True),
        ("192.0.2.1\tNAS.  #k8s:c1\t", True),
        ("192.0.2.1 nas www # k8s:c1", False),
        ("192.0.2.1 nas www # k8s:c1*2", True),
        ("192.0.2.1 nas www more # k8s:c1*2", False),
        ("192.0.2.1 nas # k8s:c1*1", False),
        ("192.0.2.1 nas www # k8s:c1*02", False),
        ("192.0.2.1 nas # see k8s:c1", False),
        ("192.0.2.1 nas # k8s:c1 and mine", False),
        ("192.0.2.1 nas # k8s:c12", False),
        ("192.0.2.1 nas # K8S:C1", False),
        ("192.0.2.1 nas# k8s:c1", False),
        ("192.0.2.1 nas", False),
        ("999.0.2.1 nas # k8s:c1", False),
    ],
)
def test_a_line_is_ours_only_in_the_form_that_pic_writes(text: str, expected: bool) -> None:  # noqa: FBT001
    assert is_ours(text, MARKER) is expected


def test_names_with_one_address_share_lines_that_fit_into_a_url() -> None:
    names = [f"host-{index:04}.example.com" for index in range(400)]

    lines = [*shared_lines("192.0.2.1", names, MARKER)]

    assert [parse(text) for text in lines] == [
        Line("192.0.2.1", tuple(names[:180]), "k8s:c1*180"),
        Line("192.0.2.1", tuple(names[180:360]), "k8s:c1*180"),
        Line("192.0.2.1", tuple(names[360:]), "k8s:c1*40"),
    ]
    assert max(map(len, lines)) <= LONGEST_LINE
    assert [*shared_lines("192.0.2.1", [], MARKER)] == []


def test_a_compact_list_keeps_every_foreign_line_and_every_name_of_ours() -> None:
    foreign = ["192.0.2.1\tnas  www", "junk", "192.0.2.1 web # k8s:c2"]
    lines = [
        "192.0.2.2 d # k8s:c1",
        foreign[0],
        "192.0.2.1 c # k8s:c1",
        *foreign[1:],
        "192.0.2.1 a b # k8s:c1*2",
        "192.0.2.1 a # k8s:c1",
        "2001:db8::1 a # k8s:c1",
    ]

    assert compact(lines, MARKER) == (
        *foreign,
        "192.0.2.1 a b c # k8s:c1*3",
        "192.0.2.2 d # k8s:c1",
        "2001:db8::1 a # k8s:c1",
    )
    assert compact(compact(lines, MARKER), MARKER) == compact(lines, MARKER)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("192.0.2.1 nas www.lan # mine", ""),
        ("\t2001:db8::1  foo_bar.lan", ""),
        (f"192.0.2.1 {'x' * 100}", ""),
        ("192.0.2.1 nas.", ""),
        ("", "'' is no IP address"),
        ("# only", "'#' is no IP address"),
        ("01.02.03.04 nas", "'01.02.03.04' is no IP address"),
        ("fe80::1%eth0 nas", "'fe80::1%eth0' is no IP address"),
        ("192.0.2.1", "it has no host name"),
        ("192.0.2.1 #nas", "it has no host name"),
        ("192.0.2.1 nas *.lan", "'*.lan' is no host name"),
        ("192.0.2.1 a..b", "'a..b' is no host name"),
        (f"192.0.2.1 {'x' * 64}.lan", f"'{'x' * 64}.lan' is no host name"),
        (f"192.0.2.1 {'x' * 256}", f"'{'x' * 256}' is no host name"),
    ],
)
def test_a_line_that_pihole_refuses_has_a_problem(text: str, expected: str) -> None:
    assert problem(text) == expected
    # The server of the tests refuses what the real one was measured to refuse.
    assert bool(hosts.complaint([text])) is bool(expected)
