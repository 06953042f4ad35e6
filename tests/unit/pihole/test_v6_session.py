"""Logging in to Pi-hole v6 and out again, and every way in which it says no."""

from collections.abc import Callable, Iterator

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass, PiholeError
from pic.pihole import answers
from pic.pihole.http import Client
from pic.pihole.v6_session import Session
from tests.support.pihole_fakes import (
    answer,
    scripted,
    told,
    unslept,
)

AUTH = "/api/auth"
SOMETHING = "/api/config/misc/readOnly"
APP = "of an app"


def session(server: PiHole, password: str = "", slept: list[float] | None = None) -> Session:
    sleep = ([] if slept is None else slept).append
    return Session(Client(server.url), password or server.password, sleep)


def refused(action: Callable[[], object]) -> tuple[FailureClass, int | None, str]:
    with pytest.raises(PiholeError) as caught:
        action()
    return told(caught.value)


def entered(held: Session) -> None:
    with held:
        pass


def asked(server: PiHole) -> list[str]:
    return [f"{each.method} {each.path} {each.status}" for each in server.log]


@pytest.fixture
def server() -> Iterator[PiHole]:
    with PiHole() as server:
        yield server
        assert (server.sessions, server.most_at_once, server.deaths) == (0, 1, [])


def test_a_session_ends_with_its_block(server: PiHole) -> None:
    with session(server) as held:
        during = server.sessions
        answer = held.get(SOMETHING, "asking")

    assert (during, answer["config"]) == (1, {"misc": {"readOnly": False}})
    assert asked(server) == ["POST /api/auth 200", f"GET {SOMETHING} 200", "DELETE /api/auth 204"]


def test_a_request_without_an_answer_is_given_time_before_the_next_one(server: PiHole) -> None:
    slept: list[float] = []
    server.inject(Fault("drop", path="readOnly"))

    with session(server, slept=slept) as held:
        assert refused(lambda: held.get(SOMETHING, "asking"))[0] == FailureClass.TEMPORARY
        held.get(SOMETHING, "asking")

    assert slept == [1.1]


@pytest.mark.parametrize("ending", [PiholeError, KeyboardInterrupt, SystemExit])
def test_a_session_ends_whatever_happens_in_it(server: PiHole, ending: type[BaseException]) -> None:
    with pytest.raises(ending), session(server):
        raise ending("now")


def test_that_a_logout_fails_is_nobodys_concern(server: PiHole) -> None:
    server.inject(Fault("drop", method="DELETE", effect=True))

    entered(session(server))


def test_a_pihole_without_a_password_has_no_sessions_to_end() -> None:
    with PiHole(password="") as server:
        with session(server, "anything") as held:
            held.get(SOMETHING, "asking")

        assert asked(server) == ["POST /api/auth 200", f"GET {SOMETHING} 200"]


def test_a_forgotten_session_is_renewed_and_the_request_repeated(server: PiHole) -> None:
    with session(server) as held:
        server.restart()  # a clean one keeps sessions
        held.get(SOMETHING, "asking")
        server.die("as asked")
        server.restart()
        held.get(SOMETHING, "asking")
        during = server.sessions

    assert (during, asked(server)[2:], server.deaths) == (
        1,
        [
            f"GET {SOMETHING} 401",
            "POST /api/auth 200",
            f"GET {SOMETHING} 200",
            "DELETE /api/auth 204",
        ],
        ["as asked"],
    )
    server.deaths.clear()


def test_a_session_is_renewed_once_and_then_given_up() -> None:
    with PiHole() as server:
        server.inject(Fault("answer", path="readOnly", status=401, times=9))

        with session(server) as held:
            found = refused(lambda: held.get(SOMETHING, "asking"))
            tries = [each for each in asked(server) if "readOnly" in each]

    assert (found, len(tries)) == ((FailureClass.AUTH, None, answers.WRONG_PASSWORD), 2)


def test_a_password_that_was_changed_meanwhile_is_wrong(server: PiHole) -> None:
    with session(server) as held:
        server.change_password("another")
        found = refused(lambda: held.get(SOMETHING, "asking"))

    assert found == (FailureClass.AUTH, None, answers.WRONG_PASSWORD)


def test_a_wrong_password_is_tried_a_second_time_slowly(server: PiHole) -> None:
    slept: list[float] = []

    found = refused(lambda: entered(session(server, "wrong", slept)))

    assert found == (
        FailureClass.AUTH,
        None,
        "Pi-hole does not accept the password. Set PIHOLE_PASSWORD to its web password or to an app"
        " password. In its web interface, Settings, Web interface / API, expert mode, Configure app"
        " password makes one",
    )
    assert (slept, asked(server)) == ([1.1], ["POST /api/auth 401"] * 2)


def test_an_app_password_that_the_limit_of_logins_made_wrong_is_right_the_second_time() -> None:
    with PiHole(app_password=APP) as server:
        server.inject(Fault("answer", path=AUTH, status=401))

        entered(session(server, APP))

        assert asked(server)[1:] == ["POST /api/auth 200", "DELETE /api/auth 204"]


def test_the_limit_of_logins_is_waited_for_but_not_for_long(server: PiHole) -> None:
    slept: list[float] = []
    server.logins = "rate-limited"

    found = refused(lambda: entered(session(server, slept=slept)))

    assert found == (
        FailureClass.RATE_LIMITED,
        60,
        "Pi-hole refuses logins, because too many came within a second",
    )
    assert (slept, asked(server)) == ([1.1, 1.1], ["POST /api/auth 429"] * 3)


def test_the_limit_of_logins_may_end_in_time(server: PiHole) -> None:
    server.logins = "rate-limited"

    def free(_: float) -> None:
        server.logins = "accepted"

    entered(Session(Client(server.url), server.password, free))


def test_no_free_seat_is_not_waited_for() -> None:
    slept: list[float] = []
    with PiHole(max_sessions=3) as server:
        server.occupy(3)

        found = refused(lambda: entered(session(server, slept=slept)))

        assert found == (
            FailureClass.RATE_LIMITED,
            60,
            "all sessions of Pi-hole's API are in use. They end 30 minutes after their last"
            " request; log out of some in Settings, Web interface / API, or raise"
            " webserver.api.max_sessions",
        )
        assert (slept, asked(server)) == ([], ["POST /api/auth 429"])


def test_a_second_factor_needs_an_app_password() -> None:
    with PiHole(totp="123456", app_password=APP) as server:
        assert refused(lambda: entered(session(server))) == (
            FailureClass.AUTH,
            None,
            answers.SECOND_FACTOR,
        )

        entered(session(server, APP))


NO_V6 = (
    "{} answers, but not as a Pi-hole of version 6 does ({}). pic:piholeApi v6 needs Pi-hole v6.0.3"
    " or newer; version 5 and older have another interface"
)


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (answer(404, b"<h1>Not found</h1>"), "404: <h1>Not found</h1>"),
        (answer(200, b""), "200: no word of it"),
        (answer(200, {"session": {"valid": False}}), "200: no word of it"),
        (
            answer(400, {"error": {"key": "bad_request", "message": "Bad request"}}),
            "400: Bad request",
        ),
    ],
)
def test_what_is_no_pihole_of_version_6_is_told_as_such(raw: bytes, said: str) -> None:
    with scripted(raw) as server:
        found = refused(lambda: entered(Session(Client(server.url), "secret", unslept)))

    assert found == (FailureClass.INVALID, None, NO_V6.format(server.url, said))


def test_a_pihole_that_is_unwell_is_worth_another_attempt() -> None:
    with scripted(answer(503, b"Service Unavailable")) as server:
        found = refused(lambda: entered(Session(Client(server.url), "secret", unslept)))

    assert found == (
        FailureClass.TEMPORARY,
        None,
        "logging in failed: Pi-hole answered 503 (Service Unavailable)",
    )


def test_a_session_id_that_would_break_a_header_is_not_used() -> None:
    raw = answer(200, {"session": {"valid": True, "sid": "a\r\nX-Evil: 1"}})
    with scripted(raw) as server:
        found = refused(lambda: entered(Session(Client(server.url), "secret", unslept)))

    assert found == (
        FailureClass.TEMPORARY,
        None,
        "Pi-hole gave a session id that no header can hold",
    )
