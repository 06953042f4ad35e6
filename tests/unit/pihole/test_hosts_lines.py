import pytest

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord
from pic.pihole.hosts_lines import (
    Change,
    Line,
    Merged,
    Rules,
    is_ours,
    lost,
    marker,
    merged,
    parse,
    records,
)
from pic.pihole.protocol import RecordEdit

MARK = marker("c1")
RULES = Rules(MARK)
TAKING = Rules(MARK, take_over=True)


def a(host: str, ip: str | None = "192.0.2.9") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def aaaa(host: str, ip: str | None) -> RecordEdit:
    return RecordEdit(host, Family.AAAA, ip)


def ours(ip: str, host: str) -> str:
    return f"{ip} {host} # k8s:c1"


def told(found: Merged) -> list[tuple[str, str]]:
    assert {error.kind for error in found.refusals.values()} <= {FailureClass.INVALID}
    return [(edit.host, str(error)) for edit, error in found.refusals.items()]


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
def test_a_line_is_an_address_with_names_and_perhaps_a_comment(
    text: str, line: Line | None
) -> None:
    assert parse(text) == line


@pytest.mark.parametrize(
    ("text", "mine"),
    [
        ("192.0.2.1 nas # k8s:c1", True),
        ("192.0.2.1\tNAS.  #k8s:c1\t", True),
        ("192.0.2.1 nas www # k8s:c1", False),
        ("192.0.2.1 nas # see k8s:c1", False),
        ("192.0.2.1 nas # k8s:c1 and mine", False),
        ("192.0.2.1 nas # k8s:c12", False),
        ("192.0.2.1 nas # K8S:C1", False),
        ("192.0.2.1 nas# k8s:c1", False),
        ("192.0.2.1 nas", False),
        ("999.0.2.1 nas # k8s:c1", False),
    ],
)
def test_a_line_is_ours_only_as_pic_writes_it(text: str, mine: bool) -> None:  # noqa: FBT001
    assert is_ours(text, MARK) is mine


def test_every_name_of_every_line_is_a_record_once_and_sorted() -> None:
    lines = [
        "192.0.2.9 Web # k8s:c1",
        "junk",
        "192.0.2.2\tnas  NAS.lan. # k8s:c1 by hand",
        "2001:db8::1 nas",
        "192.0.2.2 nas alias",
        "192.0.2.3 nas",
    ]

    assert records(lines, MARK) == (
        LiveRecord("alias", "192.0.2.2", alone=False),
        LiveRecord("nas", "192.0.2.2", alone=False),
        LiveRecord("nas", "192.0.2.3"),
        LiveRecord("nas", "2001:db8::1"),
        LiveRecord("nas.lan", "192.0.2.2", alone=False),
        LiveRecord("web", "192.0.2.9", ours=True),
    )


def test_new_lines_come_last_in_the_order_of_their_hosts_and_all_others_stay() -> None:
    lines = ["  192.0.2.1\tnas ", "junk # k8s:c1", ours("192.0.2.9", "old")]

    found = merged(lines, [a("b"), aaaa("a", "2001:DB8::1"), a("a"), a("old")], RULES)

    assert found == Merged(
        (*lines, ours("192.0.2.9", "a"), ours("2001:db8::1", "a"), ours("192.0.2.9", "b")),
        (
            Change(a("a"), ours("192.0.2.9", "a")),
            Change(aaaa("a", "2001:DB8::1"), ours("2001:db8::1", "a")),
            Change(a("b"), ours("192.0.2.9", "b")),
        ),
    )


def test_another_address_takes_the_place_of_all_ours_of_that_host_and_family() -> None:
    lines = [
        ours("192.0.2.1", "web"),
        "192.0.2.7 nas",
        ours("192.0.2.2", "WEB."),
        ours("2001:db8::1", "web"),
    ]

    assert merged(lines, [a("web")], RULES) == Merged(
        (ours("192.0.2.9", "web"), "192.0.2.7 nas", ours("2001:db8::1", "web")),
        (Change(a("web"), ours("192.0.2.9", "web"), (0, 2)),),
    )


def test_of_two_lines_of_ours_the_right_one_stays_as_it_is() -> None:
    lines = [ours("192.0.2.1", "web"), "192.0.2.9\tWEB # k8s:c1", "192.0.2.9 web # k8s:c1"]

    assert merged(lines, [a("web")], RULES).lines == ("192.0.2.9\tWEB # k8s:c1",)
    assert merged(lines[1:2], [a("web")], RULES) == Merged(tuple(lines[1:2]))


def test_a_deletion_takes_all_ours_of_that_host_and_family_and_nothing_else() -> None:
    others = [
        ours("2001:db8::1", "web"),
        "192.0.2.9 web",
        "192.0.2.9 web # k8s:c2",
        "192.0.2.9 web alias # k8s:c1",
    ]
    lines = [ours("192.0.2.9", "web"), *others, ours("192.0.2.1", "web")]

    assert merged(lines, [a("web.", None)], RULES) == Merged(
        tuple(others), (Change(a("web.", None), None, (0, 5)),)
    )
    assert merged(others, [a("web", None)], RULES) == Merged(tuple(others))


def test_of_several_edits_of_a_record_the_last_one_counts() -> None:
    found = merged([], [a("web", "192.0.2.1"), a("WEB", None), a("web.", "192.0.2.2")], RULES)

    assert found.lines == (ours("192.0.2.2", "web"),)


def test_what_somebody_else_has_with_the_same_address_is_done() -> None:
    lines = ("192.0.2.9\tnas Web. # mine", "192.0.2.1 web")

    assert merged(lines, [a("web")], RULES) == Merged(lines)
    assert merged(lines, [a("web")], TAKING) == Merged(lines)


def test_what_somebody_else_has_with_another_address_is_a_conflict() -> None:
    lines = ("192.0.2.2 web", "192.0.2.1 WEB")
    conflict = (
        "RecordConflict: web is wanted with 192.0.2.9, and Pi-hole has it with 192.0.2.1,"
        " 192.0.2.2 of somebody else, which is left alone: remove it by hand, or set"
        " pic:piholeTakeOver"
    )

    found = merged(lines, [a("web"), a("new")], RULES)

    assert found.lines == (*lines, ours("192.0.2.9", "new"))
    assert told(found) == [("web", conflict)]


def test_what_somebody_else_has_alone_is_taken_over_where_that_is_allowed() -> None:
    lines = ["192.0.2.1 web # see k8s:c1", "192.0.2.1 nas", "192.0.2.2 web", "2001:db8::1 web"]

    assert merged(lines, [a("web")], TAKING) == Merged(
        (ours("192.0.2.9", "web"), "192.0.2.1 nas", "2001:db8::1 web"),
        (Change(a("web"), ours("192.0.2.9", "web"), (0, 2)),),
    )


def test_a_line_with_other_names_is_never_taken_over() -> None:
    lines = ("192.0.2.1 web", "192.0.2.2 web nas")

    found = merged(lines, [a("web")], TAKING)

    assert found.lines == lines
    assert told(found)[0][1].endswith(
        "with 192.0.2.1, 192.0.2.2 of somebody else, which is left alone: it shares its line with"
        " other names, so change it by hand"
    )


def test_our_line_beside_one_of_somebody_else_is_ours_to_change() -> None:
    lines = ["192.0.2.1 web", ours("192.0.2.2", "web")]

    assert merged(lines, [a("web")], TAKING).lines == ("192.0.2.1 web", ours("192.0.2.9", "web"))
    assert merged(lines, [a("web", None)], TAKING).lines == ("192.0.2.1 web",)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (a("web", "x"), "'web' gets no record in Pi-hole: 'x' is no address for a record A"),
        (a("web", "::1"), "'web' gets no record in Pi-hole: '::1' is no address for a record A"),
        (
            aaaa("web", "fe80::1%eth0"),
            "'web' gets no record in Pi-hole: 'fe80::1%eth0' is no address for a record AAAA",
        ),
        (
            a("*.web"),
            "'*.web' gets no record in Pi-hole: a wildcard cannot be exposed",
        ),
        (
            a("web\n192.0.2.66 bank"),
            "'web\\n192.0.2.66 bank' gets no record in Pi-hole: it holds a character that host"
            " names cannot have",
        ),
    ],
)
def test_nothing_is_written_that_is_no_host_with_an_address(edit: RecordEdit, problem: str) -> None:
    found = merged(["192.0.2.1 nas"], [edit], RULES)

    assert (found.lines, told(found)) == (("192.0.2.1 nas",), [(edit.host, problem)])


def test_lines_of_others_are_lost_where_they_are_sent_and_not_there() -> None:
    sent = ["192.0.2.1\tnas", "192.0.2.1 nas", "junk", ours("192.0.2.9", "web")]

    assert lost(sent, ["192.0.2.1 nas"], MARK) == ("192.0.2.1 nas", "junk")
    assert lost(sent, ["junk", " 192.0.2.1  nas", "192.0.2.1 nas", "new"], MARK) == ()


def test_an_error_says_that_retrying_is_of_no_use() -> None:
    (error,) = merged(["192.0.2.1 web"], [a("web")], RULES).refusals.values()

    assert (type(error), error.kind, error.retry_after) == (PiholeError, FailureClass.INVALID, None)
