import pytest

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord, Maker
from pic.pihole.hosts_lines import (
    Change,
    Merged,
    Rules,
    lost_lines,
    merge,
    records,
    rules_for,
)
from pic.pihole.protocol import RecordEdit
from pic.settings.field import TakeOver

RULES = rules_for("c1", "")
MARKER = RULES.marker
TAKE_OVER = rules_for("c1", "", take_over=TakeOver.ALL)
# The rules of one stack of a cluster, and of another one.
MINE = rules_for("2f0c1b9a-7a53", "0123456789abcdef")
OTHERS = rules_for("2f0c1b9a-7a53", "fedcba9876543210")
OLD = "k8s:2f0c1b9a-7a53"


def a(host: str, ip: str | None = "192.0.2.9") -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def aaaa(host: str, ip: str | None) -> RecordEdit:
    return RecordEdit(host, Family.AAAA, ip)


def ours(ip: str, host: str) -> str:
    return f"{ip} {host} # k8s:c1"


def refusals(merged: Merged) -> list[tuple[str, str]]:
    assert {error.kind for error in merged.refusals.values()} <= {FailureClass.INVALID}
    return [(edit.host, str(error)) for edit, error in merged.refusals.items()]


def test_each_name_of_each_line_is_one_record_and_records_are_sorted() -> None:
    lines = [
        "192.0.2.9 Web # k8s:c1",
        "junk",
        "192.0.2.2\tnas  NAS.lan. # k8s:c1 by hand",
        "2001:db8::1 nas",
        "192.0.2.2 nas alias",
        "192.0.2.3 nas",
    ]

    assert records(lines, RULES) == (
        LiveRecord("alias", "192.0.2.2", alone=False),
        LiveRecord("nas", "192.0.2.2", alone=False),
        LiveRecord("nas", "192.0.2.3"),
        LiveRecord("nas", "2001:db8::1"),
        LiveRecord("nas.lan", "192.0.2.2", alone=False),
        LiveRecord("web", "192.0.2.9", ours=True),
    )


def test_new_lines_come_last_sorted_by_host_and_all_other_lines_stay() -> None:
    lines = ["  192.0.2.1\tnas ", "junk # k8s:c1", ours("192.0.2.9", "old")]

    merged = merge(lines, [a("b"), aaaa("a", "2001:DB8::1"), a("a"), a("old")], RULES)

    assert merged == Merged(
        (*lines, ours("192.0.2.9", "a"), ours("2001:db8::1", "a"), ours("192.0.2.9", "b")),
        (
            Change(a("a"), ours("192.0.2.9", "a")),
            Change(aaaa("a", "2001:DB8::1"), ours("2001:db8::1", "a")),
            Change(a("b"), ours("192.0.2.9", "b")),
        ),
    )


def test_a_new_address_replaces_all_our_lines_of_that_host_and_family() -> None:
    lines = [
        ours("192.0.2.1", "web"),
        "192.0.2.7 nas",
        ours("192.0.2.2", "WEB."),
        ours("2001:db8::1", "web"),
    ]

    assert merge(lines, [a("web")], RULES) == Merged(
        (ours("192.0.2.9", "web"), "192.0.2.7 nas", ours("2001:db8::1", "web")),
        (Change(a("web"), ours("192.0.2.9", "web"), (0, 2)),),
    )


def test_of_two_lines_of_ours_the_correct_one_stays_unchanged() -> None:
    lines = [ours("192.0.2.1", "web"), "192.0.2.9\tWEB # k8s:c1", "192.0.2.9 web # k8s:c1"]

    assert merge(lines, [a("web")], RULES).lines == ("192.0.2.9\tWEB # k8s:c1",)
    assert merge(lines[1:2], [a("web")], RULES) == Merged(tuple(lines[1:2]))


def test_a_delete_removes_all_our_lines_of_that_host_and_family_and_nothing_else() -> None:
    foreign = [
        ours("2001:db8::1", "web"),
        "192.0.2.9 web",
        "192.0.2.9 web # k8s:c2",
        "192.0.2.9 web alias # k8s:c1",
    ]
    lines = [ours("192.0.2.9", "web"), *foreign, ours("192.0.2.1", "web")]

    assert merge(lines, [a("web.", None)], RULES) == Merged(
        tuple(foreign), (Change(a("web.", None), None, (0, 5)),)
    )
    assert merge(foreign, [a("web", None)], RULES) == Merged(tuple(foreign))


def test_the_last_of_several_edits_of_a_record_counts() -> None:
    merged = merge([], [a("web", "192.0.2.1"), a("WEB", None), a("web.", "192.0.2.2")], RULES)

    assert merged.lines == (ours("192.0.2.2", "web"),)


def test_a_foreign_record_with_the_same_address_needs_no_change() -> None:
    lines = ("192.0.2.9\tnas Web. # mine", "192.0.2.1 web")

    assert merge(lines, [a("web")], RULES) == Merged(lines)
    assert merge(lines, [a("web")], TAKE_OVER) == Merged(lines)


def test_a_foreign_record_with_another_address_is_a_conflict() -> None:
    lines = ("192.0.2.2 web", "192.0.2.1 WEB")
    conflict = (
        "RecordConflict: pic wants web with 192.0.2.9, but Pi-hole has a record of another owner"
        " with 192.0.2.1, 192.0.2.2. pic leaves it as it is: remove it by hand, or set"
        " pic:piholeTakeOver"
    )

    merged = merge(lines, [a("web"), a("new")], RULES)

    assert merged.lines == (*lines, ours("192.0.2.9", "new"))
    assert refusals(merged) == [("web", conflict)]


def test_a_foreign_line_with_one_name_is_taken_over_if_allowed() -> None:
    lines = ["192.0.2.1 web # see k8s:c1", "192.0.2.1 nas", "192.0.2.2 web", "2001:db8::1 web"]

    assert merge(lines, [a("web")], TAKE_OVER) == Merged(
        (ours("192.0.2.9", "web"), "192.0.2.1 nas", "2001:db8::1 web"),
        (Change(a("web"), ours("192.0.2.9", "web"), (0, 2)),),
    )


def test_a_line_with_other_names_is_never_taken_over() -> None:
    lines = ("192.0.2.1 web", "192.0.2.2 web nas")

    merged = merge(lines, [a("web")], TAKE_OVER)

    assert merged.lines == lines
    assert refusals(merged)[0][1].endswith(
        "with 192.0.2.1, 192.0.2.2. pic leaves it as it is: pic:piholeTakeOver does not cover it,"
        " or its line has other names too: change it by hand"
    )


def test_pic_changes_our_line_even_next_to_a_foreign_line() -> None:
    lines = ["192.0.2.1 web", ours("192.0.2.2", "web")]

    assert merge(lines, [a("web")], TAKE_OVER).lines == ("192.0.2.1 web", ours("192.0.2.9", "web"))
    assert merge(lines, [a("web", None)], TAKE_OVER).lines == ("192.0.2.1 web",)


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (
            a("web", "x"),
            "'web' gets no record in Pi-hole: 'x' is not an address for a record of type A",
        ),
        (
            a("web", "::1"),
            "'web' gets no record in Pi-hole: '::1' is not an address for a record of type A",
        ),
        (
            aaaa("web", "fe80::1%eth0"),
            "'web' gets no record in Pi-hole: 'fe80::1%eth0' is not an address for a record of type"
            " AAAA",
        ),
        (
            a("*.web"),
            "'*.web' gets no record in Pi-hole: wildcards are not supported",
        ),
        (
            a("web\n192.0.2.66 bank"),
            "'web\\n192.0.2.66 bank' gets no record in Pi-hole: it contains '\\u000a' (U+000A),"
            " which host names do not allow",
        ),
    ],
)
def test_an_invalid_host_or_address_is_never_written(edit: RecordEdit, problem: str) -> None:
    merged = merge(["192.0.2.1 nas"], [edit], RULES)

    assert (merged.lines, refusals(merged)) == (("192.0.2.1 nas",), [(edit.host, problem)])


def test_a_foreign_line_that_was_sent_and_is_missing_is_lost() -> None:
    sent = ["192.0.2.1\tnas", "192.0.2.1 nas", "junk", ours("192.0.2.9", "web")]

    assert lost_lines(sent, ["192.0.2.1 nas"], MARKER) == ("192.0.2.1 nas", "junk")
    assert lost_lines(sent, ["junk", " 192.0.2.1  nas", "192.0.2.1 nas", "new"], MARKER) == ()


def test_a_conflict_is_an_error_that_a_retry_does_not_fix() -> None:
    (error,) = merge(["192.0.2.1 web"], [a("web")], RULES).refusals.values()

    assert (type(error), error.kind, error.retry_after) == (PiholeError, FailureClass.INVALID, None)


def line(ip: str, host: str, marker: str) -> str:
    return f"{ip} {host} # {marker}"


def legacy(host: str, ip: str | None = "192.0.2.9") -> RecordEdit:
    return RecordEdit(host, Family.A, ip, legacy=True)


def test_24_the_marker_names_the_cluster_and_the_stack() -> None:
    assert Rules("k8s:2f0c1b9a.01234567", legacy=OLD) == MINE
    assert OTHERS.marker == "k8s:2f0c1b9a.fedcba98"
    assert rules_for("2f0c1b9a-7a53", "") == Rules(OLD)


def test_24_a_line_of_another_stack_is_foreign_and_one_of_an_earlier_version_is_unclear() -> None:
    lines = [
        line("192.0.2.1", "a", MINE.marker),
        line("192.0.2.2", "b", OTHERS.marker),
        line("192.0.2.3", "c", OLD),
        line("192.0.2.4", "d", "k8s:another"),
        "192.0.2.5 e #",
    ]

    assert records(lines, MINE) == (
        LiveRecord("a", "192.0.2.1", ours=True),
        LiveRecord("b", "192.0.2.2", maker=Maker.OTHER_STACK),
        LiveRecord("c", "192.0.2.3", ours=True, legacy=True),
        LiveRecord("d", "192.0.2.4", maker=Maker.OTHER_CLUSTER),
        LiveRecord("e", "192.0.2.5"),
    )


@pytest.mark.parametrize("marker", [OTHERS.marker, OLD])
@pytest.mark.parametrize("take_over", [TakeOver.NONE, TakeOver.ALL])
def test_24_no_edit_changes_or_deletes_the_line_of_another_stack(
    marker: str,
    take_over: TakeOver,
) -> None:
    rules = Rules(MINE.marker, take_over, OLD)
    lines = (line("192.0.2.1", "web", marker),)

    assert merge(lines, [a("web", None)], rules) == Merged(lines)
    assert merge(lines, [a("web", "192.0.2.1")], rules) == Merged(lines)
    assert merge(lines, [a("web")], rules).lines == lines


def test_24_a_line_of_an_earlier_version_is_rewritten_only_with_its_address() -> None:
    lines = (line("192.0.2.1", "web", OLD), line("192.0.2.9", "web", OTHERS.marker))

    assert merge(lines, [legacy("web")], MINE).lines == (
        line("192.0.2.9", "web", MINE.marker),
        lines[1],
    )
    assert merge(lines, [legacy("web", None)], MINE).lines == lines[1:]


def test_24_of_an_interrupted_update_the_line_with_the_new_marker_stays() -> None:
    new = line("192.0.2.9", "web", MINE.marker)
    lines = (line("192.0.2.9", "web", OLD), new, line("192.0.2.1", "web", OLD))

    assert merge(lines, [legacy("web")], MINE).lines == (new,)
    assert merge(lines[:1], [legacy("web")], MINE).lines == (new,)


def test_24_a_foreign_line_of_another_cluster_may_be_taken_over() -> None:
    rules = Rules(MINE.marker, legacy=OLD, take_over=TakeOver.ALL)
    lines = ["192.0.2.1 web # k8s:another", "192.0.2.2 web"]

    assert merge(lines, [a("web")], rules).lines == (line("192.0.2.9", "web", MINE.marker),)


def shared(ip: str, *hosts: str) -> str:
    return f"{ip} {' '.join(hosts)} # k8s:c1*{len(hosts)}"


def test_names_on_a_shared_line_of_ours_are_our_records() -> None:
    lines = [shared("192.0.2.9", "a", "b"), "192.0.2.9 c d # k8s:c1*3"]

    assert [(it.host, it.ours, it.alone) for it in records(lines, RULES)] == [
        ("a", True, True),
        ("b", True, True),
        ("c", False, False),
        ("d", False, False),
    ]


def test_an_edit_takes_its_host_from_a_shared_line() -> None:
    lines = [shared("192.0.2.1", "a", "b", "c"), "192.0.2.7 nas"]

    assert merge(lines, [a("b", "192.0.2.1")], RULES) == Merged(tuple(lines))
    assert merge(lines, [a("b", None)], RULES) == Merged(
        (shared("192.0.2.1", "a", "c"), lines[1]), (Change(a("b", None), None, (), (0,)),)
    )
    assert merge(lines, [a("b"), a("c", None)], RULES) == Merged(
        (ours("192.0.2.1", "a"), lines[1], ours("192.0.2.9", "b")),
        (
            Change(a("b"), ours("192.0.2.9", "b"), (), (0,)),
            Change(a("c", None), None, (), (0,)),
        ),
    )
    assert merge(lines, [a(host, None) for host in "abc"], RULES).lines == (lines[1],)


def test_of_a_shared_and_a_single_line_the_correct_one_stays() -> None:
    right, wrong = shared("192.0.2.9", "a", "b"), ours("192.0.2.1", "a")

    assert merge([wrong, right], [a("a")], RULES).lines == (right,)
    assert merge([right, ours("192.0.2.9", "a")], [a("a")], RULES).lines == (right,)


def test_a_foreign_line_with_the_form_of_a_shared_one_stays() -> None:
    edited = "192.0.2.1 web mine # k8s:c1"

    assert merge([edited], [a("web", None)], RULES).lines == (edited,)
    assert lost_lines([edited, shared("192.0.2.1", "a", "b")], [], MARKER) == (edited,)


@pytest.mark.parametrize(
    ("marker", "modes"),
    [
        ("by hand", {TakeOver.ALL}),
        ("k8s:another", {TakeOver.PIC, TakeOver.ALL}),
        (OTHERS.marker, {TakeOver.PIC}),
        (OLD, {TakeOver.PIC}),
    ],
)
def test_take_over_says_whose_lines_an_edit_replaces(marker: str, modes: set[TakeOver]) -> None:
    lines = [line("192.0.2.1", "web", marker)]

    merged = {
        mode: merge(lines, [a("web")], Rules(MINE.marker, mode, OLD)).lines for mode in TakeOver
    }

    new = (line("192.0.2.9", "web", MINE.marker),)
    assert {mode for mode, result in merged.items() if result == new} == modes


def test_a_stack_without_an_id_knows_the_lines_of_the_stacks_of_its_cluster() -> None:
    rules = rules_for("2f0c1b9a-7a53", "", take_over=TakeOver.ALL)

    assert merge([line("192.0.2.1", "web", MINE.marker)], [a("web")], rules).changes == ()
