"""Tests which requests carry changes of lines to Pi-hole."""

from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family
from pic.pihole.hosts_lines import Change, merge, rules_for
from pic.pihole.lines import compact, shared_line
from pic.pihole.protocol import RecordEdit
from pic.pihole.requests import LARGEST_BODY, EditLines, Put, ReplaceList, list_size, next_write

RULES = rules_for("c1", "")
MARKER = RULES.marker
NEW, OLD = "192.0.2.9", "192.0.2.1"
NAS = "192.0.2.7 nas"
SLASHED = "192.0.2.1 web # see http://wiki"
LONG = [f"192.0.2.7 {'x' * 60}{index} # {'y' * 900}" for index in range(67)]


def edit(host: str, ip: str | None = NEW) -> RecordEdit:
    return RecordEdit(host, Family.A, ip)


def line(host: str, ip: str = NEW) -> str:
    return f"{ip} {host} # {MARKER}"


def write(lines: list[str], *edits: RecordEdit) -> ReplaceList | EditLines:
    return next_write(lines, merge(lines, edits, RULES).changes, MARKER)


def added(host: str, *removed: int) -> Change:
    return Change(edit(host), line(host), removed)


def test_a_single_change_goes_line_by_line() -> None:
    gone = Change(edit("a", None), None, (0,))

    assert write([], edit("a")) == EditLines((Put(line("a"), (added("a"),)),))
    assert write([line("a")], edit("a", None)) == EditLines((), ((line("a"), (gone,)),))
    moved = added("a", 0)
    assert write([line("a", OLD)], edit("a")) == EditLines(
        (Put(line("a"), (moved,)),), ((line("a", OLD), (moved,)),)
    )


def test_a_host_leaves_a_shared_line_after_the_rest_of_it_was_added() -> None:
    shared = shared_line(OLD, ["a", "b"], MARKER)
    change = Change(edit("a", None), None, (), (0,))

    assert write([shared], edit("a", None)) == EditLines(
        (Put(line("b", OLD)),), ((shared, (change,)),)
    )


def test_several_changes_go_as_one_list() -> None:
    assert write([NAS, line("a", OLD)], edit("a"), edit("b")) == ReplaceList(
        (NAS, line("a"), line("b")), {line("a"): (added("a", 1),), line("b"): (added("b"),)}
    )


def test_a_single_change_of_several_lines_goes_as_one_list() -> None:
    lines = [line("a", OLD), line("a", OLD), NAS]

    assert write(lines, edit("a", None)) == ReplaceList((NAS,), {})


def test_a_line_with_a_slash_is_replaced_with_the_whole_list() -> None:
    change = added("web", 0)

    assert next_write([SLASHED], [change], MARKER) == ReplaceList(
        (line("web"),), {line("web"): (change,)}
    )


def test_names_share_lines_where_the_list_is_too_long_otherwise() -> None:
    hosts = [f"app-{index:04}.example.com" for index in range(1_600)]
    lines = [NAS, *(line(host, OLD) for host in hosts)]

    moving = write(lines, *(edit(host) for host in hosts[:700]))

    assert isinstance(moving, ReplaceList)
    assert list_size(lines) > LARGEST_BODY > list_size(moving.lines)
    assert moving.lines == compact([NAS, *map(line, hosts[:700]), *lines[701:]], MARKER)
    assert [change.edit.host for it in moving.by_line.values() for change in it] == hosts[:700]


def test_a_list_that_is_too_long_is_changed_line_by_line() -> None:
    shared = shared_line(NEW, ["b", "c"], MARKER)
    b, c = added("b"), added("c")

    old = [*LONG, line("a", OLD), shared_line(OLD, ["d", "e"], MARKER)]
    assert write(old, edit("b"), edit("c"), edit("a"), edit("d", None)) == EditLines(
        (
            Put(shared_line(NEW, ["a", "b", "c"], MARKER), (added("a", 67), b, c)),
            Put(line("e", OLD)),
        ),
        (
            (old[67], (added("a", 67),)),
            (old[68], (Change(edit("d", None), None, (), (68,)),)),
        ),
    )
    assert write(LONG, edit("b"), edit("c")) == EditLines((Put(shared, (b, c)),))


def test_a_change_that_no_request_can_express_is_refused() -> None:
    slashed, other = added("web", 67), added("a")

    edits = next_write([*LONG, SLASHED], [other, slashed], MARKER)

    assert isinstance(edits, EditLines)
    assert (edits.puts, list(edits.refusals)) == ((Put(line("a"), (other,)),), [edit("web")])
    assert _details(edits.refusals[edit("web")]) == (
        FailureClass.INVALID,
        "web: the API of Pi-hole cannot delete the line '192.0.2.1 web # see http://wiki' because"
        " it contains a slash, and the list is too long for one request: delete the line in the"
        " web interface",
    )


def _details(error: PiholeError) -> tuple[FailureClass, str]:
    return error.kind, str(error)
