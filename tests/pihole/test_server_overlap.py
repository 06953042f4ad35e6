"""Requests at the same time: they kill Pi-hole, or lose a write."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from http.client import HTTPConnection

import pytest

from dev.pihole import QUICK, Overlap, PiHole
from tests.pihole.client import HOSTS, Client, logged_in, send
from tests.support.waiting import until

NEVER = replace(QUICK, put=600, patch=600)  # a write lasts until the server ends
LINES = ["1.2.3.4 a.lan", "1.2.3.4 b.lan"]
PUT_A, PUT_B = f"PUT {HOSTS}/1.2.3.4%20a.lan", f"PUT {HOSTS}/1.2.3.4%20b.lan"


@pytest.mark.parametrize(
    ("second", "target", "cause"),
    [
        ("PUT", f"{HOSTS}/1.2.3.4%20b.lan", PUT_B),
        ("GET", HOSTS, f"GET {HOSTS}"),
        ("POST", "/api/auth", "POST /api/auth"),
    ],
)
def test_a_request_during_a_write_kills_the_server(second: str, target: str, cause: str) -> None:
    with PiHole(pace=NEVER) as pihole, ThreadPoolExecutor(1) as pool:
        client = logged_in(pihole)
        write = pool.submit(client.put, LINES[0])
        until(lambda: pihole.in_flight, "the write")

        with pytest.raises(ConnectionError):
            client.request(second, target)
        with pytest.raises(ConnectionError):
            write.result()
        with pytest.raises(ConnectionRefusedError):
            client.request("GET", HOSTS)

        assert (pihole.deaths, pihole.alive) == ([f"{cause} came during {PUT_A}"], False)
        pihole.restart()
        assert (pihole.alive, pihole.lines, logged_in(pihole).request("GET", HOSTS)[0]) == (
            True,
            [],
            200,
        )


def test_a_write_during_another_request_kills_the_server() -> None:
    with PiHole(pace=replace(QUICK, password=600)) as pihole, ThreadPoolExecutor(1) as pool:
        client = Client(pihole)
        login = pool.submit(client.login, "any")
        until(lambda: pihole.in_flight, "the login")

        with pytest.raises(ConnectionError):
            client.put(LINES[0])
        with pytest.raises(ConnectionError):
            login.result()

        assert pihole.deaths == [f"{PUT_A} came during POST /api/auth"]


def test_requests_one_after_the_other_are_safe(pihole: PiHole) -> None:
    client = logged_in(pihole)
    for _ in range(20):
        client.put(LINES[0])
        client.request("GET", HOSTS)
        client.delete(LINES[0])

    assert (pihole.deaths, pihole.writes, pihole.most_at_once) == ([], 40, 1)


def test_readers_at_the_same_time_are_safe() -> None:
    with PiHole(pace=replace(QUICK, password=0.2)) as pihole, ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: Client(pihole).login(pihole.password)[0], range(3)))

        assert (answers, pihole.deaths, pihole.most_at_once) == ([200] * 3, [], 3)


def lines_after_two_writes(overlap: Overlap) -> Sequence[str]:
    """Write two lines at the same time and return the stored lines."""
    slow = replace(QUICK, put=0.5)
    with PiHole(pace=slow, overlap=overlap) as pihole, ThreadPoolExecutor(2) as pool:
        client = logged_in(pihole)
        assert list(pool.map(client.put, LINES)) == [(201, {}), (201, {})]
        assert (pihole.deaths, pihole.most_at_once) == ([], 2)
        return sorted(pihole.lines)


def test_the_server_may_lose_one_of_two_acknowledged_writes() -> None:
    assert lines_after_two_writes("lose") in ([LINES[0]], [LINES[1]])


def test_the_server_may_queue_writes() -> None:
    assert lines_after_two_writes("serialise") == LINES


def test_a_write_on_a_connection_in_use_takes_longer() -> None:
    slow = replace(QUICK, reused=600)
    with PiHole(pace=slow) as pihole, ThreadPoolExecutor(1) as pool:
        client = logged_in(pihole)
        headers = tuple(client.headers.items())
        with closing(HTTPConnection("127.0.0.1", pihole.port)) as connection:
            for line in ("a", "b"):
                send(connection, ("PUT", f"{HOSTS}/1.2.3.4+{line}.lan", None), headers)
                if line == "a":
                    assert connection.getresponse().read()
            answer = pool.submit(connection.getresponse)
            until(lambda: pihole.in_flight, "the second write")
            pihole.die("a test")
            with pytest.raises(ConnectionError):
                answer.result()
        assert pihole.lines == LINES[:1]
