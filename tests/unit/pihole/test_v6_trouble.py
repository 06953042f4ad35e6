"""A Pi-hole v6 that does not allow writes, or that another program writes to as well."""

from collections.abc import Callable
from typing import Any

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass
from pic.pihole import answers
from pic.pihole.hosts_lines import rules_for
from pic.pihole.http import Client
from pic.pihole.v6 import HOSTS_PATH, V6
from pic.pihole.v6_session import Session
from tests.support.pihole_fakes import (
    CLUSTER,
    a,
    answer,
    details,
    no_sleep,
    ours,
    refused,
    scripted_server,
)
from tests.support.pihole_v6 import APP_PASSWORD, FOREIGN, logged_in, pihole


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"env_hosts": True}, FailureClass.INVALID, answers.ENVIRONMENT),
        ({"read_only": True}, FailureClass.AUTH, answers.READ_ONLY),
        ({"app_password": APP_PASSWORD}, FailureClass.AUTH, answers.APP_SESSION_READS_ONLY),
        ({"cli_password": APP_PASSWORD}, FailureClass.AUTH, answers.CLI_SESSION_READS_ONLY),
    ],
)
def test_nothing_is_written_if_pihole_does_not_allow_it(
    options: dict[str, Any], kind: FailureClass, message: str
) -> None:
    with PiHole(records=FOREIGN, **options) as server:
        with logged_in(server, APP_PASSWORD if APP_PASSWORD in options.values() else "") as hosts:
            assert refused(lambda: hosts.apply([a("web")])) == (kind, None, message)
        assert (server.lines, server.writes, server.sessions) == (FOREIGN, 0, 0)


def test_an_app_password_may_write_if_app_sudo_is_on() -> None:
    with (
        PiHole(app_password=APP_PASSWORD, app_sudo=True) as server,
        logged_in(server, APP_PASSWORD) as hosts,
    ):
        assert hosts.apply([a("web")]) == {}


def test_a_write_without_an_answer_counts_as_done_at_the_next_attempt() -> None:
    with pihole(FOREIGN) as (server, hosts):
        server.inject(Fault("drop", method="PUT", effect=True))

        assert refused(lambda: hosts.apply([a("web")]))[0] == FailureClass.TEMPORARY
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]


def test_a_line_that_exists_or_is_gone_already_counts_as_done() -> None:
    present: dict[str, object] = {
        "error": {"key": "bad_request", "message": "Item already present"}
    }
    with pihole([ours("192.0.2.9", "old")]) as (server, hosts):
        server.inject(Fault("answer", effect=True, method="PUT", status=400, body=present))
        server.inject(Fault("answer", effect=True, method="DELETE", status=404, body={}))

        assert [hosts.apply([a("web")]), hosts.apply([a("old", None)])] == [{}, {}]
        assert server.lines == [ours("192.0.2.9", "web")]


def test_a_write_that_another_program_undoes_is_repeated_a_limited_number_of_times() -> None:
    undone = Fault("answer", method="PUT", path=HOSTS_PATH, status=201, body={}, times=3)
    with pihole(FOREIGN) as (server, hosts):
        server.inject(undone)
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]

        server.inject(Fault("answer", method="PUT", status=201, body={}, times=4))
        failures = hosts.apply([a("new")])

        assert {edit: details(error) for edit, error in failures.items()} == {
            a("new"): (
                FailureClass.TEMPORARY,
                None,
                "Pi-hole did not keep what pic wrote 4 times: another program writes its local DNS"
                " records at the same time. Let only one program do so",
            )
        }


def config(*records: str) -> bytes:
    return answer(200, {"config": {"dns": {"hosts": list(records)}}})


LOGIN = answer(200, {"session": {"valid": True, "sid": None}})
NOTHING = answer(200, {"config": {}})
DONE = answer(200, {})
NEW = [ours("192.0.2.9", "a"), ours("192.0.2.9", "b")]


def applied(url: str) -> Callable[[], object]:
    def apply() -> object:
        with Session(Client(url), "secret", no_sleep) as session:
            return V6(session, rules_for(CLUSTER, "")).apply([a("a"), a("b")])

    return apply


def test_foreign_lines_that_a_write_lost_are_restored() -> None:
    before, after = config(*FOREIGN), config(FOREIGN[0], *NEW)
    restored = config(FOREIGN[0], *NEW, *FOREIGN[1:])
    script = (LOGIN, before, NOTHING, NOTHING, DONE, after, DONE, restored)
    with scripted_server(*script) as server:
        failures = applied(server.url)()

    assert failures == {}
    assert [request.split(" ")[0] for request in server.requests[4:]] == [
        "PATCH",
        "GET",
        "PATCH",
        "GET",
    ]
    for line in (*NEW, *FOREIGN):
        assert line.encode() in server.bodies[6]


def test_foreign_lines_that_stay_lost_are_an_error() -> None:
    losing = [DONE, config(FOREIGN[0], *NEW)] * 4
    with scripted_server(LOGIN, config(*FOREIGN), NOTHING, NOTHING, *losing) as server:
        error = refused(applied(server.url))

    assert error == (
        FailureClass.TEMPORARY,
        None,
        "Pi-hole lost foreign lines while pic wrote, and does not accept them again:"
        f" {FOREIGN[1]!r}, {FOREIGN[2]!r}. Another program writes its records too: let only one"
        " program do so",
    )


@pytest.mark.parametrize("hosts", ["192.0.2.1 nas", ["192.0.2.1 nas", 3], None])
def test_records_of_an_unknown_form_are_an_error_and_not_an_empty_list(hosts: object) -> None:
    response = answer(200, {"config": {"dns": {"hosts": hosts}}})
    with scripted_server(LOGIN, response) as server:
        kind, _, message = refused(applied(server.url))

    assert (kind, "in a form that pic does not know" in message) == (
        FailureClass.INVALID,
        True,
    )


def test_a_configuration_of_an_unknown_form_is_an_error() -> None:
    with scripted_server(LOGIN, answer(200, {"config": ["dns"]})) as server:
        assert refused(applied(server.url))[0] == FailureClass.INVALID
