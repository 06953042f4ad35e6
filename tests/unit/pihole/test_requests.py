from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family
from pic.pihole.hosts_lines import Change
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import (
    LIMIT,
    EditLines,
    ReplaceList,
    size,
    step,
)

SLASHED = "192.0.2.1 web # see http://wiki"
LONG = "x" * 1000


def edit(host: str) -> RecordEdit:
    return RecordEdit(host, Family.A, "192.0.2.9")


def new(host: str, text: str = "") -> Change:
    return Change(edit(host), text or f"new {host}")


def moved(host: str, *gone: int) -> Change:
    return Change(edit(host), f"moved {host}", gone)


def test_a_lone_change_goes_line_by_line() -> None:
    for change in (new("a"), moved("a", 0), Change(edit("a"), None, (0,))):
        assert step(["old a"], [change]) == EditLines((change,))


def test_more_changes_go_with_the_whole_list() -> None:
    a, b = moved("a", 1), new("b")

    assert step(["nas", "old a"], [a, b]) == ReplaceList(
        ("nas", "moved a", "new b"), {"moved a": a, "new b": b}
    )


def test_a_lone_change_of_several_lines_goes_with_the_whole_list() -> None:
    gone = Change(edit("a"), None, (0, 1))

    assert step(["old a", "old a", "nas"], [gone]) == ReplaceList(("nas",), {})


def test_what_a_url_cannot_say_goes_with_the_whole_list() -> None:
    change = moved("web", 0)

    assert step([SLASHED], [change]) == ReplaceList(("moved web",), {"moved web": change})


def test_the_whole_list_takes_as_many_new_lines_as_there_is_room_for() -> None:
    foreign = [f"{at}{LONG}" for at in range(58)]
    changes = [moved("a", 0), *(new(f"b{at}", f"{at}{LONG}") for at in range(100))]

    whole = step(foreign, changes)

    assert isinstance(whole, ReplaceList)
    assert size(whole.lines) <= LIMIT < size((*whole.lines, f"2{LONG}"))
    assert whole == ReplaceList(
        ("moved a", *foreign[1:], f"0{LONG}", f"1{LONG}"),
        {"moved a": changes[0], f"0{LONG}": changes[1], f"1{LONG}": changes[2]},
    )


def test_where_there_is_no_room_at_all_new_lines_go_one_by_one() -> None:
    foreign = [f"{at}{LONG}" for at in range(59)]
    changes = [new("a", LONG), new("b", LONG)]

    assert step(foreign, changes) == EditLines(tuple(changes))


def test_what_a_long_list_and_a_url_cannot_hold_is_refused() -> None:
    foreign = [f"{at}{LONG}" for at in range(61)]
    taken, other = moved("web", 61), moved("a", 0)

    found = step([*foreign, SLASHED], [other, taken])

    assert isinstance(found, EditLines)
    assert (found.changes, list(found.refusals)) == ((other,), [edit("web")])
    assert _told(found.refusals[edit("web")]) == (
        FailureClass.INVALID,
        "web: Pi-hole cannot delete the line '192.0.2.1 web # see http://wiki' through its API,"
        " because of the / in it, and its list is too long to be sent whole: delete that line in"
        " the web interface",
    )


def _told(error: PiholeError) -> tuple[FailureClass, str]:
    return error.kind, str(error)
