"""The rate limit of logins, the number of sessions, and their rights."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from dev.pihole import QUICK, Clock, PiHole
from tests.pihole.client import HOSTS, Client, logged_in, refused, session
from tests.support.waiting import until

LIMITED = (429, refused("Rate-limiting login attempts", None, "rate_limiting"))
FULL = (
    429,
    refused("API seats exceeded", "increase webserver.api.max_sessions", "api_seats_exceeded"),
)
WRONG = (401, session("password incorrect"))
READ_ONLY = "Unable to change configuration (read-only)"
APP = (
    "The current app session is not allowed to modify Pi-hole config settings "
    "(webserver.api.app_sudo is false)"
)
CLI = "The current CLI session is not allowed to modify Pi-hole config settings"


def test_the_fourth_wrong_password_in_a_second_is_rate_limited(clock: Clock) -> None:
    with PiHole(password="secret", clock=clock) as pihole:  # noqa: S106
        client = Client(pihole)

        assert [client.login("wrong") for _ in range(4)] == [WRONG, WRONG, WRONG, LIMITED]
        assert client.login("secret") == LIMITED
        clock.advance(1)
        assert client.login("secret")[0] == 200


def test_correct_passwords_one_after_the_other_are_not_limited(pihole: PiHole) -> None:
    assert [Client(pihole).login("secret")[0] for _ in range(8)] == [200] * 8


def test_the_third_correct_app_password_in_a_second_is_called_wrong(pihole: PiHole) -> None:
    assert [Client(pihole).login("for programs")[0] for _ in range(2)] == [200, 200]
    assert Client(pihole).login("for programs") == WRONG


def simultaneous_logins(password: str, times: int) -> list[tuple[int, Any]]:
    """Log in at the same time; each check lasts long enough for all logins to arrive."""
    slow = replace(QUICK, password=0.6)
    with PiHole(password="secret", app_password="app", pace=slow, clock=Clock()) as pihole:  # noqa: S106
        with ThreadPoolExecutor(times) as pool:
            answers = pool.map(lambda _: Client(pihole).login(password), range(times))
        return sorted(answers, key=lambda answer: answer[0])


def test_three_of_eight_logins_at_the_same_time_succeed() -> None:
    answers = simultaneous_logins("secret", 8)

    assert [status for status, _ in answers[:3]] == [200] * 3
    assert answers[3:] == [LIMITED] * 5


def test_app_passwords_at_the_same_time_are_called_wrong() -> None:
    assert simultaneous_logins("app", 4) == [WRONG, WRONG, WRONG, LIMITED]


def test_the_seventeenth_session_finds_no_seat(pihole: PiHole, clock: Clock) -> None:
    first = logged_in(pihole)
    pihole.occupy(15)

    assert first.login("secret") == FULL
    assert first.put("192.168.9.1 a.lan") == (201, {})
    clock.advance(1801)
    assert (first.login("secret")[0], pihole.sessions) == (200, 1)


def test_a_request_extends_the_time_of_its_session(pihole: PiHole, clock: Clock) -> None:
    client = logged_in(pihole)
    pihole.occupy(1)

    clock.advance(1700)
    client.request("GET", HOSTS)
    clock.advance(200)

    assert pihole.sessions == 1


def test_an_expired_session_works_until_its_seat_is_taken(pihole: PiHole, clock: Clock) -> None:
    client = logged_in(pihole)

    clock.advance(3600)
    assert client.request("GET", HOSTS)[0] == 200
    clock.advance(3600)
    logged_in(pihole)
    assert client.request("GET", HOSTS)[0] == 401


def test_sessions_are_listed_and_ended_by_number(pihole: PiHole, clock: Clock) -> None:
    client = logged_in(pihole)
    pihole.occupy(1)
    now = int(clock())
    times = {"login_at": now, "last_active": now, "valid_until": now + 1800}
    row = {"valid": True, **times, "remote_addr": "127.0.0.1", "app": False, "cli": False}

    assert client.request("GET", "/api/auth/sessions") == (
        200,
        {
            "sessions": [
                {"id": 0, "current_session": True, "user_agent": "", **row},
                {"id": 1, "current_session": False, "user_agent": "another client", **row},
            ]
        },
    )
    assert client.request("DELETE", "/api/auth/session/1") == (204, None)
    assert pihole.sessions == 1


def test_a_restart_frees_no_seats_but_a_crash_does(pihole: PiHole) -> None:
    client = logged_in(pihole)

    pihole.restart()
    assert (client.request("GET", HOSTS)[0], pihole.sessions) == (200, 1)
    pihole.die("a test")
    pihole.restart()
    assert (client.request("GET", HOSTS)[0], pihole.sessions) == (401, 0)


@pytest.mark.parametrize(("kind", "hint"), [("app", APP), ("cli", CLI)])
def test_sessions_of_programs_may_only_read(kind: str, hint: str) -> None:
    answer = (403, refused(READ_ONLY, hint, "forbidden"))
    with PiHole(password="secret", app_password="app", cli_password="cli") as pihole:  # noqa: S106
        client = logged_in(pihole, kind)

        assert client.request("GET", HOSTS) == (200, {"config": {"dns": {"hosts": []}}})
        assert client.put("192.168.9.1 a.lan") == answer
        assert client.delete("192.168.9.1 a.lan") == answer
        assert client.patch([]) == answer


def test_app_sudo_allows_them_to_write_at_once(pihole: PiHole) -> None:
    app, admin = logged_in(pihole, "for programs"), logged_in(pihole)

    admin.request("PATCH", "/api/config", {"config": {"webserver": {"api": {"app_sudo": True}}}})

    assert app.put("192.168.9.1 a.lan") == (201, {})
    assert app.request("GET", "/api/config/webserver/api/app_sudo") == (
        200,
        {"config": {"webserver": {"api": {"app_sudo": True}}}},
    )


@pytest.mark.parametrize(
    ("logins", "answer"),
    [("wrong-password", WRONG), ("rate-limited", LIMITED), ("no-seats", FULL)],
)
def test_logins_can_be_made_to_fail(pihole: PiHole, logins: Any, answer: Any) -> None:
    pihole.logins = logins
    assert Client(pihole).login("secret") == answer
    pihole.logins = "accepted"
    assert Client(pihole).login("secret")[0] == 200


def test_a_refused_login_takes_time() -> None:
    # The clock stands still, so that slow logins do not end the rate limit.
    pihole = PiHole(pace=replace(QUICK, refusal=600), clock=lambda: 1e9)
    with pihole, ThreadPoolExecutor(1) as pool:
        for _ in range(3):
            Client(pihole).login("wrong")
        login = pool.submit(Client(pihole).login, "wrong")
        until(lambda: pihole.in_flight, "the login")
        assert not login.done()
        pihole.die("a test")
        with pytest.raises(ConnectionError):
            login.result()
