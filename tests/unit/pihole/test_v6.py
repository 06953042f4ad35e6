"""Reads and writes of Pi-hole v6, against a simulation that dies of two requests at once."""

from dataclasses import replace

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass
from pic.core.model import Family, LiveRecord
from pic.pihole.lines import compact, shared_line
from pic.pihole.protocol import RecordEdit
from pic.pihole.v6 import HOSTS_PATH
from pic.settings.field import TakeOver
from tests.support.pihole_fakes import CLUSTER, a, details, ours, refused
from tests.support.pihole_v6 import FOREIGN, pihole

LONG = [
    f"10.1.{index // 250}.{index % 250} host-{index}.example.com # {'x' * 60}"
    for index in range(700)
]


def requests(server: PiHole) -> list[str]:
    """Return the reads and writes after the login."""
    return [f"{entry.method} {entry.path.removeprefix(HOSTS_PATH)}" for entry in server.log[1:]]


MARKER = f"k8s:{CLUSTER}"
READ = "GET "
READY = ["GET ", "GET /api/config/misc/readOnly"]


def test_every_record_is_read_and_marked_lines_are_ours() -> None:
    with pihole([*FOREIGN, ours("192.0.2.9", "web")]) as (server, hosts):
        assert hosts.read() == (
            LiveRecord("nas", "192.0.2.1", alone=False),
            LiveRecord("nas", "2001:db8::1"),
            LiveRecord("printer.lan", "10.0.0.1"),
            LiveRecord("web", "192.0.2.9", ours=True),
            LiveRecord("www", "192.0.2.1", alone=False),
        )
        assert requests(server) == [READ]


def test_nothing_is_written_if_nothing_differs() -> None:
    with pihole([*FOREIGN, ours("192.0.2.9", "web")]) as (server, hosts):
        assert hosts.apply([a("web"), a("gone", None), a("nas", "192.0.2.1")]) == {}
        assert (requests(server), server.writes) == ([READ], 0)


def test_one_record_is_added_without_sending_the_list() -> None:
    with pihole(FOREIGN) as (server, hosts):
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]
        assert requests(server) == [
            READ,
            *READY,
            f"PUT /192.0.2.9%20web%20%23%20k8s%3A{CLUSTER}",
            READ,
        ]


def test_a_new_address_is_added_before_the_old_one_is_deleted() -> None:
    with pihole([ours("192.0.2.1", "web"), *FOREIGN]) as (server, hosts):
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]
        assert [request.split("%")[0] for request in requests(server)[3:]] == [
            "PUT /192.0.2.9",
            "DELETE /192.0.2.1",
            READ,
        ]


def test_several_changes_are_one_request_that_keeps_all_other_lines_in_place() -> None:
    with pihole([ours("192.0.2.1", "web"), *FOREIGN, ours("192.0.2.9", "old")]) as (server, hosts):
        edits = [
            a("web"),
            a("old", None),
            a("b"),
            RecordEdit("b", Family.AAAA, "2001:db8::9"),
            a("a"),
        ]

        assert hosts.apply(edits) == {}
        assert server.lines == [
            ours("192.0.2.9", "web"),
            *FOREIGN,
            ours("192.0.2.9", "a"),
            ours("192.0.2.9", "b"),
            ours("2001:db8::9", "b"),
        ]
        assert requests(server) == [READ, *READY, "PATCH ", READ]


def test_the_right_to_write_is_checked_once_in_a_session() -> None:
    with pihole(FOREIGN) as (server, hosts):
        assert [hosts.apply([a("web")]), hosts.apply([a("web", None)])] == [{}, {}]
        assert server.lines == FOREIGN
        assert requests(server).count(READY[1]) == 1


def test_lines_that_do_not_fit_into_one_request_share_lines() -> None:
    apps = [f"app-{index:04}.example.com" for index in range(1_000)]
    with pihole([*FOREIGN, *LONG[:100]]) as (server, hosts):
        assert hosts.apply([a(app, "192.0.2.1") for app in apps]) == {}
        assert hosts.apply([a(app) for app in apps]) == {}

        lines = compact([*FOREIGN, *LONG[:100], *(ours("192.0.2.9", app) for app in apps)], MARKER)
        assert server.lines == [*lines]
        assert [it.host for it in hosts.read() if it.ours] == apps
        assert server.writes == 2


def test_a_list_that_is_too_long_is_changed_line_by_line() -> None:
    old = [ours("192.0.2.1", "web"), ours("192.0.2.9", "old")]
    with pihole([*LONG, *old]) as (server, hosts):
        assert hosts.apply([a("web"), a("old", None), a("new")]) == {}
        assert server.lines == [*LONG, shared_line("192.0.2.9", ["new", "web"], MARKER)]
        assert [request.split(" ")[0] for request in requests(server)[3:]] == [
            "PUT",
            "DELETE",
            "DELETE",
            "GET",
        ]


def test_a_conflict_stops_no_other_edit() -> None:
    with pihole(FOREIGN) as (server, hosts):
        failures = hosts.apply([a("printer.lan"), a("web")])

        assert {edit: details(error)[0] for edit, error in failures.items()} == {
            a("printer.lan"): FailureClass.INVALID
        }
        assert str(failures[a("printer.lan")]).startswith(
            "RecordConflict: pic wants printer.lan with"
        )
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]


def test_a_line_that_no_url_can_name_is_taken_over_with_the_whole_list() -> None:
    with pihole(["10.0.0.1 web # http://wiki"], take_over=TakeOver.ALL) as (server, hosts):
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [ours("192.0.2.9", "web")]


def test_a_line_that_no_request_can_remove_stays() -> None:
    slashed = "10.0.0.1 web # http://wiki"
    with pihole([slashed, *LONG], take_over=TakeOver.ALL) as (server, hosts):
        assert [details(error)[0] for error in hosts.apply([a("web")]).values()] == [
            FailureClass.INVALID
        ]
        assert server.lines == [slashed, *LONG]


def bad(index: int, why: str = "invalid hostname") -> dict[str, object]:
    error = {"key": "bad_request", "message": "Invalid value", "hint": f"dns.hosts[{index}]: {why}"}
    return {"error": error}


@pytest.mark.parametrize(("records", "refusals"), [(FOREIGN, 1), ([*FOREIGN, *LONG], 2)])
def test_a_refused_record_stops_no_other_record(records: list[str], refusals: int) -> None:
    with pihole(records) as (server, hosts):
        # A shared line comes first, and then its names one by one.
        method = "PATCH" if records == FOREIGN else "PUT"
        body = bad(len(records))
        refused = Fault("answer", method=method, path=HOSTS_PATH, status=400, body=body)
        server.inject(replace(refused, times=refusals))

        failures = hosts.apply([a("a"), a("b"), a("c")])

        assert {edit: details(error) for edit, error in failures.items()} == {
            a("a"): (
                FailureClass.INVALID,
                None,
                f"Pi-hole refuses '192.0.2.9 a # k8s:{CLUSTER}': invalid hostname",
            )
        }
        assert server.lines == [*records, ours("192.0.2.9", "b"), ours("192.0.2.9", "c")]


def test_the_old_line_stays_where_pihole_refuses_the_new_one() -> None:
    records = [*LONG, ours("192.0.2.1", "web"), ours("192.0.2.1", "nas")]
    with pihole(records) as (server, hosts):
        body = bad(len(records))
        fault = Fault("answer", method="PUT", path=HOSTS_PATH, status=400, body=body)
        server.inject(replace(fault, times=2))

        failures = hosts.apply([a("web"), a("nas")])

        assert [edit.host for edit in failures] == ["nas"]
        assert server.lines == [*LONG, records[-1], ours("192.0.2.9", "web")]


@pytest.mark.parametrize(("named", "failed"), [(' ("ab")', ["ab"]), ("", ["aa", "ab", "ac"])])
def test_a_refused_shared_line_fails_the_host_that_pihole_names(
    named: str, failed: list[str]
) -> None:
    names = [f"app-{index:04}.example.com" for index in range(900)]
    live = [shared_line("192.0.2.9", names[i : i + 10], MARKER) for i in range(0, 900, 10)]
    with pihole([*LONG[:440], *live]) as (server, hosts):
        refusal = bad(440, f"invalid hostname{named}")
        server.inject(Fault("answer", method="PATCH", status=400, body=refusal))

        failures = hosts.apply([a(host) for host in ("aa", "ab", "ac")])

        assert ([edit.host for edit in failures], server.writes) == (failed, len(failed) < 3)


@pytest.mark.parametrize("edits", [[a("a")], [a("a"), a("b")], [a("web", None)]])
def test_the_error_names_a_bad_foreign_line_that_blocks_every_write(
    edits: list[RecordEdit],
) -> None:
    junk = "10.0.0.2 nas ."
    with pihole([ours("192.0.2.9", "web")]) as (server, hosts):
        server.lines = [ours("192.0.2.9", "web"), junk]
        fault = Fault(
            "answer", method="DELETE", path=HOSTS_PATH, status=400, body=bad(1, 'invalid ("")')
        )
        server.inject(fault)

        kind, _, message = refused(lambda: hosts.apply(edits))

        assert (kind, message.startswith("Pi-hole refuses every change")) == (
            FailureClass.INVALID,
            True,
        )
        assert f"because of a line of another owner: {junk!r}: invalid" in message
        assert server.lines == [ours("192.0.2.9", "web"), junk]


def test_the_error_says_that_pic_wrote_the_bad_line() -> None:
    with pihole([ours("192.0.2.9", "web")]) as (server, hosts):
        server.inject(Fault("answer", method="PUT", status=400, body=bad(0)))

        assert "a line that pic wrote: " in refused(lambda: hosts.apply([a("new")]))[2]


@pytest.mark.parametrize(
    ("method", "edits", "action"),
    [
        ("PATCH", [a("a"), a("b")], "writing its records"),
        ("PUT", [a("a")], f"writing '192.0.2.9 a # k8s:{CLUSTER}'"),
        ("DELETE", [a("web", None)], f"deleting '192.0.2.9 web # k8s:{CLUSTER}'"),
    ],
)
@pytest.mark.parametrize(
    ("status", "kind"), [(500, FailureClass.TEMPORARY), (400, FailureClass.INVALID)]
)
def test_an_error_that_names_no_line_fails_all_edits(
    method: str, edits: list[RecordEdit], action: str, status: int, kind: FailureClass
) -> None:
    with pihole([ours("192.0.2.9", "web")]) as (server, hosts):
        server.inject(Fault("answer", method=method, path=HOSTS_PATH, status=status, body="Oh"))

        assert refused(lambda: hosts.apply(edits)) == (
            kind,
            None,
            f"{action} failed: Pi-hole answered {status} (Oh)",
        )


def test_a_position_beyond_the_list_names_no_line() -> None:
    with pihole([]) as (server, hosts):
        server.inject(Fault("answer", method="PATCH", status=400, body=bad(7)))

        assert refused(lambda: hosts.apply([a("a"), a("b")]))[2] == (
            "writing its records failed: Pi-hole answered 400 (Invalid value) (dns.hosts[7]:"
            " invalid hostname)"
        )
