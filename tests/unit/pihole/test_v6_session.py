"""Logins and logouts of Pi-hole v6, and every way in which it refuses a login."""

from collections.abc import Iterator

import pytest

from dev.pihole import Fault, PiHole
from pic.core.errors import FailureClass, PiholeError
from pic.pihole import answers
from pic.pihole.http import Client
from pic.pihole.v6_session import Session
from tests.support.pihole_fakes import answer, no_sleep, refused, scripted_server
from tests.support.pihole_v6 import APP_PASSWORD

AUTH = "/api/auth"
READ_ONLY = "/api/config/misc/readOnly"


def new_session(server: PiHole, password: str = "", pauses: list[float] | None = None) -> Session:
    sleep = ([] if pauses is None else pauses).append
    return Session(Client(server.url), password or server.password, sleep)


def open_and_close(session: Session) -> None:
    with session:
        pass


def requests(server: PiHole) -> list[str]:
    return [f"{entry.method} {entry.path} {entry.status}" for entry in server.log]


@pytest.fixture
def server() -> Iterator[PiHole]:
    with PiHole() as server:
        yield server
        assert (server.sessions, server.most_at_once, server.deaths) == (0, 1, [])


def test_a_session_ends_with_its_block(server: PiHole) -> None:
    with new_session(server) as session:
        during = server.sessions
        config = session.get(READ_ONLY, "reading")

    assert (during, config["config"]) == (1, {"misc": {"readOnly": False}})
    assert requests(server) == [
        "POST /api/auth 200",
        f"GET {READ_ONLY} 200",
        "DELETE /api/auth 204",
    ]


def test_pic_pauses_after_a_request_without_an_answer(server: PiHole) -> None:
    pauses: list[float] = []
    server.inject(Fault("drop", path="readOnly"))

    with new_session(server, pauses=pauses) as session:
        assert refused(lambda: session.get(READ_ONLY, "reading"))[0] == FailureClass.TEMPORARY
        session.get(READ_ONLY, "reading")

    assert pauses == [1.1]


@pytest.mark.parametrize("ending", [PiholeError, KeyboardInterrupt, SystemExit])
def test_a_session_ends_whatever_happens_in_it(server: PiHole, ending: type[BaseException]) -> None:
    with pytest.raises(ending), new_session(server):
        raise ending("now")


def test_a_failed_logout_is_ignored(server: PiHole) -> None:
    server.inject(Fault("drop", method="DELETE", effect=True))

    open_and_close(new_session(server))


def test_a_pihole_without_a_password_needs_no_logout() -> None:
    with PiHole(password="") as server:
        with new_session(server, "anything") as session:
            session.get(READ_ONLY, "reading")

        assert requests(server) == ["POST /api/auth 200", f"GET {READ_ONLY} 200"]


def test_after_a_forgotten_session_pic_logs_in_and_repeats_the_request(server: PiHole) -> None:
    with new_session(server) as session:
        server.restart()  # a clean one keeps sessions
        session.get(READ_ONLY, "reading")
        server.die("a test")
        server.restart()
        session.get(READ_ONLY, "reading")
        during = server.sessions

    assert (during, requests(server)[2:], server.deaths) == (
        1,
        [
            f"GET {READ_ONLY} 401",
            "POST /api/auth 200",
            f"GET {READ_ONLY} 200",
            "DELETE /api/auth 204",
        ],
        ["a test"],
    )
    server.deaths.clear()


def test_pic_renews_a_session_only_once_for_a_request() -> None:
    with PiHole() as server:
        server.inject(Fault("answer", path="readOnly", status=401, times=9))

        with new_session(server) as session:
            error = refused(lambda: session.get(READ_ONLY, "reading"))
            attempts = [request for request in requests(server) if "readOnly" in request]

    assert (error, len(attempts)) == ((FailureClass.AUTH, None, answers.WRONG_PASSWORD), 2)


def test_a_password_that_changes_during_a_session_is_wrong(server: PiHole) -> None:
    with new_session(server) as session:
        server.change_password("another")
        error = refused(lambda: session.get(READ_ONLY, "reading"))

    assert error == (FailureClass.AUTH, None, answers.WRONG_PASSWORD)


def test_a_wrong_password_is_tried_again_after_a_pause(server: PiHole) -> None:
    pauses: list[float] = []

    error = refused(lambda: open_and_close(new_session(server, "wrong", pauses)))

    assert error == (
        FailureClass.AUTH,
        None,
        "Pi-hole does not accept the password. Set PIHOLE_PASSWORD to its web password or to an app"
        " password. To create one, open the web interface of Pi-hole, go to Settings, Web interface"
        " / API, switch to expert mode, and choose Configure app password",
    )
    assert (pauses, requests(server)) == ([1.1], ["POST /api/auth 401"] * 2)


def test_an_app_password_that_the_rate_limit_refused_works_at_the_second_attempt() -> None:
    with PiHole(app_password=APP_PASSWORD) as server:
        server.inject(Fault("answer", path=AUTH, status=401))

        open_and_close(new_session(server, APP_PASSWORD))

        assert requests(server)[1:] == ["POST /api/auth 200", "DELETE /api/auth 204"]


def test_pic_waits_for_the_rate_limit_but_not_for_long(server: PiHole) -> None:
    pauses: list[float] = []
    server.logins = "rate-limited"

    error = refused(lambda: open_and_close(new_session(server, pauses=pauses)))

    assert error == (
        FailureClass.RATE_LIMITED,
        60,
        "Pi-hole refuses the login because too many logins came within a second",
    )
    assert (pauses, requests(server)) == ([1.1, 1.1], ["POST /api/auth 429"] * 3)


def test_a_login_succeeds_once_the_rate_limit_ends(server: PiHole) -> None:
    server.logins = "rate-limited"

    def lift_limit(_: float) -> None:
        server.logins = "accepted"

    open_and_close(Session(Client(server.url), server.password, lift_limit))


def test_pic_does_not_wait_for_a_free_session() -> None:
    pauses: list[float] = []
    with PiHole(max_sessions=3) as server:
        server.occupy(3)

        error = refused(lambda: open_and_close(new_session(server, pauses=pauses)))

        assert error == (
            FailureClass.RATE_LIMITED,
            60,
            "all sessions of Pi-hole's API are in use. A session ends 30 minutes after its last"
            " request. Log out of some in Settings, Web interface / API, or raise"
            " webserver.api.max_sessions",
        )
        assert (pauses, requests(server)) == ([], ["POST /api/auth 429"])


def test_a_second_factor_needs_an_app_password() -> None:
    with PiHole(totp="123456", app_password=APP_PASSWORD) as server:
        assert refused(lambda: open_and_close(new_session(server))) == (
            FailureClass.AUTH,
            None,
            answers.SECOND_FACTOR,
        )

        open_and_close(new_session(server, APP_PASSWORD))


NOT_V6 = (
    "{} answers, but not as a Pi-hole of version 6 does ({}). pic:piholeApi v6 needs Pi-hole v6.0.3"
    " or newer; version 5 and older have another interface"
)


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (answer(404, b"<h1>Not found</h1>"), "404: <h1>Not found</h1>"),
        (answer(200, b""), "200: no message"),
        (answer(200, {"session": {"valid": False}}), "200: no message"),
        (
            answer(400, {"error": {"key": "bad_request", "message": "Bad request"}}),
            "400: Bad request",
        ),
    ],
)
def test_an_answer_that_is_not_from_pihole_v6_has_an_error_of_its_own(
    raw: bytes, reason: str
) -> None:
    with scripted_server(raw) as server:
        error = refused(lambda: open_and_close(Session(Client(server.url), "secret", no_sleep)))

    assert error == (FailureClass.INVALID, None, NOT_V6.format(server.url, reason))


def test_a_pihole_that_answers_503_is_a_temporary_error() -> None:
    with scripted_server(answer(503, b"Service Unavailable")) as server:
        error = refused(lambda: open_and_close(Session(Client(server.url), "secret", no_sleep)))

    assert error == (
        FailureClass.TEMPORARY,
        None,
        "logging in failed: Pi-hole answered 503 (Service Unavailable)",
    )


def test_a_session_id_that_would_break_a_header_is_refused() -> None:
    raw = answer(200, {"session": {"valid": True, "sid": "a\r\nX-Evil: 1"}})
    with scripted_server(raw) as server:
        error = refused(lambda: open_and_close(Session(Client(server.url), "secret", no_sleep)))

    assert error == (
        FailureClass.TEMPORARY,
        None,
        "Pi-hole returned a session id that an HTTP header cannot hold",
    )
