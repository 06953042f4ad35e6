from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family
from pic.pihole.hosts_lines import Change
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import LARGEST_BODY, EditLines, ReplaceList, list_size, next_write

SLASHED = "192.0.2.1 web # see http://wiki"
LONG = "x" * 1000


def edit(host: str) -> RecordEdit:
    return RecordEdit(host, Family.A, "192.0.2.9")


def new(host: str, text: str = "") -> Change:
    return Change(edit(host), text or f"new {host}")


def moved(host: str, *removed: int) -> Change:
    return Change(edit(host), f"moved {host}", removed)


def test_a_single_change_goes_line_by_line() -> None:
    for change in (new("a"), moved("a", 0), Change(edit("a"), None, (0,))):
        assert next_write(["old a"], [change]) == EditLines((change,))


def test_several_changes_go_as_one_list() -> None:
    a, b = moved("a", 1), new("b")

    assert next_write(["nas", "old a"], [a, b]) == ReplaceList(
        ("nas", "moved a", "new b"), {"moved a": a, "new b": b}
    )


def test_a_single_change_of_several_lines_goes_as_one_list() -> None:
    deletion = Change(edit("a"), None, (0, 1))

    assert next_write(["old a", "old a", "nas"], [deletion]) == ReplaceList(("nas",), {})


def test_a_line_with_a_slash_is_replaced_with_the_whole_list() -> None:
    change = moved("web", 0)

    assert next_write([SLASHED], [change]) == ReplaceList(("moved web",), {"moved web": change})


def test_the_list_takes_as_many_new_lines_as_fit() -> None:
    foreign = [f"{index}{LONG}" for index in range(58)]
    changes = [moved("a", 0), *(new(f"b{index}", f"{index}{LONG}") for index in range(100))]

    write = next_write(foreign, changes)

    assert isinstance(write, ReplaceList)
    assert list_size(write.lines) <= LARGEST_BODY < list_size((*write.lines, f"2{LONG}"))
    assert write == ReplaceList(
        ("moved a", *foreign[1:], f"0{LONG}", f"1{LONG}"),
        {"moved a": changes[0], f"0{LONG}": changes[1], f"1{LONG}": changes[2]},
    )


def test_new_lines_go_one_by_one_if_none_fits() -> None:
    foreign = [f"{index}{LONG}" for index in range(59)]
    changes = [new("a", LONG), new("b", LONG)]

    assert next_write(foreign, changes) == EditLines(tuple(changes))


def test_a_change_that_no_request_can_express_is_refused() -> None:
    foreign = [f"{index}{LONG}" for index in range(61)]
    slashed, other = moved("web", 61), moved("a", 0)

    write = next_write([*foreign, SLASHED], [other, slashed])

    assert isinstance(write, EditLines)
    assert (write.changes, list(write.refusals)) == ((other,), [edit("web")])
    assert _details(write.refusals[edit("web")]) == (
        FailureClass.INVALID,
        "web: the API of Pi-hole cannot delete the line '192.0.2.1 web # see http://wiki' because"
        " it contains a slash, and the list is too long for one request: delete the line in the"
        " web interface",
    )


def _details(error: PiholeError) -> tuple[FailureClass, str]:
    return error.kind, str(error)
