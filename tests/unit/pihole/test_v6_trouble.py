"""A Pi-hole v6 that cannot be written to, or that somebody else writes to as well."""

from collections.abc import Callable
from typing import Any

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass
from pic.pihole import answers
from pic.pihole.hosts_lines import Rules, marker
from pic.pihole.http import Client
from pic.pihole.v6 import HOSTS, V6
from pic.pihole.v6_session import Session
from tests.support.pihole_fakes import (
    CLUSTER,
    a,
    answer,
    ours,
    scripted,
    told,
    unslept,
)
from tests.unit.pihole.test_v6 import (
    APP,
    FOREIGN,
    entered,
    pihole,
    refused,
)


@pytest.mark.parametrize(
    ("having", "kind", "message"),
    [
        ({"env_hosts": True}, FailureClass.INVALID, answers.ENVIRONMENT),
        ({"read_only": True}, FailureClass.AUTH, answers.READ_ONLY),
        ({"app_password": APP}, FailureClass.AUTH, answers.APP_MAY_NOT),
        ({"cli_password": APP}, FailureClass.AUTH, answers.CLI_MAY_NOT),
    ],
)
def test_where_nothing_can_be_written_nothing_is(
    having: dict[str, Any], kind: FailureClass, message: str
) -> None:
    with PiHole(records=FOREIGN, **having) as server:
        with entered(server, APP if APP in having.values() else "") as hosts:
            assert refused(lambda: hosts.apply([a("web")])) == (kind, None, message)
        assert (server.lines, server.writes, server.sessions) == (FOREIGN, 0, 0)


def test_an_app_password_may_write_where_that_is_switched_on() -> None:
    with PiHole(app_password=APP, app_sudo=True) as server, entered(server, APP) as hosts:
        assert hosts.apply([a("web")]) == {}


def test_a_request_that_took_effect_without_an_answer_is_found_done_next_time() -> None:
    with pihole(FOREIGN) as (server, hosts):
        server.inject(Fault("drop", method="PUT", effect=True))

        assert refused(lambda: hosts.apply([a("web")]))[0] == FailureClass.TEMPORARY
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]


def test_what_is_there_or_gone_already_is_as_good_as_done() -> None:
    present: dict[str, object] = {
        "error": {"key": "bad_request", "message": "Item already present"}
    }
    with pihole([ours("192.0.2.9", "old")]) as (server, hosts):
        server.inject(Fault("answer", effect=True, method="PUT", status=400, body=present))
        server.inject(Fault("answer", effect=True, method="DELETE", status=404, body={}))

        assert [hosts.apply([a("web")]), hosts.apply([a("old", None)])] == [{}, {}]
        assert server.lines == [ours("192.0.2.9", "web")]


def test_what_others_undo_is_done_again_but_not_for_ever() -> None:
    undone = Fault("answer", method="PUT", path=HOSTS, status=201, body={}, times=3)
    with pihole(FOREIGN) as (server, hosts):
        server.inject(undone)
        assert hosts.apply([a("web")]) == {}
        assert server.lines == [*FOREIGN, ours("192.0.2.9", "web")]

        server.inject(Fault("answer", method="PUT", status=201, body={}, times=4))
        failed = hosts.apply([a("new")])

        assert {edit: told(error) for edit, error in failed.items()} == {
            a("new"): (
                FailureClass.TEMPORARY,
                None,
                "Pi-hole does not keep what pic writes, 4 times: somebody else writes its local DNS"
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
        with Session(Client(url), "secret", unslept) as session:
            return V6(session, Rules(marker(CLUSTER))).apply([a("a"), a("b")])

    return apply


def test_lines_of_others_that_got_lost_under_a_write_are_put_back() -> None:
    before, after = config(*FOREIGN), config(FOREIGN[0], *NEW)
    restored = config(FOREIGN[0], *NEW, *FOREIGN[1:])
    whole = (LOGIN, before, NOTHING, NOTHING, DONE, after, DONE, restored)
    with scripted(*whole) as server:
        failed = applied(server.url)()

    assert failed == {}
    assert [each.split(" ")[0] for each in server.asked[4:]] == ["PATCH", "GET", "PATCH", "GET"]
    for line in (*NEW, *FOREIGN):
        assert line.encode() in server.bodies[6]


def test_lines_of_others_that_stay_lost_are_told() -> None:
    losing = [DONE, config(FOREIGN[0], *NEW)] * 4
    with scripted(LOGIN, config(*FOREIGN), NOTHING, NOTHING, *losing) as server:
        found = refused(applied(server.url))

    assert found == (
        FailureClass.TEMPORARY,
        None,
        "Pi-hole lost lines that are not pic's while pic wrote, and does not take them back:"
        f" {FOREIGN[1]!r}, {FOREIGN[2]!r}. Somebody else writes its records too: let only one"
        " program do so",
    )


@pytest.mark.parametrize("hosts", ["192.0.2.1 nas", ["192.0.2.1 nas", 3], None])
def test_records_of_an_unknown_form_are_not_taken_for_none(hosts: object) -> None:
    shown = answer(200, {"config": {"dns": {"hosts": hosts}}})
    with scripted(LOGIN, shown) as server:
        found = refused(applied(server.url))

    assert (found[0], "in a form that pic does not know" in found[2]) == (
        FailureClass.INVALID,
        True,
    )


def test_a_configuration_of_an_unknown_form_is_no_record_either() -> None:
    with scripted(LOGIN, answer(200, {"config": ["dns"]})) as server:
        assert refused(applied(server.url))[0] == FailureClass.INVALID
