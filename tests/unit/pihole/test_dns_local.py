"""The interface dns-local: records by name, with a bearer token and without a marker."""

import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass
from pic.core.model import Family, LiveRecord
from pic.pihole.dns_local import RECORDS_PATH, DnsLocal
from pic.pihole.http import Client
from pic.pihole.protocol import RecordEdit
from pic.settings.field import TakeOver
from tests.support.pihole_fakes import a, answer, details, refused, scripted_server

FOREIGN = ["192.0.2.1 nas", "2001:db8::1 nas"]
AUTH = "Pi-hole answered {}: set PIHOLE_API_TOKEN to a token that Pi-hole accepts"


@contextlib.contextmanager
def pihole(*records: str, **options: Any) -> Iterator[tuple[PiHole, DnsLocal]]:
    take_over, owned = options.pop("take_over", TakeOver.NONE), options.pop("owned", {"web"})
    with PiHole(api="dns-local", records=records, **options) as server:
        yield server, dns_local(server, *owned, take_over=take_over)
        assert (server.most_at_once, server.deaths) == (1, [])


def dns_local(server: PiHole, *owned: str, take_over: TakeOver = TakeOver.NONE) -> DnsLocal:
    return DnsLocal(Client(server.url), server.password, frozenset(owned), take_over=take_over)


def requests(server: PiHole) -> list[str]:
    return [f"{entry.method} {entry.path.removeprefix(RECORDS_PATH)}" for entry in server.log]


def failures(errors: object) -> list[tuple[str, FailureClass, str]]:
    assert isinstance(errors, dict)
    return [(edit.host, details(error)[0], str(error)) for edit, error in errors.items()]


def test_every_record_is_read_and_the_records_of_owned_hosts_are_ours() -> None:
    with pihole(*FOREIGN, "192.0.2.9 Web.") as (_, local):
        assert local.read() == (
            LiveRecord("nas", "192.0.2.1"),
            LiveRecord("nas", "2001:db8::1"),
            LiveRecord("web", "192.0.2.9", ours=True),
        )


def test_nothing_is_written_if_nothing_differs() -> None:
    with pihole(*FOREIGN, "192.0.2.9 web") as (server, local):
        edits = [
            a("web"),
            a("gone", None),
            a("nas", "192.0.2.1"),
            RecordEdit("nas", Family.AAAA, None),
        ]

        assert local.apply(edits) == {}
        assert requests(server) == ["GET "]


def test_a_posted_record_is_verified_by_a_read() -> None:
    with pihole(*FOREIGN) as (server, local):
        assert local.apply([a("b."), a("A")]) == {}
        assert server.lines == [*FOREIGN, "192.0.2.9 a", "192.0.2.9 b"]
        assert requests(server) == ["GET ", "POST ", "POST ", "GET "]


def test_a_delete_removes_only_the_record_of_its_host() -> None:
    with pihole(*FOREIGN, "192.0.2.9 web", "192.0.2.9 other", owned={"web", "other"}) as (
        server,
        local,
    ):
        assert local.apply([a("web", None)]) == {}
        assert server.lines == [*FOREIGN, "192.0.2.9 other"]
        assert requests(server) == ["GET ", "DELETE /web", "GET "]


def test_a_record_that_is_gone_already_counts_as_deleted() -> None:
    with pihole("192.0.2.9 web") as (server, local):
        server.inject(Fault("answer", effect=True, method="DELETE", status=404, body={}))

        assert local.apply([a("web", None)]) == {}


@pytest.mark.parametrize(
    ("on_duplicate", "expected"),
    [
        ("replace", ["GET ", "POST ", "GET "]),
        ("add", ["GET ", "POST ", "GET ", "DELETE /web", "POST ", "GET "]),
        ("refuse", ["GET ", "POST ", "GET ", "DELETE /web", "POST ", "GET "]),
    ],
)
def test_a_new_address_is_posted_first_and_replaces_the_old_one_if_both_remain(
    on_duplicate: str, expected: list[str]
) -> None:
    with pihole("192.0.2.1 web", on_duplicate=on_duplicate) as (server, local):
        assert local.apply([a("web")]) == {}
        assert (server.lines, requests(server)) == (["192.0.2.9 web"], expected)


def test_an_old_address_next_to_the_new_one_is_removed() -> None:
    with pihole("192.0.2.1 web", "192.0.2.9 web") as (server, local):
        assert local.apply([a("web")]) == {}
        assert (server.lines, requests(server)[1]) == (["192.0.2.9 web"], "DELETE /web")


def test_a_foreign_record_with_another_address_is_a_conflict() -> None:
    with pihole(*FOREIGN) as (server, local):
        assert failures(local.apply([a("nas"), a("web")])) == [
            (
                "nas",
                FailureClass.INVALID,
                "RecordConflict: pic wants nas with 192.0.2.9, but Pi-hole has a record of another"
                " owner with 192.0.2.1. pic leaves it as it is: remove it by hand, or set"
                " pic:piholeTakeOver",
            )
        ]
        assert server.lines == [*FOREIGN, "192.0.2.9 web"]


def test_a_foreign_record_is_taken_over_if_allowed() -> None:
    with pihole("192.0.2.1 nas", take_over=TakeOver.ALL) as (server, local):
        assert local.apply([a("nas")]) == {}
        assert server.lines == ["192.0.2.9 nas"]


def test_only_valid_hosts_with_ipv4_addresses_are_posted() -> None:
    with pihole() as (server, local):
        edits = [RecordEdit("web", Family.AAAA, "2001:db8::1"), a("*.web"), a("web", "x")]

        assert failures(local.apply(edits)) == [
            (
                "web",
                FailureClass.INVALID,
                "web gets no record with 2001:db8::1: the interface dns-local accepts only IPv4"
                " addresses; set pic:piholeApi to v6 for both families",
            ),
            (
                "*.web",
                FailureClass.INVALID,
                "'*.web' gets no record in Pi-hole: wildcards are not supported",
            ),
            (
                "web",
                FailureClass.INVALID,
                "'web' gets no record in Pi-hole: 'x' is not an address for a record of type A",
            ),
        ]
        assert requests(server) == ["GET "]


@pytest.mark.parametrize(
    ("method", "status", "kind"),
    [
        ("POST", 400, FailureClass.INVALID),
        ("POST", 500, FailureClass.TEMPORARY),
        ("DELETE", 503, FailureClass.TEMPORARY),
    ],
)
def test_a_refused_record_stops_no_other_record(
    method: str, status: int, kind: FailureClass
) -> None:
    with pihole("192.0.2.1 old", owned={"old"}) as (server, local):
        server.inject(Fault("answer", method=method, status=status))
        bad, action = {
            "POST": (a("bad"), "adding bad with 192.0.2.9"),
            "DELETE": (a("old", None), "deleting old"),
        }[method]

        assert failures(local.apply([bad, a("web")])) == [
            (bad.host, kind, f"{action} failed: Pi-hole answered {status}")
        ]
        assert server.lines == ["192.0.2.1 old", "192.0.2.9 web"]


def test_a_server_error_for_a_second_address_is_a_failure() -> None:
    with pihole("192.0.2.1 web") as (server, local):
        server.inject(Fault("answer", method="POST", status=500))

        assert failures(local.apply([a("web")])) == [
            (
                "web",
                FailureClass.TEMPORARY,
                "adding web with 192.0.2.9 failed: Pi-hole answered 500",
            )
        ]


def test_a_write_that_another_program_undoes_is_repeated_a_limited_number_of_times() -> None:
    lost_posts = Fault("answer", method="POST", status=201, body={}, times=3)
    with pihole() as (server, local):
        server.inject(lost_posts)

        assert failures(local.apply([a("web")])) == [
            (
                "web",
                FailureClass.TEMPORARY,
                "Pi-hole does not keep the record that pic writes for web: another program may"
                " write its records at the same time. Let only one program do so",
            )
        ]
        assert local.apply([a("web")]) == {}


WRONG_API = (
    "; no released Pi-hole has the interface dns-local: set pic:piholeApi to v6 if it is a Pi-hole"
    " v6"
)


@pytest.mark.parametrize(
    ("status", "kind", "after", "problem"),
    [
        (401, FailureClass.AUTH, None, f"the request failed: {AUTH.format(401)}"),
        (403, FailureClass.AUTH, None, f"the request failed: {AUTH.format(403)}"),
        (
            429,
            FailureClass.RATE_LIMITED,
            60,
            "the request failed: Pi-hole answered 429: too many requests",
        ),
        (
            404,
            FailureClass.TEMPORARY,
            None,
            f"reading its records failed: Pi-hole answered 404{WRONG_API}",
        ),
        (400, FailureClass.INVALID, None, "reading its records failed: Pi-hole answered 400"),
        (500, FailureClass.TEMPORARY, None, "reading its records failed: Pi-hole answered 500"),
    ],
)
def test_each_unsuccessful_answer_has_its_failure_class(
    status: int, kind: FailureClass, after: int | None, problem: str
) -> None:
    with pihole() as (server, local):
        server.inject(Fault("answer", status=status))

        assert refused(lambda: local.apply([a("web")])) == (kind, after, problem)


def test_a_real_pihole_does_not_have_this_interface() -> None:
    with PiHole() as server:
        assert refused(dns_local(server).read) == (
            FailureClass.INVALID,
            None,
            f"reading its records failed: Pi-hole answered 400{WRONG_API}",
        )


def test_a_wrong_token_fails_at_the_first_request() -> None:
    with pihole() as (server, _):
        local = DnsLocal(Client(server.url), "wrong", frozenset())

        assert refused(lambda: local.apply([a("a"), a("b")]))[0] == FailureClass.AUTH
        assert requests(server) == ["GET "]


@pytest.mark.parametrize("body", [[], {}, {"data": {}}, {"data": [3]}, {"data": [{"domain": "a"}]}])
def test_records_of_an_unknown_form_are_an_error_and_not_an_empty_list(body: object) -> None:
    with scripted_server(answer(200, body)) as server:
        local = DnsLocal(Client(server.url), "token", frozenset())

        assert refused(local.read) == (
            FailureClass.INVALID,
            None,
            "Pi-hole returned its records in a form that pic does not know: pic:piholeApi dns-local"
            ' needs {"data": [{"domain": …, "ip": …}]}',
        )
