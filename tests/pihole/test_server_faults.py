"""Injected faults."""

import socket
from contextlib import closing

import pytest

from dev.pihole import Fault, LogEntry, PiHole, PiHoleError
from tests.pihole.client import HOSTS, Client, logged_in
from tests.support.waiting import until

LINE = "1.2.3.4 a.lan"
TARGET = f"{HOSTS}/1.2.3.4%20a.lan"


@pytest.fixture
def client(pihole: PiHole) -> Client:
    return logged_in(pihole)


def test_an_answer_can_be_set_for_some_requests(client: Client, pihole: PiHole) -> None:
    pihole.inject(Fault("answer", method="PUT", skip=1, times=2))

    assert [client.put(LINE)[0] for _ in range(4)] == [201, 503, 503, 400]
    assert client.request("GET", HOSTS)[0] == 200


def test_an_answer_can_have_a_body(client: Client, pihole: PiHole) -> None:
    pihole.inject(Fault("answer", path="misc", status=500, body={"error": "oops"}))

    assert client.request("GET", "/api/config/misc") == (500, {"error": "oops"})


def test_unused_faults_can_be_cleared(client: Client, pihole: PiHole) -> None:
    pihole.inject(Fault("answer", times=9))
    pihole.heal()

    assert client.put(LINE) == (201, {})


@pytest.mark.parametrize("effect", [False, True])
def test_a_connection_can_be_cut_before_or_after_the_effect(
    client: Client, pihole: PiHole, *, effect: bool
) -> None:
    pihole.inject(Fault("drop", method="PUT", effect=effect))

    with pytest.raises(ConnectionError):
        client.put(LINE)

    assert (pihole.lines, pihole.alive) == ([LINE] if effect else [], True)
    assert pihole.log[-1] == LogEntry("PUT", TARGET, 0)


@pytest.mark.parametrize("effect", [False, True])
def test_the_server_can_die_in_the_middle_of_a_write(
    client: Client, pihole: PiHole, *, effect: bool
) -> None:
    pihole.inject(Fault("die", method="PUT", effect=effect))

    with pytest.raises(ConnectionError):
        client.put(LINE)

    assert pihole.deaths == [f"injected fault at PUT {TARGET}"]
    pihole.restart()
    assert pihole.lines == ([LINE] if effect else [])


def test_the_server_can_hang_on_one_request_and_answer_others(
    client: Client, pihole: PiHole
) -> None:
    pihole.inject(Fault("hang", path="misc"))
    with closing(socket.create_connection(("127.0.0.1", pihole.port))) as connection:
        connection.sendall(b"GET /api/config/misc HTTP/1.1\r\n\r\n")
        until(lambda: not pihole.faults_left, "the fault")

        assert client.put(LINE) == (201, {})
        connection.settimeout(0.01)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_a_restart_keeps_the_address(client: Client, pihole: PiHole) -> None:
    url = pihole.url

    pihole.restart()

    assert (pihole.url, client.put(LINE)) == (url, (201, {}))


def test_the_server_dies_once(pihole: PiHole) -> None:
    pihole.die("first")
    pihole.die("second")

    assert pihole.deaths == ["first"]


def test_only_free_seats_can_be_occupied(pihole: PiHole) -> None:
    with pytest.raises(PiHoleError, match="there are no more seats to take"):
        pihole.occupy(17)
