"""The interface dns-local: records by name, with a bearer token, and no marker."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass, PiholeError
from pic.core.model import Family, LiveRecord
from pic.pihole.dns_local import LOCAL, DnsLocal
from pic.pihole.http import Client
from pic.pihole.protocol import RecordEdit
from tests.support.pihole_fakes import (
    a,
    answer,
    scripted,
    told,
)

FOREIGN = ["192.0.2.1 nas", "2001:db8::1 nas"]
AUTH = "Pi-hole answered {}: set PIHOLE_API_TOKEN to a token that it accepts"


@contextlib.contextmanager
def pihole(*records: str, **having: Any) -> Iterator[tuple[PiHole, DnsLocal]]:
    over, owned = having.pop("take_over", False), having.pop("owned", {"web"})
    with PiHole(api="dns-local", records=records, **having) as server:
        yield server, hosts(server, *owned, take_over=over)
        assert (server.most_at_once, server.deaths) == (1, [])


def hosts(server: PiHole, *owned: str, take_over: bool = False) -> DnsLocal:
    return DnsLocal(Client(server.url), server.password, frozenset(owned), take_over=take_over)


def requests(server: PiHole) -> list[str]:
    return [f"{each.method} {each.path.removeprefix(LOCAL)}" for each in server.log]


def failures(found: object) -> list[tuple[str, FailureClass, str]]:
    assert isinstance(found, dict)
    return [(edit.host, told(error)[0], str(error)) for edit, error in found.items()]


def refused(action: Callable[[], object]) -> tuple[FailureClass, int | None, str]:
    with pytest.raises(PiholeError) as caught:
        action()
    return told(caught.value)


def test_every_record_is_read_and_ours_are_those_of_known_hosts() -> None:
    with pihole(*FOREIGN, "192.0.2.9 Web.") as (_, local):
        assert local.read() == (
            LiveRecord("nas", "192.0.2.1"),
            LiveRecord("nas", "2001:db8::1"),
            LiveRecord("web", "192.0.2.9", ours=True),
        )


def test_what_needs_no_change_is_not_written() -> None:
    with pihole(*FOREIGN, "192.0.2.9 web") as (server, local):
        edits = [
            a("web"),
            a("gone", None),
            a("nas", "192.0.2.1"),
            RecordEdit("nas", Family.AAAA, None),
        ]

        assert local.apply(edits) == {}
        assert requests(server) == ["GET "]


def test_a_record_is_posted_and_then_looked_for() -> None:
    with pihole(*FOREIGN) as (server, local):
        assert local.apply([a("b."), a("A")]) == {}
        assert server.lines == [*FOREIGN, "192.0.2.9 a", "192.0.2.9 b"]
        assert requests(server) == ["GET ", "POST ", "POST ", "GET "]


def test_a_record_is_deleted_by_its_name_and_no_other_one_is() -> None:
    with pihole(*FOREIGN, "192.0.2.9 web", "192.0.2.9 other", owned={"web", "other"}) as (
        server,
        local,
    ):
        assert local.apply([a("web", None)]) == {}
        assert server.lines == [*FOREIGN, "192.0.2.9 other"]
        assert requests(server) == ["GET ", "DELETE /web", "GET "]


def test_that_a_record_is_gone_already_is_as_good_as_deleted() -> None:
    with pihole("192.0.2.9 web") as (server, local):
        server.inject(Fault("answer", effect=True, method="DELETE", status=404, body={}))

        assert local.apply([a("web", None)]) == {}


@pytest.mark.parametrize(
    ("on_duplicate", "asked"),
    [
        ("replace", ["GET ", "POST ", "GET "]),
        ("add", ["GET ", "POST ", "GET ", "DELETE /web", "POST ", "GET "]),
        ("refuse", ["GET ", "POST ", "GET ", "DELETE /web", "POST ", "GET "]),
    ],
)
def test_another_address_is_posted_first_and_replaces_where_that_does_not(
    on_duplicate: str, asked: list[str]
) -> None:
    with pihole("192.0.2.1 web", on_duplicate=on_duplicate) as (server, local):
        assert local.apply([a("web")]) == {}
        assert (server.lines, requests(server)) == (["192.0.2.9 web"], asked)


def test_an_old_address_that_was_left_beside_the_new_one_goes() -> None:
    with pihole("192.0.2.1 web", "192.0.2.9 web") as (server, local):
        assert local.apply([a("web")]) == {}
        assert (server.lines, requests(server)[1]) == (["192.0.2.9 web"], "DELETE /web")


def test_what_somebody_else_has_with_another_address_is_a_conflict() -> None:
    with pihole(*FOREIGN) as (server, local):
        assert failures(local.apply([a("nas"), a("web")])) == [
            (
                "nas",
                FailureClass.INVALID,
                "RecordConflict: nas is wanted with 192.0.2.9, and Pi-hole has it with 192.0.2.1 of"
                " somebody else, which is left alone: remove it by hand, or set"
                " pic:piholeTakeOver",
            )
        ]
        assert server.lines == [*FOREIGN, "192.0.2.9 web"]


def test_what_somebody_else_has_is_taken_over_where_that_is_allowed() -> None:
    with pihole("192.0.2.1 nas", take_over=True) as (server, local):
        assert local.apply([a("nas")]) == {}
        assert server.lines == ["192.0.2.9 nas"]


def test_only_a_host_with_an_ipv4_address_is_posted() -> None:
    with pihole() as (server, local):
        edits = [RecordEdit("web", Family.AAAA, "2001:db8::1"), a("*.web"), a("web", "x")]

        assert failures(local.apply(edits)) == [
            (
                "web",
                FailureClass.INVALID,
                "web gets no record with 2001:db8::1: the interface dns-local has IPv4 addresses"
                " only; pic:piholeApi v6 has both",
            ),
            (
                "*.web",
                FailureClass.INVALID,
                "'*.web' gets no record in Pi-hole: a wildcard cannot be exposed",
            ),
            (
                "web",
                FailureClass.INVALID,
                "'web' gets no record in Pi-hole: 'x' is no address for a record A",
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
def test_a_record_that_is_refused_stops_no_other_one(
    method: str, status: int, kind: FailureClass
) -> None:
    with pihole("192.0.2.1 old", owned={"old"}) as (server, local):
        server.inject(Fault("answer", method=method, status=status))
        bad, doing = {
            "POST": (a("bad"), "adding bad with 192.0.2.9"),
            "DELETE": (a("old", None), "deleting old"),
        }[method]

        assert failures(local.apply([bad, a("web")])) == [
            (bad.host, kind, f"{doing} failed: Pi-hole answered {status}")
        ]
        assert server.lines == ["192.0.2.1 old", "192.0.2.9 web"]


def test_a_refusal_that_is_no_conflict_with_the_old_address_counts() -> None:
    with pihole("192.0.2.1 web") as (server, local):
        server.inject(Fault("answer", method="POST", status=500))

        assert failures(local.apply([a("web")])) == [
            (
                "web",
                FailureClass.TEMPORARY,
                "adding web with 192.0.2.9 failed: Pi-hole answered 500",
            )
        ]


def test_what_others_undo_is_done_again_but_not_for_ever() -> None:
    undone = Fault("answer", method="POST", status=201, body={}, times=3)
    with pihole() as (server, local):
        server.inject(undone)

        assert failures(local.apply([a("web")])) == [
            (
                "web",
                FailureClass.TEMPORARY,
                "Pi-hole does not keep what pic writes of web: somebody else may write its records"
                " at the same time",
            )
        ]
        assert local.apply([a("web")]) == {}


OTHER = "; no released Pi-hole has the interface dns-local: is pic:piholeApi to be v6?"


@pytest.mark.parametrize(
    ("status", "kind", "after", "problem"),
    [
        (401, FailureClass.AUTH, None, f"asking it failed: {AUTH.format(401)}"),
        (403, FailureClass.AUTH, None, f"asking it failed: {AUTH.format(403)}"),
        (
            429,
            FailureClass.RATE_LIMITED,
            60,
            "asking it failed: Pi-hole answered 429: too many requests",
        ),
        (
            404,
            FailureClass.TEMPORARY,
            None,
            f"reading its records failed: Pi-hole answered 404{OTHER}",
        ),
        (400, FailureClass.INVALID, None, "reading its records failed: Pi-hole answered 400"),
        (500, FailureClass.TEMPORARY, None, "reading its records failed: Pi-hole answered 500"),
    ],
)
def test_each_answer_that_is_no_success_has_its_kind(
    status: int, kind: FailureClass, after: int | None, problem: str
) -> None:
    with pihole() as (server, local):
        server.inject(Fault("answer", status=status))

        assert refused(lambda: local.apply([a("web")])) == (kind, after, problem)


def test_a_real_pihole_does_not_have_this_interface() -> None:
    with PiHole() as server:
        assert refused(hosts(server).read) == (
            FailureClass.INVALID,
            None,
            f"reading its records failed: Pi-hole answered 400{OTHER}",
        )


def test_a_wrong_token_stops_everything_at_once() -> None:
    with pihole() as (server, _):
        local = DnsLocal(Client(server.url), "wrong", frozenset())

        assert refused(lambda: local.apply([a("a"), a("b")]))[0] == FailureClass.AUTH
        assert requests(server) == ["GET "]


@pytest.mark.parametrize("body", [[], {}, {"data": {}}, {"data": [3]}, {"data": [{"domain": "a"}]}])
def test_records_of_an_unknown_form_are_not_taken_for_none(body: object) -> None:
    with scripted(answer(200, body)) as server:
        local = DnsLocal(Client(server.url), "token", frozenset())

        assert refused(local.read) == (
            FailureClass.INVALID,
            None,
            "Pi-hole shows its records in a form that pic does not know: pic:piholeApi dns-local"
            ' needs {"data": [{"domain": …, "ip": …}]}',
        )
